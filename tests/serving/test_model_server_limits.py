"""What a model server does not let clients do to it, and to each other."""

import json
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from tests.kubernetes.waiting import until
from tests.serving.modelservers import PATIENCE, ROWS, ask, metric, models, serving, start

HOLD = "400"
"""Milliseconds for which requests wait for company here: long enough to act meanwhile."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    limits = ["--max-body", "1", "--head-seconds", "0.4", "--body-seconds", "0.4"]
    with serving(*served("sums"), *served("mixed"), *limits) as at:
        yield at


def served(name: str) -> list[str]:
    return ["--model", f"{name}={models() / name}", "--batch", "4", "--batch-delay", HOLD]


def connect(address: str, sent: bytes) -> socket.socket:
    parts = urlsplit(address)
    assert parts.hostname and parts.port
    connection = socket.create_connection((parts.hostname, parts.port), PATIENCE)
    connection.sendall(sent)
    return connection


def everything(connection: socket.socket) -> str:
    """What comes until the server ends the connection."""
    with connection:
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def posted(body: bytes, length: int | None = None) -> bytes:
    head = f"POST /sums/prediction HTTP/1.1\r\nHost: x\r\nContent-Length: {length or len(body)}\r\n\r\n"
    return head.encode() + body


CHUNKED = b"POST /sums/prediction HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
REQUEST = json.dumps({"feed": {"x": ROWS, "n": 4}, "fetch": ["twice"]}).encode()


@pytest.mark.parametrize(
    "sent, status",
    [
        (b"GET /heal", "408"),
        (b"GET /healthz HTTP/1.1\r\nHost:", "408"),
        (posted(b"{", 100), "408"),
        (posted(b"", 100 << 20), "413"),
        (CHUNKED + b"80000\r\n%b\r\n" % (b" " * 0x80000) * 3, "413"),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", "431"),
        (b"nonsense\r\n\r\n", "400"),
        (b"GET /healthz HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400"),
    ],
    ids=["line", "head", "body", "announced", "in chunks", "long line", "no HTTP", "two lengths"],
)  # fmt: skip
def test_a_request_that_does_not_come_or_is_too_large_is_refused(
    address: str, sent: bytes, status: str
) -> None:
    answer = everything(connect(address, sent))
    assert answer.startswith(f"HTTP/1.1 {status} ") and "connection: close" in answer
    assert json.loads(answer.partition("\r\n\r\n")[2])["error"]


def test_a_connection_that_says_nothing_is_closed(address: str) -> None:
    assert everything(connect(address, b"")) == ""


def test_requests_on_one_connection_are_answered_in_their_order(address: str) -> None:
    paths = ("/healthz HTTP/1.1", "/nowhere HTTP/1.1", "/readyz HTTP/1.0")
    answers = everything(connect(address, "".join(f"GET {path}\r\n\r\n" for path in paths).encode()))
    assert re.findall(r"HTTP/1.1 (\d+)", answers) == ["200", "404", "200"]


def test_a_client_that_waits_for_permission_to_send_gets_it(address: str) -> None:
    head = f"POST /sums/prediction HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: {len(REQUEST)}\r\n"
    with connect(address, head.encode() + b"Connection: close\r\n\r\n") as connection:
        assert connection.recv(1024).startswith(b"HTTP/1.1 100 ")
        connection.sendall(REQUEST)
        assert everything(connection).endswith('{"result":{"twice":[8]}}')


def test_requests_that_come_together_are_computed_together(address: str) -> None:
    before = metric(address, "batch_rows_count"), metric(address, "batch_rows_sum")
    with ThreadPoolExecutor(4) as threads:
        answers = threads.map(
            lambda n: ask(f"{address}/sums/prediction", {"feed": {"x": ROWS, "n": n}, "fetch": ["twice"]})[1],
            range(4),
        )
        assert [json.loads(answer)["result"]["twice"] for answer in answers] == [[0], [2], [4], [6]]
    assert metric(address, "batch_rows_sum") == before[1] + 4
    assert metric(address, "batch_rows_count") < before[0] + 4


def test_a_client_that_goes_away_costs_no_inference(address: str) -> None:
    before = metric(address, "batch_rows_sum"), metric(address, 'code="499"')
    connect(address, posted(REQUEST)).close()
    until(lambda: metric(address, 'code="499"') == before[1] + 1, what="the request is given up")
    assert ask(f"{address}/sums/prediction", REQUEST)[0] == 200
    assert metric(address, "batch_rows_sum") == before[0] + 1


def test_rows_that_influence_each_other_are_never_computed_together(address: str) -> None:
    with ThreadPoolExecutor(2) as threads:
        answers = threads.map(
            lambda x: ask(f"{address}/mixed/prediction", {"feed": {"x": [[x]]}, "fetch": []})[1], (0, 1)
        )
        assert [json.loads(answer)["result"]["away"] for answer in answers] == [[[0.0]], [[0.0]]]
    assert metric(address, "batch_rows_count", 'model="mixed"') == 2


def test_a_server_that_is_told_to_end_answers_what_it_has_begun() -> None:
    process = start(*served("sums"), "--batch-delay", "1500")
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ready: sums")
        address = process.stdout.readline().removeprefix("listening on ").strip()
        connection = connect(address, posted(REQUEST))
        until(lambda: metric(address, "queue_length") == 1, what="the request waits")
        process.terminate()
        answer = everything(connection)
        assert answer.startswith("HTTP/1.1 200 ") and "connection: close" in answer
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0

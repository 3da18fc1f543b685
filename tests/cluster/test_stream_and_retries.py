"""The two small pieces under both clients: lines of a watch, and when to try again."""

from __future__ import annotations

import pytest

from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Key
from paddlecloud.cluster import requests
from paddlecloud.cluster.retries import ATTEMPTS, delay, retry_after
from paddlecloud.cluster.watching import Lines, WatchEvent, read_event
from paddlecloud.errors import Expired, ServerError

GET = requests.get(Pod, Key("ml", "p"))
CREATE = requests.creation(Pod, "ml", {})


@pytest.mark.parametrize(
    "pieces, lines, rest",
    [
        ([b"a\nb\n"], [b"a", b"b"], b""),
        ([b"a", b"b", b"\nc"], [b"ab"], b"c"),
        ([b"a\n", b"\n", b"b\n"], [b"a", b"b"], b""),
        ([b"", b"a\n"], [b"a"], b""),
        ([b"x" * 70_000, b"y" * 70_000 + b"\n"], [b"x" * 70_000 + b"y" * 70_000], b""),
    ],
)
def test_lines_may_come_in_any_pieces(pieces: list[bytes], lines: list[bytes], rest: bytes) -> None:
    cut = Lines()

    assert [line for piece in pieces for line in cut.feed(piece)] == lines
    assert cut.rest() == rest


def test_an_event_is_its_type_and_object() -> None:
    event = read_event(b'{"type":"ADDED","object":{"metadata":{"resourceVersion":"5"}}}')

    assert event == WatchEvent("ADDED", {"metadata": {"resourceVersion": "5"}})
    assert event.resource_version == "5"


def test_an_error_event_is_raised() -> None:
    with pytest.raises(Expired, match="too old"):
        read_event(b'{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"too old"}}')


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"type":"ADDED"}'])
def test_a_line_that_is_no_event_is_a_fault_of_the_server(line: bytes) -> None:
    with pytest.raises(ServerError, match="no event"):
        read_event(line)


@pytest.mark.parametrize(
    "failures, luck, seconds",
    [(1, 1.0, 0.1), (1, 0.0, 0.05), (2, 1.0, 0.2), (5, 1.0, 1.6), (50, 1.0, 30.0), (5000, 0.0, 15.0)],
)
def test_the_delay_doubles_up_to_a_limit(failures: int, luck: float, seconds: float) -> None:
    assert delay(failures, luck) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "request_, attempt, status, advice, pause",
    [
        (GET, 1, 503, "", 0.1),
        (GET, 1, 429, "2", 2.0),
        (GET, 1, 429, "3600", 10.0),
        (GET, 1, 429, "Fri, 01 Jan", 0.1),
        (GET, 3, None, "", 0.4),
        (GET, ATTEMPTS, None, "", None),
        (GET, 1, 500, "", None),
        (GET, 1, 200, "", None),
        (CREATE, 1, 503, "", None),
        (CREATE, 1, None, "", None),
    ],
)
def test_only_what_is_harmless_and_may_help_is_tried_again(
    request_: requests.Request, attempt: int, status: int | None, advice: str, pause: float | None
) -> None:
    assert retry_after(request_, attempt, status, advice, 1.0) == (pause and pytest.approx(pause))

"""The model server as its pod runs it, asked as Paddle Serving's web service is."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serving.modelservers import PATIENCE, ROWS, ask, metric, models, serving, start
from tests.suites.environments import python, suite, variables

from paddlecloud.models.folderstore import FolderStore
from paddlecloud.models.upload import Upload, upload

CODE = suite("serving").folder / "code"
PROCESSOR = f"""
import numpy
class Processor:
    def before(self, feed):
        return {{"x": numpy.array([{ROWS}], "float32"), "n": numpy.array([4])}}
    def after(self, arrays):
        return arrays["twice"].tolist()
"""


@pytest.fixture(scope="module")
def model() -> Path:
    return models() / "sums"


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    with serving("--model", str(model), "--name", "sums") as address:
        yield address


@pytest.mark.parametrize(
    "feed, fetch, result",
    [
        ([{"x": ROWS, "n": 4}], ["total", "twice"], {"total": [21.0], "twice": [8]}),
        ([{"x": ROWS, "n": 1}, {"x": [[0, 0, 0], [0, 0, 0.5]], "n": 2}], ["total"], {"total": [21.0, 0.5]}),
        ([{"x": [ROWS], "n": [4]}], ["twice"], {"twice": [8]}),
        ([{"x": [1, 2, 3, 4, 5, 6], "n": 4}], ["total"], {"total": [21.0]}),
        ({"x": ROWS, "n": 4}, ["total"], {"total": [21.0]}),
        ({"x": [ROWS, ROWS], "n": [1, 2]}, ["twice", "total"], {"twice": [2, 4], "total": [21.0, 21.0]}),
        ({"x": ROWS, "n": 4}, [], {"total": [21.0], "twice": [8]}),
        ({"x": ROWS, "n": 4.0}, ["twice"], {"twice": [8]}),
    ],
    ids=[
        "one",
        "two are stacked",
        "with batch",
        "flat",
        "object",
        "whole batch",
        "fetch all",
        "whole number",
    ],
)
def test_a_feed_is_answered(address: str, feed: Any, fetch: list[str], result: dict[str, Any]) -> None:
    status, answer = ask(f"{address}/any/prediction", {"feed": feed, "fetch": fetch})
    assert (status, json.loads(answer)) == (200, {"result": result})


@pytest.mark.parametrize(
    "body, sentence",
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"[]", "JSON object"),
        ({"feed": {}}, '"feed" and "fetch"'),
        ({"feed": [], "fetch": []}, "at least one"),
        ({"feed": "x", "fetch": []}, "at least one"),
        ({"feed": [1], "fetch": []}, '"feed"[0] must be an object'),
        ({"feed": {"x": ROWS}, "fetch": []}, "lacks n"),
        ({"feed": {"x": ROWS, "n": 1, "y": 1}, "fetch": []}, "has y"),
        ({"feed": {"x": ROWS, "n": 1}, "fetch": ["z"]}, "names z"),
        ({"feed": {"x": ROWS, "n": 1}, "fetch": "total"}, "list of names"),
        ({"feed": {"x": [[1, 2], [3, 4]], "n": 1}, "fetch": []}, '"feed".x has the shape [2, 2]'),
        ({"feed": [{"x": [ROWS, ROWS], "n": 1}], "fetch": []}, '"feed"[0].x has the shape [2, 2, 3]'),
        ({"feed": {"x": [[1, 2, 3], [4]], "n": 1}, "fetch": []}, "rows differ"),
        ({"feed": {"x": "abc", "n": 1}, "fetch": []}, "numbers only"),
        ({"feed": {"x": [[1, 2, 3], [4, 5, None]], "n": 1}, "fetch": []}, "numbers only"),
        ({"feed": {"x": ROWS, "n": 1.5}, "fetch": []}, "no int64"),
    ],
)
def test_a_feed_that_does_not_fit_is_400_with_a_sentence(address: str, body: Any, sentence: str) -> None:
    status, answer = ask(f"{address}/any/prediction", body)
    assert status == 400 and sentence in json.loads(answer)["error"]


def test_a_refusal_names_what_the_model_takes(address: str) -> None:
    _, answer = ask(f"{address}/any/prediction", {"feed": {}, "fetch": []})
    assert "x: float32[-1, 2, 3], n: int64[-1]" in json.loads(answer)["error"]


def test_it_is_healthy_ready_and_described(address: str) -> None:
    assert ask(f"{address}/healthz")[0] == ask(f"{address}/readyz")[0] == 200
    described = json.loads(ask(f"{address}/v2/models/sums")[1])
    assert described["inputs"][0] == {"name": "x", "datatype": "FP32", "shape": [-1, 2, 3]}
    assert described["outputs"][1] == {"name": "twice", "datatype": "INT64", "shape": [-1]}
    status, answer = ask(f"{address}/elsewhere")
    assert status == 404 and "GET /elsewhere" in json.loads(answer)["error"]


def test_requests_are_counted(address: str) -> None:
    marks = (
        ('code="200"', "requests_total"),
        ('code="400"', "requests_total"),
        ('le="+Inf"', "request_seconds"),
    )
    before = [metric(address, *pair) for pair in marks]
    ask(f"{address}/any/prediction", {"feed": {"x": ROWS, "n": 4}, "fetch": []})
    ask(f"{address}/any/prediction", {})
    after = [metric(address, *pair) for pair in marks]
    assert [a - b for a, b in zip(after, before, strict=True)] == [1, 1, 2]


@pytest.mark.parametrize("content, sentence", [(None, "there is no"), (b"broken", "does not load")])
def test_a_model_that_does_not_load_ends_the_server(
    tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    if content:
        (tmp_path / "model.onnx").write_bytes(content)
    process = start("--model", str(tmp_path), "--name", "sums")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and sentence in err and "Traceback" not in err


def test_the_suite_can_fetch_the_model_it_serves(model: Path, tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "objects")
    upload(Upload("sums", "sums-1", model), store, lambda _: None)
    command = [python("serving"), "-m", "paddlecloud.models.fetch", "--store", store.root.as_uri()]
    fetched = subprocess.run(
        [*command, "--model", "sums", "--version", "sums-1", "--to", str(tmp_path / "out")],
        env=variables("serving"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert fetched.returncode == 0, fetched.stderr
    assert (tmp_path / "out" / "model.onnx").read_bytes() == (model / "model.onnx").read_bytes()


def held_up(folder: Path, model: Path) -> Path:
    """A model whose processor is read from a pipe, so that it is not loaded before the test says so."""
    served = folder / "sums"
    served.mkdir()
    (served / "model.onnx").write_bytes((model / "model.onnx").read_bytes())
    (served / "processor.py").write_text(f"exec(open({str(served / 'pipe')!r}).read())")
    os.mkfifo(served / "pipe")
    return served


@pytest.mark.parametrize("module", ["paddle_serving_server.serve", "paddlecloud.serving.server"])
def test_a_port_that_is_open_is_one_that_answers(tmp_path: Path, model: Path, module: str) -> None:
    served = held_up(tmp_path, model)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    process = start("--model", str(served), module=module, cwd=CODE, port=port)
    assert process.stdout is not None
    try:
        # Whoever opens the pipe for reading is loading.
        with (served / "pipe").open("w") as pipe:
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), PATIENCE)
            pipe.write(PROCESSOR)
        assert process.stdout.readline().startswith("ready: sums")
        assert process.stdout.readline() == f"listening on http://127.0.0.1:{port}\n"
        status, answer = ask(f"http://127.0.0.1:{port}/sums/prediction", {"feed": [{}], "fetch": ["twice"]})
        assert (status, json.loads(answer)) == (200, {"result": [8]})
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_one_that_listens_first_is_ready_when_it_has_loaded(tmp_path: Path, model: Path) -> None:
    served = held_up(tmp_path, model)
    process = start("--listen-first", "--model", str(served))
    assert process.stdout is not None
    try:
        address = process.stdout.readline().removeprefix("listening on ").strip()
        with (served / "pipe").open("w") as pipe:
            assert (ask(f"{address}/healthz")[0], ask(f"{address}/readyz")[0]) == (200, 503)
            pipe.write(PROCESSOR)
        assert process.stdout.readline().startswith("ready: sums")
        assert ask(f"{address}/readyz")[0] == 200
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)

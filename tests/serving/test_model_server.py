"""The model server as its pod runs it: in the locked environment of the serving suite, asked over HTTP.

The model takes `x: float32[-1, 2, 3]` and `n: int64[-1]` and gives the sum of each x and twice each n.
"""

import json
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.suites.environments import python, variables

from paddlecloud.models.objects import FolderStore
from paddlecloud.models.upload import Upload, upload

PATIENCE = 30
MAKE_MODEL = """
import sys
from onnx import TensorProto as T, helper as h, save
v = h.make_tensor_value_info
inputs = [v("x", T.FLOAT, ["b", 2, 3]), v("n", T.INT64, ["b"])]
outputs = [v("total", T.FLOAT, ["b"]), v("twice", T.INT64, ["b"])]
axes = h.make_tensor("axes", T.INT64, [2], [1, 2])
total = h.make_node("ReduceSum", ["x", "axes"], ["total"], keepdims=0)
twice = h.make_node("Add", ["n", "n"], ["twice"])
graph = h.make_graph([total, twice], "sums", inputs, outputs, [axes])
save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), sys.argv[1])
"""
ROWS = [[1, 2, 3], [4, 5, 6]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    subprocess.run([python("shapes"), "-c", MAKE_MODEL, str(folder / "model.onnx")], check=True, timeout=60)
    return folder


def start(model: Path) -> "subprocess.Popen[str]":
    command = [python("serving"), "-m", "paddlecloud.serving.server", "--model", str(model)]
    return subprocess.Popen(
        [*command, "--name", "sums", "--port", "0"],
        env=variables("serving"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    process = start(model)
    assert process.stdout is not None
    try:
        listening, ready = process.stdout.readline(), process.stdout.readline()
        assert ready.startswith("ready: sums"), process.communicate(timeout=PATIENCE)
        yield listening.removeprefix("listening on ").strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def ask(url: str, body: Any = None) -> tuple[int, str]:
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


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
        (b"[]", '"feed" and "fetch"'),
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
    before = counted(address)
    ask(f"{address}/any/prediction", {"feed": {"x": ROWS, "n": 4}, "fetch": []})
    ask(f"{address}/any/prediction", {})
    after = counted(address)
    assert [after[k] - before.get(k, 0) for k in ("200", "400", "le")] == [1, 1, 2]


def counted(address: str) -> dict[str, float]:
    lines = [line.rpartition(" ") for line in ask(f"{address}/metrics")[1].splitlines() if line[0] != "#"]
    return {
        key: float(number)
        for name, _, number in lines
        for key, mark in (("200", 'code="200"'), ("400", 'code="400"'), ("le", 'le="+Inf"'))
        if mark in name
    }


@pytest.mark.parametrize("content, sentence", [(None, "there is no"), (b"broken", "does not load")])
def test_a_model_that_does_not_load_ends_the_server(
    tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    if content:
        (tmp_path / "model.onnx").write_bytes(content)
    process = start(tmp_path)
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

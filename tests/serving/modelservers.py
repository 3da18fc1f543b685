"""Model servers as their pods run them: in the locked environment of a suite, asked over the network.

Three models. `sums` takes `x: float32[-1, 2, 3]` and `n: int64[-1]` and gives the sum of each x and twice
each n. `colours` takes pictures `x: float32[-1, 3, 8, 8]` and gives the means of their channels. `mixed`
takes `x: float32[-1, 1]` away from the mean of its batch: rows that influence each other.
"""

from __future__ import annotations

import atexit
import json
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from tests.suites.environments import python, variables

PATIENCE = 30
MAKE_MODELS = """
import sys
from onnx import TensorProto as T, helper as h, save
v = h.make_tensor_value_info
def make(folder, *graph):
    save(h.make_model(h.make_graph(*graph), opset_imports=[h.make_opsetid("", 17)], ir_version=8),
         f"{sys.argv[1]}/{folder}/model.onnx")
axes = h.make_tensor("axes", T.INT64, [2], [1, 2])
total = h.make_node("ReduceSum", ["x", "axes"], ["total"], keepdims=0)
twice = h.make_node("Add", ["n", "n"], ["twice"])
make("sums", [total, twice], "sums", [v("x", T.FLOAT, ["b", 2, 3]), v("n", T.INT64, ["b"])],
     [v("total", T.FLOAT, ["b"]), v("twice", T.INT64, ["b"])], [axes])
mean = h.make_node("ReduceMean", ["x"], ["mean"], axes=[2, 3], keepdims=0)
make("colours", [mean], "colours", [v("x", T.FLOAT, ["b", 3, 8, 8])], [v("mean", T.FLOAT, ["b", 3])])
mean = h.make_node("ReduceMean", ["x"], ["mean"], axes=[0], keepdims=1)
away = h.make_node("Sub", ["mean", "x"], ["away"])
make("mixed", [mean, away], "mixed", [v("x", T.FLOAT, ["b", 1])], [v("away", T.FLOAT, ["b", 1])])
"""
ROWS = [[1, 2, 3], [4, 5, 6]]


@cache
def models() -> Path:
    """A folder with the folders of the models."""
    folder = Path(mkdtemp(prefix="models-"))
    atexit.register(shutil.rmtree, folder)
    for name in ("sums", "colours", "mixed"):
        (folder / name).mkdir()
    subprocess.run([python("shapes"), "-c", MAKE_MODELS, str(folder)], check=True, timeout=60)
    return folder


def start(
    *arguments: str,
    suite: str = "serving",
    module: str = "paddlecloud.serving.server",
    port: int = 0,
    **options: Any,
) -> subprocess.Popen[str]:
    environ = {**variables(suite), **options.pop("environ", {})}
    return subprocess.Popen(
        [python(suite), "-m", module, "--port", str(port), *arguments],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@contextmanager
def serving(*arguments: str, **options: Any) -> Iterator[str]:
    """The address of a server that is ready; it ends well."""
    process = start(*arguments, **options)
    assert process.stdout is not None
    try:
        for line in iter(process.stdout.readline, ""):
            if line.startswith("listening on "):
                break
            assert line.startswith("ready: "), line
        else:
            raise AssertionError(process.communicate(timeout=PATIENCE))
        yield line.removeprefix("listening on ").strip()
    finally:
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, told


def ask(url: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, str]:
    status, content, _ = exchange(url, body, headers)
    return status, content.decode()


def exchange(
    url: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[int, bytes, dict[str, str]]:
    """The status, the body and the headers of an answer."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, data, headers or {}), timeout=PATIENCE
        ) as got:
            return got.status, got.read(), {k.lower(): v for k, v in got.headers.items()}
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), {k.lower(): v for k, v in error.headers.items()}


def metric(address: str, *marks: str) -> float:
    """The sum of the metrics whose line has all these marks."""
    lines = [line for line in ask(f"{address}/metrics")[1].splitlines() if line[0] != "#"]
    return sum(float(line.rpartition(" ")[2]) for line in lines if all(mark in line for mark in marks))

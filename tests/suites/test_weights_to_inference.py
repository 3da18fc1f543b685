"""From a training's weights to an inference model and on to ONNX, by the programs that the Jobs run."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.suites.environments import python, suite, variables

PATIENCE = 180
NETWORK = """
import paddle

INPUTS = [("x", "float32", [-1, 3])]


def network():
    return paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, WIDTH))
"""
SAVE = "import sys, network, paddle; paddle.save(network.network().state_dict(), sys.argv[1])"


def run(*command: str, at: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [python("paddle"), *command],
        env=variables("paddle"), cwd=at, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip


def program(name: str) -> str:
    return str(suite("paddle").folder / "code" / name)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoint")
    (folder / "network.py").write_text(NETWORK.replace("WIDTH", "2"))
    done = run("-c", SAVE, "best.pdparams", at=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.long
def test_weights_become_an_inference_model_and_onnx(checkpoint: Path, tmp_path: Path) -> None:
    exported, converted = tmp_path / "paddle", tmp_path / "onnx"
    done = run(program("export.py"), "--model", str(checkpoint), "--output", str(exported))
    assert done.returncode == 0, done.stderr
    said = json.loads((exported / "conversion.json").read_text())
    assert (said["format"], said["exact"]) == ("paddle", True) and said["maxDifference"] <= said["tolerance"]

    done = run(program("convert.py"), "--model", str(exported), "--output", str(converted))
    assert done.returncode == 0, done.stderr
    assert json.loads((converted / "conversion.json").read_text())["signature"]["inputs"] == [
        {"name": "x", "dtype": "float32", "shape": [-1, 3]}
    ]


@pytest.mark.long
def test_weights_of_another_network_are_refused(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "network.py").write_text(NETWORK.replace("WIDTH", "2") + "\n\nnetwork = paddle.nn.Identity\n")
    (tmp_path / "best.pdparams").write_bytes((checkpoint / "best.pdparams").read_bytes())
    done = run(program("export.py"), "--model", str(tmp_path), "--output", str(tmp_path / "out"))

    assert done.returncode == 1
    assert "export failed: best.pdparams does not fit the network" in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_weights_alone_say_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "best.pdparams").write_bytes(b"x")
    done = run(program("export.py"), "--model", str(tmp_path), "--output", str(tmp_path / "out"))
    assert done.returncode == 1 and "has no network.py" in done.stderr


SOFTPLUS = """
import sys, paddle
network = paddle.nn.Sequential(paddle.nn.Linear(3, 2), paddle.nn.Softplus(threshold=5.0))
paddle.jit.save(network, sys.argv[1], input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
"""


@pytest.mark.long
def test_a_converter_that_aborts_leaves_a_report_and_no_failure(tmp_path: Path) -> None:
    done = run("-c", SOFTPLUS, str(tmp_path / "model" / "inference"))
    assert done.returncode == 0, done.stderr

    done = run(program("convert.py"), "--model", str(tmp_path / "model"), "--output", str(tmp_path / "onnx"))
    assert done.returncode == 0, done.stderr
    said = json.loads((tmp_path / "onnx" / "conversion.json").read_text())
    assert (
        said["exact"] is False and "cannot be said in ONNX: paddle2onnx ended with signal" in said["message"]
    )

"""What a folder is as a model, told by its files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from paddlecloud.errors import Failed, WrongUse
from paddlecloud.sdk.modelformats import described, model_in
from paddlecloud.serving.convert import main as lay_out

ROOT = Path(__file__).parent.parent
WEIGHTED = ROOT / "serving" / "weighted"
ONNX = ROOT.parent / "suites" / "serving" / "code" / "lac_model"


def test_a_paddle_model_says_what_it_takes() -> None:
    found = described(WEIGHTED)

    assert found.format == "paddle" and found.signature is not None
    assert [(t.name, t.dtype, t.shape) for t in found.signature.inputs] == [("x", "float32", [-1, 3])]


def test_an_onnx_model_says_what_it_takes() -> None:
    found = described(ONNX)

    assert found.format == "onnx" and found.signature is not None
    assert [(t.name, t.dtype, t.shape) for t in found.signature.inputs] == [("words", "int64", [-1, -1])]
    assert [t.name for t in found.signature.outputs] == ["inside"], "weights are no outputs"


@pytest.mark.parametrize("server", ["serving_server", "server"])
def test_paddle_servings_layout_is_known_by_its_description(tmp_path: Path, server: str) -> None:
    assert lay_out(["--dirname", str(WEIGHTED), "--serving_server", str(tmp_path / server),
                    "--serving_client", str(tmp_path / "client")]) == 0  # fmt: skip
    found = described(tmp_path)

    assert found.format == "serving" and found.signature == described(WEIGHTED).signature


def test_weights_alone_are_a_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "epoch-3").mkdir()
    (tmp_path / "epoch-3" / "best.pdparams").write_bytes(b"weights")
    assert described(tmp_path) == ("checkpoint", None)


def test_a_converted_model_beside_its_source_is_of_the_sources_format(tmp_path: Path) -> None:
    shutil.copytree(WEIGHTED, tmp_path, dirs_exist_ok=True)
    shutil.copy(ONNX / "model.onnx", tmp_path)
    assert described(tmp_path).format == "paddle"


@pytest.mark.parametrize(
    "files, error, words",
    [
        ({}, WrongUse, "is empty"),
        ({"notes.txt": b"x"}, WrongUse, "holds no model: notes.txt"),
        ({"model.json": b"{}"}, WrongUse, "holds no model: model.json"),
        ({"model.json": b"{}", "model.pdiparams": b""}, Failed, "is no Paddle inference program"),
        ({"model.pdmodel": b"\xff", "model.pdiparams": b""}, Failed, "is no Paddle inference program"),
        ({"model.onnx": b"\xff\xff"}, Failed, "is no ONNX model"),
        ({"model.onnx": b""}, Failed, "is no ONNX model: it names no inputs or no outputs"),
    ],
)
def test_what_is_no_model_is_a_sentence(
    tmp_path: Path, files: dict[str, bytes], error: type[Exception], words: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=words):
        model_in(tmp_path)

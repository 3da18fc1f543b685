"""Signatures read from the files of Paddle models, and Paddle Serving's layout written from them."""

import json
from pathlib import Path
from typing import Any

import pytest

from paddlecloud.errors import Failed
from paddlecloud.serving import convert
from paddlecloud.serving.layout import CONFIG, Aliased, aliased
from paddlecloud.serving.modelfiles import find
from paddlecloud.serving.programs import PROGRAM, signature_of
from paddlecloud.serving.signature import Arrays, Signature, Tensor

TAKES = (Tensor("C1", "int64", (-1, 1)), Tensor("dense", "float32", (-1, 13)))
GIVES = (Tensor("click", "float32", (-1, 1)),)


def paddle2() -> bytes:
    """Paddle 2 writes the feeds backwards: the column counts."""

    def variable(tensor: Tensor, number: int) -> dict[str, Any]:
        kind = {"tensor": {"data_type": number, "dims": tensor.shape}}
        return {"name": tensor.name, "type": {"type": 7, "lod_tensor": kind}}

    def column(number: int) -> list[dict[str, Any]]:
        return [{"name": "op_role", "i": 9}, {"name": "col", "i": number}]

    def operator(kind: str, name: str, number: int) -> dict[str, Any]:
        side = "outputs" if kind == "feed" else "inputs"
        return {"type": kind, side: [{"parameter": "X", "arguments": [name]}], "attrs": column(number)}

    block = {
        "vars": [variable(TAKES[0], 3), variable(TAKES[1], 5), variable(GIVES[0], 5)],
        "ops": [operator("feed", "dense", 1), operator("feed", "C1", 0), operator("fetch", "click", 0)],
    }
    content: bytes = PROGRAM(blocks=[block]).SerializeToString()
    return content


def paddle3() -> bytes:
    def operator(kind: str, tensor: Tensor, letters: str) -> dict[str, Any]:
        name = {"N": "name", "AT": {"#": "0.a_str", "D": tensor.name}}
        given = {"#": "0.t_dtensor", "D": [{"#": f"0.{letters}"}, list(tensor.shape), "NCHW", [], 0]}
        return {"#": f"1.{kind}", "A": [name], "I": [], "O": [{"%": 1, "TT": given}]}

    operators = [
        {"#": "p", "A": [], "O": {}},
        operator("data", TAKES[0], "t_i64"),
        operator("data", TAKES[1], "t_f32"),
        operator("fetch", GIVES[0], "t_f32"),
    ]
    program = {"regions": [{"blocks": [{"ops": operators}]}]}
    return json.dumps({"base_code": {"magic": "pir"}, "program": program}).encode()


@pytest.mark.parametrize("content", [paddle2(), paddle3()], ids=["Paddle 2", "Paddle 3"])
def test_a_program_tells_what_it_takes_and_gives(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "program").write_bytes(content)
    assert signature_of(tmp_path / "program") == Signature(TAKES, GIVES)


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"\xff\xff\xff", b'{"program": []}'])
def test_what_is_no_program_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.pdmodel").write_bytes(content)
    with pytest.raises(Failed, match=r"m\.pdmodel does not load"):
        signature_of(tmp_path / "m.pdmodel")


@pytest.mark.parametrize(
    "names, chosen",
    [
        (["model.onnx"], ["model.onnx"]),
        (["model.json", "model.pdiparams"], ["model.json", "model.pdiparams"]),
        (["metrics.json", "model.pdmodel", "model.pdiparams"], ["model.pdmodel", "model.pdiparams"]),
        (["__model__", "__params__"], ["__model__", "__params__"]),
        (
            ["rec_inference.pdmodel", "rec_inference.pdiparams", "rec_static.pdmodel"],
            ["rec_inference.pdmodel", "rec_inference.pdiparams"],
        ),
        (["model.onnx", "model.json", "model.pdiparams"], ["model.onnx"]),
    ],
)
def test_the_model_of_a_folder(tmp_path: Path, names: list[str], chosen: list[str]) -> None:
    for name in names:
        (tmp_path / name).touch()
    files = find(tmp_path)
    assert [f.name for f in (files.program, files.parameters) if f] == chosen


def test_a_conversion_that_computes_something_else_is_not_served(tmp_path: Path) -> None:
    for name in ("model.onnx", "model.json", "model.pdiparams"):
        (tmp_path / name).touch()
    (tmp_path / "conversion.json").write_text('{"exact": false}')
    assert find(tmp_path).program.name == "model.json"


def test_a_folder_without_a_model_is_refused_with_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "metrics.json").touch()
    with pytest.raises(Failed, match=r"there is no .*model\.onnx and no Paddle inference model"):
        find(tmp_path)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "wide-deep"
    folder.mkdir()
    (folder / "rec_inference.pdmodel").write_bytes(paddle2())
    (folder / "rec_inference.pdiparams").write_bytes(b"parameters")
    return folder


def converted(source: Path, *more: str) -> int:
    target = source.parent
    folders = ["--serving_server", f"{target}/serving_server", "--serving_client", f"{target}/serving_client"]
    return convert.main(["--dirname", str(source), *folders, *more])


def test_convert_writes_the_layout_of_paddle_serving(source: Path) -> None:
    named = ["--model_filename", "rec_inference.pdmodel", "--params_filename", "rec_inference.pdiparams"]
    assert converted(source, *named) == 0
    server, client = source.parent / "serving_server", source.parent / "serving_client"
    conf, stream = "serving_{}_conf.prototxt", "serving_{}_conf.stream.prototxt"
    files = {"rec_inference.pdmodel", "rec_inference.pdiparams"}
    assert {p.name for p in server.iterdir()} == files | {conf.format("server"), stream.format("server")}
    assert {p.name for p in client.iterdir()} == {conf.format("client"), stream.format("client")}
    text = (client / conf.format("client")).read_text()
    assert text.startswith(
        'feed_var {\n  name: "C1"\n  alias_name: "C1"\n  is_lod_tensor: false\n  feed_type: 0\n'
    )
    assert 'fetch_var {\n  name: "click"' in text and "  fetch_type: 1\n  shape: 1\n" in text
    read = CONFIG.FromString((server / stream.format("server")).read_bytes())
    assert [(v.name, v.feed_type, list(v.shape)) for v in read.feed_var] == [
        ("C1", 0, [1]),
        ("dense", 1, [13]),
    ]


def test_convert_names_the_file_that_is_missing(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert converted(source, "--model_filename", "other.pdmodel") == 1
    told = capsys.readouterr().err
    assert "other.pdmodel" in told and "rec_inference.pdmodel" in told
    assert not (source.parent / "serving_server").exists()


class Doubling:
    platform = "test"
    signature = Signature((Tensor("x_0", "float32", (-1,)),), (Tensor("tmp_0", "float32", (-1,)),))

    def run(self, names: list[str], arrays: Arrays) -> list[Any]:
        return [f"{name} of {sorted(arrays.items())}" for name in names]


def test_clients_use_the_names_of_the_description(tmp_path: Path) -> None:
    assert isinstance(aliased(Doubling(), tmp_path), Doubling)
    feed, fetch = (
        'feed_var { name: "x_0" alias_name: "x" }',
        'fetch_var { name: "tmp_0" alias_name: "price" }',
    )
    (tmp_path / "serving_server_conf.prototxt").write_text(feed + fetch + "new_field: 3")
    engine = aliased(Doubling(), tmp_path)
    assert isinstance(engine, Aliased)
    assert [t.name for t in (*engine.signature.inputs, *engine.signature.outputs)] == ["x", "price"]
    assert engine.run(["price"], {"x": 1}) == ["tmp_0 of [('x_0', 1)]"]


def test_a_broken_description_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "serving_server_conf.prototxt").write_text("feed_var {")
    with pytest.raises(Failed, match=r"serving_server_conf\.prototxt cannot be read"):
        aliased(Doubling(), tmp_path)

from typing import Any

import orjson
import pytest

from paddlecloud.api.model import StoredFile
from paddlecloud.errors import Failed, WrongUse
from paddlecloud.models.manifest import build, inside, named, parse

SUM = "ab" * 32


def a_file(path: str, sha256: str = SUM) -> StoredFile:
    return StoredFile(path=path, size=3, sha256=sha256)


def test_what_was_built_is_what_is_read() -> None:
    report = {
        "format": "onnx",
        "exact": True,
        "maxDifference": 1e-7,
        "signature": {"inputs": [{"name": "image", "dtype": "float32", "shape": [-1, 4]}], "outputs": []},
    }
    made = build("m", "v1", [a_file("b/c"), a_file("a")], report=report, metrics={"accuracy": 1, "note": "x"})

    assert parse(made.encoded()) == made
    assert [f.path for f in made.files] == ["a", "b/c"] and made.size == 6
    assert made.signature is not None and made.signature.inputs[0].shape == [-1, 4]
    assert made.conversions[0].exact and made.metrics == {"accuracy": 1.0}


def test_the_order_of_the_files_does_not_change_the_bytes() -> None:
    one, two = a_file("a"), a_file("b")
    assert build("m", "v", [one, two]).encoded() == build("m", "v", [two, one]).encoded()


@pytest.mark.parametrize(
    "path", ["", ".", "..", "../a", "a/../b", "/etc/passwd", "a//b", "./a", "a/", "a\\b", "a\0b"]
)
def test_a_path_that_could_lead_out_is_refused(path: str) -> None:
    with pytest.raises(WrongUse):
        inside(path)
    with pytest.raises(WrongUse):
        build("m", "v", [a_file(path)])
    with pytest.raises(Failed):
        parse(wire(files=[{"path": path, "size": 1, "sha256": SUM}]))


@pytest.mark.parametrize("path", ["a", "a/b.c", "...", "a..b", "ü x"])
def test_other_paths_are_kept(path: str) -> None:
    assert str(inside(path)) == path


@pytest.mark.parametrize(
    "content, sentence",
    [
        (b"{", "is no JSON"),
        (b"[]", "wrong at the top"),
        (b"{}", "wrong at model"),
        (lambda: wire(files=[]), "at least one file"),
        (lambda: wire(files=[{"path": "a", "size": 1, "sha256": "x"}]), "64 hexadecimal digits"),
        (lambda: wire(files=[{"path": "a", "size": 1, "sha256": SUM}] * 2), "two files"),
        (lambda: wire(files=[{"path": "a"}]), "wrong at files.0.size"),
    ],
)
def test_what_is_no_manifest_is_a_sentence(content: Any, sentence: str) -> None:
    with pytest.raises(Failed, match=sentence):
        parse(content if isinstance(content, bytes) else content())


@pytest.mark.parametrize("name", ["m", "Shapes-1.0_b", "0"])
def test_names_that_can_be_kept(name: str) -> None:
    assert named(name) == name


@pytest.mark.parametrize("name", ["", "..", "a/b", ".a", "a.", "a b", "a\n", "x" * 300])
def test_names_that_cannot(name: str) -> None:
    with pytest.raises(WrongUse, match="cannot name"):
        named(name)


def wire(**changes: Any) -> bytes:
    return orjson.dumps({"model": "m", "version": "v", "files": [], **changes})

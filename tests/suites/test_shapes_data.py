"""The data set is made by the standard library alone, in the interpreter that runs the tests."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from tests.suites.environments import suite


def make(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    code = suite("shapes").folder / "code" / "make_data.py"
    command = [sys.executable, "-I", str(code), str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def digest(folder: Path) -> str:
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    whole = b"".join(str(p.relative_to(folder)).encode() + p.read_bytes() for p in files)
    return hashlib.sha256(whole).hexdigest()


def test_the_lists_name_every_image_with_its_class(tmp_path: Path) -> None:
    assert make(tmp_path / "d", "--train", "9", "--test", "5").returncode == 0

    assert (tmp_path / "d" / "labels.txt").read_text().split() == ["circle", "square", "triangle", "cross"]
    for split, count in (("train", 9), ("test", 5)):
        lines = [line.split() for line in (tmp_path / "d" / f"{split}_list.txt").read_text().splitlines()]
        assert [int(label) for _, label in lines] == [n % 4 for n in range(count)]
        assert {(tmp_path / "d" / path).read_bytes()[:8] for path, _ in lines} == {b"\x89PNG\r\n\x1a\n"}


def test_a_seed_decides_every_byte(tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        make(tmp_path / name, "--train", "8", "--test", "4", "--seed", seed)

    assert digest(tmp_path / "a") == digest(tmp_path / "b") != digest(tmp_path / "c")


def test_making_it_again_changes_nothing(tmp_path: Path) -> None:
    make(tmp_path / "d", "--train", "8", "--test", "4")
    before = (tmp_path / "d").stat().st_ino, digest(tmp_path / "d")

    assert make(tmp_path / "d", "--train", "8", "--test", "4").returncode == 0
    assert ((tmp_path / "d").stat().st_ino, digest(tmp_path / "d")) == before


@pytest.mark.parametrize("arguments", [["--train", "0"], ["--train", "16"]], ids=["no image", "other files"])
def test_what_cannot_be_made_is_a_sentence(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "mine.txt").write_text("mine")
    done = make(tmp_path / "d", *arguments)

    assert done.returncode == 2
    assert done.stderr.startswith("the data set cannot be made: ") and done.stderr.count("\n") == 1
    assert [p.name for p in tmp_path.rglob("*")] == ["d", "mine.txt"]

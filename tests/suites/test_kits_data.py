"""The data sets of the model suites: the same bytes for a seed, labels as the suites read them."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.suites.kits import CODE, module

make_data = module("make_data")


def digest(folder: Path) -> str:
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    whole = b"".join(str(p.relative_to(folder)).encode() + p.read_bytes() for p in files)
    return hashlib.sha256(whole).hexdigest()


@pytest.mark.parametrize("kind", sorted(make_data.KINDS))
def test_a_seed_decides_every_byte(tmp_path: Path, kind: str) -> None:
    made = [
        make_data.make(kind, tmp_path / name, 4, 2, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]

    first, second, third = map(digest, made)
    assert first == second != third
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize(
    "kind, label, prefix",
    [
        ("hiertext", "label_hiertext_train.txt", "hiertext/"),
        ("icdar2015", "train_icdar2015_label.txt", ""),
    ],
)
def test_a_page_has_the_corners_of_its_words(tmp_path: Path, kind: str, label: str, prefix: str) -> None:
    folder = make_data.make(kind, tmp_path / kind, 6, 2)
    lines = (folder / label).read_text().splitlines()

    assert len(lines) == 6
    for line in lines:
        path, said = line.split("\t")
        assert (folder / path.removeprefix(prefix)).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        for entry in json.loads(said):
            assert len(entry["points"]) == 4 and len(entry["transcription"]) >= 2
            assert all(0 <= x <= 160 and 0 <= y <= 160 for x, y in entry["points"])


def test_a_word_is_a_picture_with_its_text(tmp_path: Path) -> None:
    folder = make_data.make("words", tmp_path / "words", 5, 3)
    said = [line.split("\t") for line in (folder / "rec_gt_test.txt").read_text().splitlines()]

    assert len(said) == 3 and all((folder / path).is_file() and 2 <= len(text) <= 4 for path, text in said)


def test_the_program_says_in_a_sentence_what_it_cannot_make(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    command = [sys.executable, "-I", str(CODE / "make_data.py"), "words", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "holds other files already" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]

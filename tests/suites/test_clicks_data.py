"""The data set of clicks: the same bytes for a seed, whole or not at all, and something to learn in it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.suites.environments import suite

from paddlecloud.cli.courses import suite_code

make_data = suite_code("wide-and-deep", "make_data")


def digest(folder: Path) -> str:
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    made = [make_data.make(tmp_path / name, 50, 10, seed) for name, seed in (("a", 7), ("b", 7), ("c", 8))]

    first, second, third = map(digest, made)
    assert first == second != third
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_row_has_one_feature_of_each_slot_and_can_be_asked_for(tmp_path: Path) -> None:
    folder = make_data.make(tmp_path / "data", 5, 3)
    program = suite("wide-and-deep").folder / "code" / "questions.py"
    subprocess.run([sys.executable, program, folder, tmp_path / "asked"], check=True)
    questions = [json.loads(line) for line in (tmp_path / "asked").read_text().splitlines()]

    assert len(questions) == 3 and {question["answer"] for question in questions} <= {0, 1}
    for fed in (question["feed"] for question in questions):
        assert len(fed["dense_input"]) == make_data.DENSE
        for slot in range(make_data.SLOTS):
            first = 1 + slot * make_data.A_SLOT
            assert first <= fed[f"C{slot + 1}"][0] < first + make_data.A_SLOT < make_data.FEATURES + 1


def test_both_answers_are_about_as_frequent() -> None:
    clicked = sum(row.click for row in make_data.rows("train", 2000, 7))
    assert 600 < clicked < 1400


@pytest.mark.parametrize("train, test", [(0, 5), (5, 0)])
def test_a_split_without_rows_is_refused(tmp_path: Path, train: int, test: int) -> None:
    with pytest.raises(ValueError, match="at least one row"):
        make_data.make(tmp_path / "data", train, test)


def test_a_folder_that_holds_anything_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("mine")
    with pytest.raises(ValueError, match="other files already"):
        make_data.make(tmp_path, 5, 5)
    assert [p.name for p in tmp_path.iterdir()] == ["own.txt"]


def test_two_who_make_the_same_at_the_same_time_both_find_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = [pool.submit(make_data.make, tmp_path / "data", 2000, 10) for _ in range(4)]
        assert {str(each.result()) for each in made} == {str(tmp_path / "data")}
    assert [p.name for p in tmp_path.iterdir()] == ["data"]

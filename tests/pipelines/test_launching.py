"""The program inside the pod of a step: what it puts there, what it tells, what it complains of."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paddlecloud.controllers import workflowlauncher

PROGRAM = Path(workflowlauncher.__file__)


def launch(folder: Path, order: dict[str, Any], script: str) -> tuple[int, dict[str, Any], str]:
    told = folder / "told"
    order = {"outputs": {}, "artifacts": {}, **order}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), json.dumps(order), "sh", "-c", script],
        env={"TERMINATION_MESSAGE_PATH": str(told), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, cwd=folder, timeout=30,
    )  # fmt: skip
    return done.returncode, json.loads(told.read_text()) if told.exists() else {}, done.stderr


def test_outputs_are_told_and_artifacts_kept(tmp_path: Path) -> None:
    data, place = tmp_path / "out" / "data", tmp_path / "store" / "run" / "data"
    order = {"outputs": {"n": [str(data), None, "TEXT"]}, "artifacts": {"a": [str(data), str(place), False]}}
    code, told, _ = launch(tmp_path, order, f"printf '7\\n\\n' > {data}")

    assert (code, told["outputs"]) == (0, {"n": "7\n"})  # one newline at the end is not part of it
    assert place.read_text() == "7\n\n"
    assert told["artifacts"] == {"a": {"files": True}}


def test_inputs_are_where_the_step_looks_for_them(tmp_path: Path) -> None:
    source, link, raw = tmp_path / "made", tmp_path / "in" / "data", tmp_path / "in" / "raw"
    source.write_text("hello")
    code, _, _ = launch(
        tmp_path,
        {"links": [[str(source), str(link)]], "raw": [[str(raw), "text"]]},
        f"test $(cat {link}) = hello && test $(cat {raw}) = text",
    )
    assert code == 0


@pytest.mark.parametrize(
    "kind, text, value",
    [("NUMBER_INTEGER", "4.0", 4), ("LIST", "[1]", [1]), ("BOOLEAN", "True", True), ("STRING", "1", "1")],
)
def test_outputs_have_their_type(tmp_path: Path, kind: str, text: str, value: Any) -> None:
    path = tmp_path / "o"
    _, told, _ = launch(tmp_path, {"outputs": {"o": [str(path), None, kind]}}, f"printf '{text}' > {path}")
    assert told["outputs"] == {"o": value}


@pytest.mark.parametrize(
    "outputs, script, said",
    [
        ({"o": ["o", None, "TEXT"]}, "true", "the step wrote no output o (o is not there)"),
        ({"o": ["o", None, "NUMBER_INTEGER"]}, "echo x > o", "output o is to be NUMBER_INTEGER and is 'x'"),
        ({"o": ["o", None, "TEXT"]}, "truncate -s 100M o", "output o has 104857600 bytes, more than"),
        ({"o": ["o", None, "TEXT"]}, "printf '\\377' > o", "output o is no text"),
    ],
)
def test_a_step_that_did_not_do_its_part_is_told_in_words(
    tmp_path: Path, outputs: dict[str, Any], script: str, said: str
) -> None:
    code, told, error = launch(tmp_path, {"outputs": outputs}, script)
    assert code == 64 and not told and said in error


def test_an_artifact_that_vanished_or_was_never_left_is_told(tmp_path: Path) -> None:
    gone = launch(tmp_path, {"links": [[str(tmp_path / "gone"), str(tmp_path / "in")]]}, "true")
    expected = launch(tmp_path, {"expects": [[str(tmp_path / "gone"), ""]]}, "true")
    outside = launch(tmp_path, {"expects": [[str(tmp_path / "gone"), "/data/words.txt"]]}, "true")
    never = launch(tmp_path, {"artifacts": {"a": ["never", str(tmp_path / "kept"), False]}}, "true")

    assert gone[0] == 64 and "is not there any more; have the step that made it done again" in gone[2]
    assert expected[2] == gone[2]
    assert outside[0] == 64 and "/data/words.txt, which the run imports, is not there" in outside[2]
    assert never[0] == 64 and "left no artifact a" in never[2]


def test_the_exit_code_is_that_of_the_step(tmp_path: Path) -> None:
    assert launch(tmp_path, {"outputs": {"o": ["o", None, "TEXT"]}}, "exit 3")[0] == 3
    assert launch(tmp_path, {}, "kill -9 $$")[0] == 137

"""The short way to JSON says what the long way says."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from paddlecloud.embedded.node import lightly

CONTENTS: list[dict[str, Any]] = [
    {},
    {"shim": 12, "startedAt": 1763339612.123456, "boot": ""},
    {"failed": True, "oom": False},
    {"message": 'a "quoted" line\n\ttab \\ é 火 \U0001f525 \x00 \udc80'},
    {"clé \n": -1, "large": 2**80, "small": 1e-300},
]


@pytest.mark.parametrize("content", CONTENTS)
def test_what_is_written_is_the_json_of_the_standard_library(content: dict[str, Any]) -> None:
    assert lightly.text_of(content) == json.dumps(content)


@pytest.mark.parametrize("content", [*CONTENTS, {"deep": [{"a": None}, 1.5, ["x", True]]}])
def test_what_is_read_is_what_was_written(content: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(content), encoding="utf-8")
    assert lightly.read(str(tmp_path / "run.json")) == content


@pytest.mark.parametrize("text", ["", "{", '{"a": }', "nonsense", ' {"a": 1}'])
def test_what_is_not_json_is_an_error_of_value(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError):
        lightly.read(str(tmp_path / "run.json"))


def test_signals_are_those_of_the_standard_library() -> None:
    for number in signal.Signals:
        assert getattr(lightly.signal, number.name) == number

"""Which files of a folder are the model: ONNX, a Paddle inference model, or Paddle Serving's layout.

A converted model wins, unless the report beside it says that it computes something else than its source.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ..errors import Failed

ONNX = "model.onnx"
REPORT = "conversion.json"
PROGRAMS = ("*.json", "*.pdmodel", "__model__")
PARAMETERS = ("*.pdiparams", "__params__")
"""Beside a program; Paddle's own converter renames neither."""


@dataclass(frozen=True)
class Files:
    folder: Path
    program: Path
    parameters: Path | None = None


def find(folder: Path) -> Files:
    """The model of *folder*. Raises `Failed` with what was looked for."""
    onnx, paddle = folder / ONNX, paddle_files(folder)
    if onnx.is_file() and (paddle is None or faithful(folder)):
        return Files(folder, onnx)
    if paddle is not None:
        return paddle
    raise Failed(
        f"there is no {onnx} and no Paddle inference model in {folder}",
        next_step="give a folder with model.onnx, or with a program (.json or .pdmodel) and its .pdiparams",
    )


def paddle_files(folder: Path) -> Files | None:
    """A program and the parameters of the same name, else the only parameters there are."""
    parameters = [p for pattern in PARAMETERS for p in sorted(folder.glob(pattern))]
    for pattern in PROGRAMS:
        for program in sorted(folder.glob(pattern)):
            same = [p for p in parameters if p.stem == program.stem]
            alone = parameters if pattern != "*.json" and len(parameters) == 1 else []
            if chosen := same or alone:
                return Files(folder, program, chosen[0])
    return None


def faithful(folder: Path) -> bool:
    try:
        report = json.loads((folder / REPORT).read_bytes())
    except (OSError, ValueError):
        return True
    return bool(report.get("exact", True)) if isinstance(report, dict) else True

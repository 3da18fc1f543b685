"""The names of classes, and the likeliest of them for each row of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import Failed


def read_labels(file: Path) -> list[str]:
    """One name a line; of `name, other name` the first. Raises `Failed`."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Failed(f"cannot read the labels in {file}: {error}") from error
    return [line.partition(",")[0].strip() for line in lines if line.strip()]


def likeliest(scores: Any, labels: list[str]) -> dict[str, list[Any]]:
    """`{"label": […], "prob": […]}`, one of each a row."""
    rows = scores.reshape(scores.shape[0], -1)
    best = [int(row.argmax()) for row in rows]
    return {
        "label": [labels[index] if index < len(labels) else str(index) for index in best],
        "prob": [float(row[index]) for row, index in zip(rows, best, strict=True)],
    }

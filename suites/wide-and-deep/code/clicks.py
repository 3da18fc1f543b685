"""Rows of clicks as arrays: read from files in the form of the Criteo data set, or drawn from a seed.

What cannot be read is `BadData` with the file, the line and what was expected there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import make_data
import numpy as np


class BadData(Exception):
    """The data is not what training needs; the text says why."""


@dataclass(frozen=True)
class Split:
    sparse: np.ndarray
    """int64 [rows, slots]: one feature a slot."""
    dense: np.ndarray
    """float32 [rows, numbers]."""
    click: np.ndarray
    """int64 [rows, 1]."""

    def __len__(self) -> int:
        return len(self.click)

    def part(self, index: object) -> Split:
        return Split(self.sparse[index], self.dense[index], self.click[index])

    def share(self, rank: int, workers: int) -> Split:
        """The rows of one worker: every worker has as many as the others."""
        even = len(self) - len(self) % workers
        return self.part(slice(rank, even, workers))


def drawn(split: str, count: int, seed: int) -> Split:
    """The same rows that `make_data.py` writes."""
    return arranged(make_data.rows(split, count, seed))


def read(folder: Path, features: int, slots: int = make_data.SLOTS, dense: int = make_data.DENSE) -> Split:
    """All rows of all files in *folder*; raises `BadData`."""
    try:
        files = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    except OSError as error:
        raise BadData(f"{folder} cannot be read ({error.strerror})") from error
    found: list[make_data.Row] = []
    for path in files:
        try:
            text = path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise BadData(f"{path} cannot be read ({error})") from error
        for number, line in enumerate(text.splitlines(), 1):
            row = parsed(line)
            if row is None or (len(row.sparse), len(row.dense)) != (slots, dense):
                raise BadData(
                    f"{path} line {number} is {line[:60]!r}, not `click:0 dense_feature:… ({dense} times) "
                    f"1:… to {slots}:…`"
                )
            if not 0 <= min(row.sparse) <= max(row.sparse) < features:
                raise BadData(f"{path} line {number} has a feature that is not below {features}")
            found.append(row)
    if not found:
        raise BadData(f"{folder} holds no rows")
    return arranged(found)


def parsed(line: str) -> make_data.Row | None:
    click, dense, sparse = 0, [], {}
    try:
        for word in line.split():
            name, _, value = word.partition(":")
            if name == "click":
                click = int(value)
            elif name == "dense_feature":
                dense.append(float(value))
            else:
                sparse[int(name)] = int(value)
    except ValueError:
        return None
    # A slot that is empty has the feature that is nobody's.
    slots = range(1, max(sparse, default=0) + 1)
    return make_data.Row(click, tuple(dense), tuple(sparse.get(slot, 0) for slot in slots))


def arranged(rows: Iterable[make_data.Row]) -> Split:
    clicks, dense, sparse = zip(*rows, strict=True)
    return Split(
        np.asarray(sparse, dtype="int64"),
        np.asarray(dense, dtype="float32"),
        np.asarray(clicks, dtype="int64")[:, None],
    )


def auc(clicks: np.ndarray, scores: np.ndarray) -> float:
    """How often a click has a higher score than none; 0.5 where there is nothing to compare."""
    clicks, scores = clicks.ravel(), scores.ravel()
    _, place, ties = np.unique(scores, return_inverse=True, return_counts=True)
    # Equal scores share the mean of their ranks.
    rank = (np.cumsum(ties) - (ties - 1) / 2)[place]
    positive = int(clicks.sum())
    negative = len(clicks) - positive
    if not positive or not negative:
        return 0.5
    return float((rank[clicks == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def log_loss(clicks: np.ndarray, scores: np.ndarray) -> float:
    chance = np.clip(scores.ravel(), 1e-7, 1 - 1e-7)
    return float(-np.mean(np.where(clicks.ravel() == 1, np.log(chance), np.log(1 - chance))))

"""Clicks that were never made: rows in the form of the Criteo data set, drawn from a seed.

Standard library only, so that it runs where no Paddle is. The same seed gives the same bytes, and a folder
appears whole or not at all. A row is one line: whether it was clicked, thirteen numbers, and one feature for
each of 26 slots, numbered over all slots.

    click:1 dense_feature:0.05 … dense_feature:0.41 1:17 2:188 … 26:3801

    slot_train_data_full/part-0     slot_test_data_full/part-0
    dataset.json                    how it was made
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SLOTS, DENSE = 26, 13
A_SLOT = 100  # features that a slot can have
FEATURES = SLOTS * A_SLOT + 1
"""More than the largest number of a feature; 0 is nobody's."""
TELLING = 8  # slots that have to do with the clicks
TRAIN, TEST, SEED = 16_000, 2_000, 7
FOLDERS = {"train": "slot_train_data_full", "test": "slot_test_data_full"}


class Row(NamedTuple):
    click: int
    dense: tuple[float, ...]
    sparse: tuple[int, ...]


def main() -> int:
    parser = argparse.ArgumentParser(description="Make a data set of clicks.")
    parser.add_argument("folder", type=Path, help="where the data set goes")
    parser.add_argument("--train", type=int, default=TRAIN, help="rows to train on")
    parser.add_argument("--test", type=int, default=TEST, help="rows to test with")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    try:
        make(options.folder, options.train, options.test, options.seed)
    except (OSError, ValueError) as error:
        print(f"the data set cannot be made: {error}", file=sys.stderr)
        return 2
    print(f"{options.train} rows to train on and {options.test} to test with in {options.folder}")
    return 0


def make(folder: Path | str, train: int = TRAIN, test: int = TEST, seed: int = SEED) -> Path:
    """Make the data set in *folder*; one made before with the same numbers is left as it is.

    Raises `ValueError` when the folder holds anything else.
    """
    folder = Path(folder)
    if min(train, test) < 1:
        raise ValueError(f"at least one row of each kind is needed, not {train} and {test}")
    made = {"kind": "clicks", "features": FEATURES, "train": train, "test": test, "seed": seed}
    if folder.is_dir() and any(folder.iterdir()):
        if recorded(folder) == made:
            return folder
        raise ValueError(f"{folder} holds other files already; give an empty folder or a new name")
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        part.chmod(0o755)
        for split, count in {"train": train, "test": test}.items():
            (part / FOLDERS[split]).mkdir()
            lines = (written(row) for row in rows(split, count, seed))
            (part / FOLDERS[split] / "part-0").write_text("".join(lines))
        (part / "dataset.json").write_text(json.dumps(made) + "\n")
        os.rename(part, folder)
    except BaseException as error:
        shutil.rmtree(part, ignore_errors=True)
        # Somebody who made the same meanwhile was faster.
        if not isinstance(error, OSError) or recorded(folder) != made:
            raise
    return folder


def recorded(folder: Path) -> object:
    try:
        return json.loads((folder / "dataset.json").read_text())
    except (OSError, ValueError):
        return None


def rows(split: str, count: int, seed: int) -> Iterator[Row]:
    """The rows of a split; both splits of a seed follow the same rule of who clicks."""
    taste = random.Random(f"{seed} taste")
    effects = [[taste.gauss(0, 1) for _ in range(A_SLOT)] for _ in range(TELLING)]
    weights = [taste.gauss(0, 0.7) for _ in range(DENSE)]
    rng = random.Random(f"{seed} {split}")
    for _ in range(count):
        dense = tuple(round(rng.random(), 3) for _ in range(DENSE))
        # Few features are common and many are rare, as with people.
        chosen = [int(A_SLOT * rng.random() ** 2) for _ in range(SLOTS)]
        leaning = sum(effect[number] for effect, number in zip(effects, chosen, strict=False))
        leaning += sum(weight * (value - 0.5) for weight, value in zip(weights, dense, strict=True))
        click = int(rng.random() < 1 / (1 + math.exp(-1.5 * leaning)))
        yield Row(click, dense, tuple(1 + slot * A_SLOT + number for slot, number in enumerate(chosen)))


def written(row: Row) -> str:
    words = [f"click:{row.click}", *(f"dense_feature:{value}" for value in row.dense)]
    return " ".join((*words, *(f"{slot}:{number}" for slot, number in enumerate(row.sparse, 1)))) + "\n"


if __name__ == "__main__":
    sys.exit(main())

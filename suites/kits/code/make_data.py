"""Make a small data set for one of the model suites: `make_data.py KIND FOLDER --train 100 --test 20`.

Standard library only, so that it runs where no Paddle is. The same seed gives the same bytes, and a folder
appears whole or not at all.

    hiertext, icdar2015     pages with words and their corners (text detection)
    words                   single words (text recognition)
    flowers102              shapes to be named (classification)
    coco                    shapes to be found (detection)
    reviews                 sentences that praise or blame (sentiment)
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from drawn import pictures, reviews, text

Fill = Callable[[Path, str, int, random.Random], None]
KINDS: dict[str, Fill] = {
    **{name: partial(text.pages, layout=layout) for name, layout in text.PAGES.items()},
    "words": text.words,
    "flowers102": pictures.named,
    "coco": pictures.found,
    "reviews": reviews.sentences,
}
TRAIN, TEST, SEED = 160, 40, 7


def main() -> int:
    parser = argparse.ArgumentParser(description="Make a small data set for a model suite.")
    parser.add_argument("kind", choices=sorted(KINDS), help="which data set it stands in for")
    parser.add_argument("folder", type=Path, help="where the data set goes")
    parser.add_argument("--train", type=int, default=TRAIN, help="samples to train on")
    parser.add_argument("--test", type=int, default=TEST, help="samples to test with")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    try:
        make(options.kind, options.folder, options.train, options.test, options.seed)
    except (OSError, ValueError) as error:
        print(f"the data set cannot be made: {error}", file=sys.stderr)
        return 2
    print(f"{options.train} samples to train on and {options.test} to test with in {options.folder}")
    return 0


def make(kind: str, folder: Path | str, train: int = TRAIN, test: int = TEST, seed: int = SEED) -> Path:
    """Make the data set in *folder*; one made before with the same numbers is left as it is.

    Raises `ValueError` when the folder holds anything else.
    """
    folder = Path(folder)
    if min(train, test) < 1:
        raise ValueError(f"at least one sample of each split is needed, not {train} and {test}")
    made = {"kind": kind, "train": train, "test": test, "seed": seed}
    if folder.is_dir() and any(folder.iterdir()):
        if recorded(folder) == made:
            return folder
        raise ValueError(f"{folder} holds other files already; give an empty folder or a new name")
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        part.chmod(0o755)
        for split, count in (("train", train), ("test", test)):
            KINDS[kind](part, split, count, random.Random(f"{seed} {split}"))
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


if __name__ == "__main__":
    sys.exit(main())

"""Sentences that praise or blame, some by a denial: `sentence TAB label` a line, as PaddleNLP reads them."""

from __future__ import annotations

import random
from pathlib import Path

GOOD = ["good", "great", "fine", "lovely", "happy", "bright", "superb", "warm"]
BAD = ["bad", "awful", "poor", "sad", "dull", "broken", "ugly", "cold"]
OTHERS = [
    "the",
    "film",
    "room",
    "food",
    "day",
    "book",
    "was",
    "and",
    "very",
    "it",
    "seemed",
    "quite",
    "to",
    "me",
    "we",
    "found",
    "that",
    "a",
    "service",
]
LABELS = ("negative", "positive")
FILES = {"train": "train.txt", "test": "dev.txt"}


def sentences(folder: Path, split: str, count: int, rng: random.Random) -> None:
    (folder / "label.txt").write_text("".join(f"{label}\n" for label in LABELS))
    (folder / FILES[split]).write_text("".join(f"{text}\t{label}\n" for text, label in drawn(count, rng)))


def drawn(count: int, rng: random.Random) -> list[tuple[str, str]]:
    rows = []
    for _ in range(count):
        praise, denied = rng.random() < 0.5, rng.random() < 0.3
        words = rng.choices(OTHERS, k=rng.randint(3, 8))
        place = rng.randint(0, len(words))
        said = rng.choice(GOOD if praise != denied else BAD)
        words[place:place] = ["not", said] if denied else [said]
        rows.append((" ".join(words), LABELS[praise]))
    return rows

"""Pages with words on them, and single words: what text detection and text recognition learn from.

The labels have the form of PaddleOCR: `path TAB [{"transcription": …, "points": four corners}, …]` a page,
`path TAB word` a word. The names of files and folders are those of the data sets they stand in for.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

from drawn.canvas import HIGH, LETTERS, Canvas, Point, colour, width_of

SIDE = 160
WORD = (96, 32)
SLANTS = (0.0, 0.0, 0.2)
Box = dict[str, object]


@dataclass(frozen=True)
class Layout:
    """What the files of a data set are called; `prefix` is what the labels put before the folders."""

    folders: dict[str, str]
    labels: dict[str, str]
    prefix: str = ""


PAGES = {
    "hiertext": Layout(
        {"train": "train", "test": "validation"},
        {"train": "label_hiertext_train.txt", "test": "label_hiertext_val.txt"},
        "hiertext/",
    ),
    "icdar2015": Layout(
        {"train": "icdar_c4_train_imgs", "test": "ch4_test_images"},
        {"train": "train_icdar2015_label.txt", "test": "test_icdar2015_label.txt"},
    ),
}
WORDS = Layout({"train": "train", "test": "test"}, {"train": "rec_gt_train.txt", "test": "rec_gt_test.txt"})


def pages(folder: Path, split: str, count: int, rng: random.Random, layout: Layout) -> None:
    place = layout.folders[split]
    (folder / place).mkdir()
    lines = []
    for number in range(count):
        picture, boxes = page(rng)
        path = f"{place}/img_{number + 1}.png"
        (folder / path).write_bytes(picture)
        lines.append(f"{layout.prefix}{path}\t{json.dumps(boxes)}\n")
    (folder / layout.labels[split]).write_text("".join(lines))


def words(folder: Path, split: str, count: int, rng: random.Random) -> None:
    place = WORDS.folders[split]
    (folder / place).mkdir()
    lines = []
    for number in range(count):
        picture, said = word(rng)
        path = f"{place}/word_{number + 1}.png"
        (folder / path).write_bytes(picture)
        lines.append(f"{path}\t{said}\n")
    (folder / WORDS.labels[split]).write_text("".join(lines))


def page(rng: random.Random) -> tuple[bytes, list[Box]]:
    """One to four words below each other, with things around that are no words."""
    canvas = Canvas(SIDE, SIDE, colour(rng, 170, 255))
    count = rng.randint(1, 4)
    room, boxes = SIDE / count, []
    for row in range(count):
        dot = rng.uniform(2.0, 3.2)
        said = "".join(rng.choices(list(LETTERS), k=rng.randint(3, 6)))
        slant = rng.choice(SLANTS)
        wide = width_of(said, dot) + slant * HIGH * dot
        while wide > SIDE - 4:
            said = said[:-1]
            wide = width_of(said, dot) + slant * HIGH * dot
        x = rng.uniform(2, SIDE - 2 - wide)
        y = row * room + rng.uniform(2, max(2.0, room - HIGH * dot - 2))
        corners = canvas.text(said, (x, y), dot, colour(rng, 0, 90), slant)
        boxes.append({"transcription": said, "points": [rounded(corner) for corner in corners]})
    for _ in range(rng.randint(0, 2)):
        line, left = rng.randrange(SIDE), rng.randrange(SIDE)
        canvas.span(line, left, left + rng.randint(10, 60), colour(rng, 0, 120))
    canvas.noise(rng, 30)
    return canvas.png(), boxes


def word(rng: random.Random) -> tuple[bytes, str]:
    wide, high = WORD
    canvas = Canvas(wide, high, colour(rng, 170, 255))
    said = "".join(rng.choices("0123456789", k=rng.randint(2, 4)))
    dot = rng.uniform(2.5, min(4.0, (wide - 6) / width_of(said, 1.0)))
    x = rng.uniform(2, wide - 3 - width_of(said, dot))
    canvas.text(said, (x, rng.uniform(1, high - HIGH * dot - 1)), dot, colour(rng, 0, 90))
    canvas.noise(rng, 30)
    return canvas.png(), said


def rounded(point: Point) -> list[int]:
    return [round(point[0]), round(point[1])]

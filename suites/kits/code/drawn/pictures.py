"""Pictures of plain shapes: one of a kind to be named, or several of them to be found.

The files have the form of PaddleClas (`path class` a line) and of COCO (one JSON file a split).
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from drawn.canvas import Canvas, colour, shape

SHAPES = ("circle", "square", "triangle", "cross")
SMALL, LARGE = 32, 96
LISTS = {"train": "train_list.txt", "test": "val_list.txt"}
FOLDERS = {"train": "train2017", "test": "val2017"}


def named(folder: Path, split: str, count: int, rng: random.Random) -> None:
    """One shape a picture; the class is which."""
    (folder / "jpg").mkdir(exist_ok=True)
    (folder / "labels.txt").write_text("".join(f"{name}\n" for name in SHAPES))
    lines = []
    for number in range(count):
        label = number % len(SHAPES)
        canvas = Canvas(SMALL, SMALL, colour(rng, 0, 100))
        radius = rng.uniform(6.0, 11.0)
        x, y = (rng.uniform(radius + 1, SMALL - 2 - radius) for _ in "xy")
        canvas.spans(shape(SHAPES[label], x, y, radius), colour(rng, 150, 255))
        canvas.noise(rng, 40)
        path = f"jpg/{split}_{number:05d}.png"
        (folder / path).write_bytes(canvas.png())
        lines.append(f"{path} {label}\n")
    (folder / LISTS[split]).write_text("".join(lines))


def found(folder: Path, split: str, count: int, rng: random.Random) -> None:
    """One to three shapes a picture, with their places."""
    (folder / FOLDERS[split]).mkdir()
    (folder / "annotations").mkdir(exist_ok=True)
    images, marks = [], []
    for number in range(count):
        canvas = Canvas(LARGE, LARGE, colour(rng, 0, 90))
        for x, y, radius in places(rng):
            label = rng.randrange(len(SHAPES))
            canvas.spans(shape(SHAPES[label], x, y, radius), colour(rng, 150, 255))
            box = [x - radius, y - radius, 2 * radius + 1, 2 * radius + 1]
            marks.append(mark(len(marks) + 1, number + 1, label + 1, [round(v, 1) for v in box]))
        canvas.noise(rng, 40)
        name = f"{number + 1:012d}.png"
        (folder / FOLDERS[split] / name).write_bytes(canvas.png())
        images.append({"id": number + 1, "file_name": name, "width": LARGE, "height": LARGE})
    kinds = [{"id": number, "name": name} for number, name in enumerate(SHAPES, 1)]
    whole = {"images": images, "annotations": marks, "categories": kinds}
    (folder / "annotations" / f"instances_{FOLDERS[split]}.json").write_text(json.dumps(whole) + "\n")


def places(rng: random.Random) -> list[tuple[float, float, float]]:
    """Middles and radii of shapes that do not touch."""
    chosen: list[tuple[float, float, float]] = []
    wanted = rng.randint(1, 3)
    for _ in range(20):
        radius = rng.uniform(9.0, 18.0)
        x, y = (rng.uniform(radius + 1, LARGE - 2 - radius) for _ in "xy")
        if all(max(abs(x - a), abs(y - b)) > radius + r + 2 for a, b, r in chosen):
            chosen.append((x, y, radius))
        if len(chosen) == wanted:
            break
    return chosen


def mark(number: int, image: int, label: int, box: list[float]) -> dict[str, object]:
    return {"id": number, "image_id": image, "category_id": label, "bbox": box,
            "area": box[2] * box[3], "iscrowd": 0}  # fmt: skip

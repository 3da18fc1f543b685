"""A small data set of drawn shapes: 32x32 gray PNGs with random place, size, contrast and noise.

Standard library only, so that it runs where no Paddle is. The same seed gives the same bytes, and a folder
appears whole or not at all.

    labels.txt                  one name a line; the line number is the class
    train/00000.png …           test/00000.png …
    train_list.txt              test_list.txt: `path class` a line
    dataset.json                how it was made
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

SIDE = 32
SHAPES = ("circle", "square", "triangle", "cross")
Span = tuple[int, float, float]


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the data set of shapes.")
    parser.add_argument("folder", type=Path, help="where the data set goes")
    parser.add_argument("--train", type=int, default=1600, help="images to train on")
    parser.add_argument("--test", type=int, default=400, help="images to test with")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    try:
        make(options.folder, options.train, options.test, options.seed)
    except (OSError, ValueError) as error:
        print(f"the data set cannot be made: {error}", file=sys.stderr)
        return 2
    print(f"{options.train} training and {options.test} test images in {options.folder}")
    return 0


def make(folder: Path | str, train: int = 1600, test: int = 400, seed: int = 7) -> Path:
    """Make the data set in *folder*; one made before with the same numbers is left as it is.

    Raises `ValueError` when the folder holds anything else.
    """
    folder = Path(folder)
    if min(train, test) < 1:
        raise ValueError(f"at least one image of each kind is needed, not {train} and {test}")
    made = {"kind": "shapes", "side": SIDE, "train": train, "test": test, "seed": seed}
    if folder.is_dir() and any(folder.iterdir()):
        if recorded(folder) == made:
            return folder
        raise ValueError(f"{folder} holds other files already; give an empty folder or a new name")
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        part.chmod(0o755)
        fill(part, {"train": train, "test": test}, random.Random(seed))
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


def fill(folder: Path, splits: dict[str, int], rng: random.Random) -> None:
    (folder / "labels.txt").write_text("".join(f"{name}\n" for name in SHAPES))
    for split, count in splits.items():
        (folder / split).mkdir()
        lines = []
        for number in range(count):
            label = number % len(SHAPES)
            path = f"{split}/{number:05d}.png"
            (folder / path).write_bytes(png(draw(SHAPES[label], rng)))
            lines.append(f"{path} {label}\n")
        (folder / f"{split}_list.txt").write_text("".join(lines))


def draw(shape: str, rng: random.Random) -> bytes:
    """The pixels of one image, row by row."""
    radius = rng.uniform(6.0, 11.0)
    x, y = (rng.uniform(radius + 1, SIDE - 1 - radius) for _ in "xy")
    dark, bright = rng.randint(0, 70), rng.randint(130, 190)
    noise = rng.randbytes(SIDE * SIDE)
    pixels = bytearray(noise.translate(shades(dark)))
    paint = noise.translate(shades(bright))
    for row, left, right in spans(shape, x, y, radius):
        start, end = row * SIDE + max(0, round(left)), row * SIDE + min(SIDE, round(right))
        pixels[start:end] = paint[start:end]
    return bytes(pixels)


def shades(darkest: int) -> bytes:
    """A table from a random byte to one of the 64 grays above *darkest*."""
    return bytes(darkest + value // 4 for value in range(256))


def spans(shape: str, x: float, y: float, radius: float) -> Iterator[Span]:
    """The rows a shape covers, each with its left and right end."""
    for row in range(max(0, math.ceil(y - radius)), min(SIDE, math.floor(y + radius) + 1)):
        above = (row - y) / radius
        if shape == "circle":
            half = math.sqrt(max(0.0, 1 - above * above))
        elif shape == "square":
            half = 0.85 if abs(above) <= 0.85 else 0.0
        elif shape == "triangle":
            half = (1 + above) / 2
        else:
            half = 1.0 if abs(above) <= 0.3 else 0.3
        if half:
            yield row, x - half * radius, x + half * radius


def png(pixels: bytes) -> bytes:
    """An 8-bit gray PNG of SIDE x SIDE pixels."""
    rows = b"".join(b"\0" + pixels[i : i + SIDE] for i in range(0, len(pixels), SIDE))
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


if __name__ == "__main__":
    sys.exit(main())

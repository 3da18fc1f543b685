"""A picture to draw on: text in letters of five by seven dots, plain shapes, noise; written as PNG.

Everything is drawn row by row in spans, which is fast enough in plain Python, and the same seed gives the
same bytes everywhere.
"""

from __future__ import annotations

import math
import random
import struct
import zlib
from collections.abc import Iterator

Colour = tuple[int, int, int]
Span = tuple[int, float, float]
Point = tuple[float, float]
WIDE, HIGH = 5, 7
GAP = 1  # dots between two letters
LETTERS = {
    "0": "ehjlphe", "1": "4c4444e", "2": "eh168gv", "3": "u11e11u", "4": "26aiv22", "5": "vgu11he",
    "6": "68guhhe", "7": "v124888", "8": "ehhehhe", "9": "ehhf12c", "A": "ehhvhhh", "B": "uhhuhhu",
    "C": "ehggghe", "D": "uhhhhhu", "E": "vgguggv", "F": "vgguggg", "G": "ehgnhhf", "H": "hhhvhhh",
    "I": "e44444e", "J": "72222ic", "K": "hikokih", "L": "ggggggv", "M": "hrllhhh", "N": "hpljhhh",
    "O": "ehhhhhe", "P": "uhhuggg", "Q": "ehhhlid", "R": "uhhukih", "S": "fgge11u", "T": "v444444",
    "U": "hhhhhhe", "V": "hhhhha4", "W": "hhhllrh", "X": "hha4ahh", "Y": "hha4444", "Z": "v1248gv",
}  # fmt: skip
"""Seven rows of five dots each; a row is one digit to the base of 32."""


class Canvas:
    def __init__(self, width: int, height: int, ground: Colour) -> None:
        self.width, self.height = width, height
        self._rows = [bytearray(bytes(ground) * width) for _ in range(height)]

    def span(self, row: int, left: float, right: float, colour: Colour) -> None:
        first, end = max(0, round(left)), min(self.width, round(right))
        if 0 <= row < self.height and first < end:
            self._rows[row][3 * first : 3 * end] = bytes(colour) * (end - first)

    def spans(self, spans: Iterator[Span], colour: Colour) -> None:
        for row, left, right in spans:
            self.span(row, left, right, colour)

    def text(self, words: str, place: Point, dot: float, colour: Colour, slant: float = 0.0) -> list[Point]:
        """Write *words* with dots of that size; the four corners around them, the first at *place*.

        *slant*: how far every row of dots is shifted, in dots.
        """
        x, y = place
        for row in range(HIGH):
            top, bottom = round(y + row * dot), round(y + (row + 1) * dot)
            shift = x + slant * row * dot
            for number, letter in enumerate(words):
                dots = int(LETTERS[letter][row], 32)
                begin = shift + number * (WIDE + GAP) * dot
                for column in range(WIDE):
                    if dots >> (WIDE - 1 - column) & 1:
                        for line in range(top, bottom):
                            self.span(line, begin + column * dot, begin + (column + 1) * dot, colour)
        wide, lean = width_of(words, dot), slant * HIGH * dot
        return [(x, y), (x + wide, y), (x + wide + lean, y + HIGH * dot), (x + lean, y + HIGH * dot)]

    def noise(self, rng: random.Random, most: int) -> None:
        """Make every value up to *most* darker."""
        table = bytes(value * (most + 1) // 256 for value in range(256))
        for number, row in enumerate(self._rows):
            darker = rng.randbytes(len(row)).translate(table)
            self._rows[number] = bytearray(a - b if a > b else 0 for a, b in zip(row, darker, strict=True))

    def png(self) -> bytes:
        rows = b"".join(b"\0" + bytes(row) for row in self._rows)
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
            for kind, body in chunks
        )


def width_of(words: str, dot: float) -> float:
    return (len(words) * (WIDE + GAP) - GAP) * dot


def colour(rng: random.Random, darkest: int, brightest: int) -> Colour:
    return rng.randint(darkest, brightest), rng.randint(darkest, brightest), rng.randint(darkest, brightest)


def shape(name: str, x: float, y: float, radius: float) -> Iterator[Span]:
    """The rows that a circle, square, triangle or cross covers."""
    for row in range(math.ceil(y - radius), math.floor(y + radius) + 1):
        above = (row - y) / radius
        if name == "circle":
            half = math.sqrt(max(0.0, 1 - above * above))
        elif name == "square":
            half = 1.0
        elif name == "triangle":
            half = (1 + above) / 2
        else:
            half = 1.0 if abs(above) <= 0.3 else 0.3
        if half:
            yield row, x - half * radius, x + half * radius + 1

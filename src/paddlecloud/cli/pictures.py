"""The pixels of the generated images, without a library for images; pure but for the file that is read."""

from __future__ import annotations

import zlib
from pathlib import Path


def pixels(path: Path) -> list[list[int]]:
    """The rows of an 8-bit gray PNG without filters, which is what the generated data is made of."""
    content = path.read_bytes()
    width, height = (int.from_bytes(content[i : i + 4], "big") for i in (16, 20))
    data, position = b"", 8
    while position < len(content):
        size = int.from_bytes(content[position : position + 4], "big")
        if content[position + 4 : position + 8] == b"IDAT":
            data += content[position + 8 : position + 8 + size]
        position += size + 12
    rows = zlib.decompress(data)
    return [list(rows[y * (width + 1) + 1 : (y + 1) * (width + 1)]) for y in range(height)]

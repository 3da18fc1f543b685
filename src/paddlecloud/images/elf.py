"""What a program or library asks the dynamic loader for: read from the file, without running anything.

Only as much of ELF as that takes, for 64-bit little-endian files; anything else asks for nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

LOAD, DYNAMIC, INTERPRETER = 1, 2, 3
NEEDED, STRINGS, RPATH, RUNPATH = 1, 5, 15, 29
MOST_ENTRIES = 10_000


@dataclass(frozen=True)
class Wishes:
    loader: str = ""
    libraries: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    """Folders the file itself names; `$ORIGIN` is the file's own."""


def wishes(path: Path) -> Wishes:
    try:
        content = path.read_bytes() if path.is_file() else b""
        return read(content)
    except (OSError, struct.error, IndexError, ValueError):
        return Wishes()


def read(content: bytes) -> Wishes:
    if content[:6] != b"\x7fELF\x02\x01":
        return Wishes()
    offset, size, count = (
        struct.unpack_from("<Q", content, 32)[0],
        *struct.unpack_from("<HH", content, 54),
    )
    loader, loads, dynamic = "", [], None
    for number in range(count):
        kind, _, at, address, _, length = struct.unpack_from("<IIQQQQ", content, offset + number * size)
        if kind == INTERPRETER:
            loader = content[at : at + length].rstrip(b"\0").decode()
        elif kind == LOAD:
            loads.append((address, at, length))
        elif kind == DYNAMIC:
            dynamic = at, length
    if dynamic is None:
        return Wishes(loader)
    entries = [
        struct.unpack_from("<qQ", content, at) for at in range(dynamic[0], sum(dynamic), 16)[:MOST_ENTRIES]
    ]
    table = next(value for tag, value in entries if tag == STRINGS)
    strings = next(
        at + table - address for address, at, length in loads if address <= table < address + length
    )

    def texts(*tags: int) -> Iterator[str]:
        for tag, value in entries:
            if tag in tags:
                start = strings + value
                yield content[start : content.index(b"\0", start)].decode()

    search = [folder for text in texts(RPATH, RUNPATH) for folder in text.split(":") if folder]
    return Wishes(loader, tuple(texts(NEEDED)), tuple(search))


def closure(files: Iterable[Path], folders: Iterable[Path]) -> set[Path]:
    """Every library that *files* need, and their loader, found as it would; what is missing is left out."""
    system = list(folders)
    found: set[Path] = set()
    ahead = list(files)
    seen: set[Path] = set()
    while ahead:
        path = ahead.pop()
        if path in seen:
            continue
        seen.add(path)
        asks = wishes(path)
        origin = str(path.parent)
        own = [Path(s.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)) for s in asks.search]
        for name in asks.libraries:
            place = next((f / name for f in (*own, *system) if (f / name).is_file()), None)
            if place is not None:
                found.add(place)
                ahead.append(place)
        if asks.loader:
            found.add(Path(asks.loader))
    return found

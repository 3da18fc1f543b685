"""Compressed streams, told by their first bytes: a media type may be missing or wrong, these are not."""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import zlib
from typing import IO, Any, cast

from .failures import Unsupported

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
OTHERS = {b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
BROKEN: tuple[type[Exception], ...] = (EOFError, gzip.BadGzipFile, zlib.error)
"""What reading a damaged stream raises."""


def plain(file: IO[bytes], what: str) -> IO[bytes]:
    """The content of *file* without compression; raises `Unsupported` for a kind nobody here can read."""
    start = file.read(6)
    file.seek(0)
    if start.startswith(GZIP):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="rb"))
    if start.startswith(ZSTD):
        return zstd(file, what)
    for magic, name in OTHERS.items():
        if start.startswith(magic):
            raise Unsupported(
                f"{what} is compressed with {name}, which images may not be",
                next_step="compress it with gzip or not at all",
            )
    return file


def zstd(file: IO[bytes], what: str) -> IO[bytes]:
    # Python has it from 3.14 on; the backport and the older library are taken where they are installed.
    for module in ("compression.zstd", "backports.zstd"):
        if available(module):
            library: Any = importlib.import_module(module)
            return cast("IO[bytes]", library.ZstdFile(file, "r"))
    if available("zstandard"):
        library = importlib.import_module("zstandard")
        return cast("IO[bytes]", library.ZstdDecompressor().stream_reader(file, read_across_frames=True))
    raise Unsupported(
        f"{what} is compressed with zstd, which this Python cannot read",
        next_step="install the package `zstandard` beside pdc, or push the image with gzip layers",
    )


def available(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False

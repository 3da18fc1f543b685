"""Unpacking an archive into a folder of its own: nothing of it can land elsewhere or fill the disk.

Paths and links that lead out, devices and encrypted members are refused; so is what would unpack to more
than the bytes that are allowed.
"""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from lzma import LZMAError
from pathlib import Path

from ...errors import Failed
from ...sizes import size as shown
from ...untarring import Refused, extract
from ..engine import Unfit
from ..paths import inside

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
MOST_MEMBERS = 5_000_000


def is_archive(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def unpack(archive: Path, into: Path, most: int, check: Callable[[], None]) -> None:
    """All files of *archive* below *into*, which is made; at most *most* bytes. *check* may raise."""
    into.mkdir(parents=True)
    allowance = Allowance(archive.name, most, check)
    try:
        if archive.name.lower().endswith(".zip"):
            unzip(archive, into, allowance)
        else:
            untar(archive, into, allowance)
    except Refused as error:
        raise Unfit(f"the archive {archive.name} is refused: {error}", next_step="pack it without") from error
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, LZMAError) as error:
        raise Failed(f"the archive {archive.name} is damaged or none: {error}") from error


class Allowance:
    """Counts what an archive unpacks to."""

    def __init__(self, name: str, most: int, check: Callable[[], None]) -> None:
        self._name, self._most, self._check = name, most, check
        self._bytes = self._members = 0

    def take(self, size: int) -> None:
        self._check()
        self._bytes += size
        self._members += 1
        if self._bytes > self._most:
            raise Failed(
                f"the archive {self._name} unpacks to more than the {shown(self._most)} the disk has left",
                next_step="free space on the disk of the volume",
            )
        if self._members > MOST_MEMBERS:
            raise Unfit(f"the archive {self._name} has more than {MOST_MEMBERS} files")


def untar(archive: Path, into: Path, allowance: Allowance) -> None:
    with tarfile.open(archive, "r|*") as packed:
        for member in packed:
            allowance.take(member.size)
            extract(packed, member, into)


def unzip(archive: Path, into: Path, allowance: Allowance) -> None:
    with zipfile.ZipFile(archive) as packed:
        for member in packed.infolist():
            if stat.S_ISLNK(member.external_attr >> 16) or member.flag_bits & 1:
                what = "encrypted" if member.flag_bits & 1 else "a link"
                raise Unfit(f"{member.filename!r} in {archive.name} is {what}", next_step="pack it as a file")
            if member.is_dir():
                continue
            allowance.take(member.file_size)
            target = into / inside(member.filename)
            target.parent.mkdir(parents=True, exist_ok=True)
            # The size that is said in front is kept to: zipfile reads no more than it.
            with packed.open(member) as source, target.open("wb") as written:
                shutil.copyfileobj(source, written, 1 << 20)
            time = datetime(*member.date_time, tzinfo=UTC).timestamp()
            os.utime(target, (time, time))

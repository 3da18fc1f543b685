"""The record of what a volume holds: `.paddlecloud/index.json`, replaced as a whole.

    {"source": URI, "revision": …, "files": [{"path", "size", "sha256"}, …]}

It is written after the last file: where it lies, a sync had been complete.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import orjson

from .engine import Contents, File
from .listing import OURS


@dataclass(frozen=True)
class Index:
    source: str
    contents: Contents


def read(volume: Path) -> Index | None:
    """The record; None when there is none or it cannot be understood: then the files tell."""
    try:
        said = orjson.loads((volume / OURS / "index.json").read_bytes())
        files = tuple(File(f["path"], f["size"], f["sha256"]) for f in said["files"])
        return Index(said["source"], Contents(files))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(volume: Path, index: Index) -> None:
    contents = index.contents
    content = orjson.dumps(
        {
            "source": index.source,
            "revision": contents.revision,
            "files": [f._asdict() for f in sorted(contents.files)],
        }
    )
    folder = volume / OURS
    folder.mkdir(exist_ok=True)
    part = folder / f"index.{os.getpid()}"
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, folder / "index.json")

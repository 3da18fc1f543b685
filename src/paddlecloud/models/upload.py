"""Bring a model's files into the store and make the version visible, in that order.

The manifest is the last write: until then no reader knows of the version, and an upload that was cut short
is started again and finds what it had already brought.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ..api.model import StoredFile
from ..errors import WrongUse
from . import manifest
from .folder import Entry, entries
from .manifest import Manifest
from .objects import ObjectStore


@dataclass(frozen=True)
class Upload:
    """What becomes a version."""

    model: str
    version: str
    source: Path
    """The exported model."""
    converted: Path | None = None
    """What the conversion wrote; it may be missing."""


@dataclass(frozen=True)
class Step:
    """How far an upload is."""

    files: int
    total_files: int
    bytes: int
    total_bytes: int

    def __str__(self) -> str:
        return f"uploaded {self.bytes}/{self.total_bytes} bytes {self.files}/{self.total_files} files"


def upload(what: Upload, store: ObjectStore, tell: Callable[[Step], None]) -> Manifest:
    """Keep every file, then the manifest, and return it; doing it again changes nothing.

    Raises `WrongUse` when the folder cannot be a version, `Failed` when the store or the disk refuses.
    """
    manifest.named(what.model), manifest.named(what.version)
    files = gathered(what)
    report = read_json(what.converted / manifest.CONVERSION_REPORT) if what.converted else None
    metrics = read_json(what.source / "metrics.json")

    total = sum(f.size for f in files)
    stored: list[StoredFile] = []
    done = 0

    def moved(size: int) -> None:
        nonlocal done
        done += size
        tell(Step(len(stored), len(files), done, total))

    for file in files:
        blob = store.put(file.at, moved)
        stored.append(StoredFile(path=file.path, size=blob.size, sha256=blob.sha256))
        moved(0)
    made = manifest.build(what.model, what.version, stored, report=report, metrics=metrics)
    store.write_manifest(what.model, what.version, made.encoded())
    return made


def gathered(what: Upload) -> list[Entry]:
    """The files of the version: those of the source, and the converted model with its report."""
    files = entries(what.source)
    if what.converted and what.converted.is_dir():
        wanted = (manifest.CONVERTED, manifest.CONVERSION_REPORT)
        converted = [f for f in entries(what.converted) if f.path in wanted]
        both = {f.path for f in files} & {f.path for f in converted}
        # The source may be the folder the conversion wrote to.
        if both and what.converted.resolve() != what.source.resolve():
            raise WrongUse(f"{', '.join(sorted(both))} is in the source and among the converted files")
        files += [f for f in converted if f.path not in both]
    if not files:
        raise WrongUse(f"{what.source} is empty", next_step="export the model there first")
    return files


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in *path*; None when there is no such file."""
    try:
        content = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, orjson.JSONDecodeError) as error:
        raise WrongUse(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(content, dict):
        raise WrongUse(f"{path} holds no JSON object")
    return content

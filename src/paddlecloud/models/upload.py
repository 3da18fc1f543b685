"""Bring a model's files into the store and make the version visible, in that order.

The manifest is the last write: until then no reader knows of the version, and an upload that was cut short
is started again and finds what it had already brought.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ..api.model import Signature, StoredFile
from ..errors import Conflict, Failed, WrongUse
from . import manifest
from .folder import Entry, entries
from .keys import manifest_key, push_key
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
    signature: Signature | None = None
    """What the files take and give, where the conversion does not say."""


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
    key = manifest_key(what.model, what.version)
    report = read_json(what.converted / manifest.CONVERSION_REPORT) if what.converted else None
    metrics = read_json(what.source / "metrics.json")
    stored = keep(gathered(what), store, tell)
    made = manifest.build(
        what.model, what.version, stored, report=report, metrics=metrics, signature=what.signature
    )
    try:
        store.write(key, made.encoded())
    except Conflict as error:
        # An earlier attempt came this far and could not report; what it converted may differ by a byte.
        kept = manifest.parse(store.read(key))
        if originals(kept.files) != originals(made.files):
            raise Failed(
                f"version {what.version} of model {what.model} is in the store with other files",
                next_step="a version never changes: upload under a new name",
            ) from error
        return kept
    return made


def originals(files: list[StoredFile]) -> set[tuple[str, str]]:
    made = (manifest.CONVERTED, manifest.CONVERSION_REPORT)
    return {(f.path, f.sha256) for f in files if f.path not in made}


def push(source: Path, store: ObjectStore, tell: Callable[[Step], None]) -> str:
    """Keep the files of a folder and then their list, and return its digest: what a new version begins with.

    The same files give the same digest; doing it again, after a crash too, brings only what is missing.
    """
    files = entries(source)
    if not files:
        raise WrongUse(f"{source} is empty", next_step="export the model there first")
    listed = sorted((f.wire() for f in keep(files, store, tell)), key=lambda f: str(f["path"]))
    content = orjson.dumps({"files": listed}, option=orjson.OPT_SORT_KEYS)
    digest = hashlib.sha256(content).hexdigest()
    store.write(push_key(digest), content)
    return digest


def keep(files: list[Entry], store: ObjectStore, tell: Callable[[Step], None]) -> list[StoredFile]:
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
    return stored


def gathered(what: Upload) -> list[Entry]:
    """The files of the version: those of the source, and the converted model with its report."""
    files = entries(what.source)
    if what.converted and what.converted.is_dir():
        wanted = (manifest.CONVERTED, manifest.CONVERSION_REPORT)
        converted = [f for f in entries(what.converted) if f.path in wanted]
        fresh = {f.path for f in converted}
        # A version that was pulled brings what was made of it then; what was made now counts.
        files = [f for f in files if f.path not in fresh] + converted
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

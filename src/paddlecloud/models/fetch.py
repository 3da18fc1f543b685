"""Lay the files of a model version into a folder, verified: `python -m paddlecloud.models.fetch`.

Each file appears whole, and `.paddlecloud/manifest.json` last: where it lies, the folder is complete. Doing
it again verifies what is there and brings only what is missing or damaged.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from ..api.model import StoredFile
from ..errors import Failed, NotFound, PaddleCloudError
from . import manifest
from .keys import manifest_key, push_key
from .manifest import Manifest
from .objects import Moved, ObjectStore, digest
from .opening import store_at

COMPLETE = Path(".paddlecloud") / "manifest.json"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="paddlecloud.models.fetch", description=__doc__.splitlines()[0])
    parser.add_argument("--store", required=True, help="URI of the model store")
    parser.add_argument("--model", default="")
    parser.add_argument("--version", default="")
    parser.add_argument("--pushed", default="", help="digest of a push, instead of a model and a version")
    parser.add_argument("--to", required=True, type=Path, help="folder for the files")
    options = parser.parse_args(arguments)
    try:
        store = store_at(options.store)
        if options.pushed:
            files = fetch_push(store, options.pushed, options.to)
            print(f"fetched {len(files)} pushed files, {sum(f.size for f in files)} bytes")
            return 0
        fetched = fetch(store, options.model, options.version, options.to)
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"fetched {fetched.model} {fetched.version}: {len(fetched.files)} files, {fetched.size} bytes")
    return 0


def fetch(
    store: ObjectStore,
    model: str,
    version: str,
    to: Path,
    *,
    linked: bool = True,
    moved: Moved = lambda _: None,
) -> Manifest:
    """Bring the version into *to*. Raises `NotFound` for an unknown one, `Failed` for a damaged one.

    Files that are *linked* may be the store's own: they are for programs that only read.
    """
    try:
        content = store.read(manifest_key(model, version))
    except NotFound as error:
        raise NotFound(f"the store {store} has no version {version} of model {model}") from error
    wanted = manifest.parse(content)
    lay(store, wanted.files, to, linked=linked, moved=moved)
    lay_mark(to / COMPLETE, content)
    return wanted


def fetch_push(store: ObjectStore, digest: str, to: Path) -> list[StoredFile]:
    """Bring what a client pushed into *to*."""
    files = manifest.parse_push(store.read(push_key(digest)))
    lay(store, files, to, linked=True, moved=lambda _: None)
    return files


def lay(store: ObjectStore, files: list[StoredFile], to: Path, *, linked: bool, moved: Moved) -> None:
    try:
        for file in files:
            target = to / file.path
            if not holds(target, file.sha256):
                bring(store, file.sha256, target, linked=linked)
            moved(file.size)
    except OSError as error:
        raise Failed(f"{error.filename or to} cannot be written: {error.strerror}") from error


def holds(path: Path, sha256: str) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return digest(file).sha256 == sha256


def bring(store: ObjectStore, sha256: str, target: Path, *, linked: bool) -> None:
    """Put a blob to *target*: as a link to the store's own file where that is wanted and possible."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as folder:
        part = Path(folder) / "part"
        local = store.local(sha256) if linked else None
        if local is None or not link(local, part):
            with store.open(sha256) as source, part.open("wb") as copy:
                digest(source, into=copy)
                os.fsync(copy.fileno())
        if not holds(part, sha256):
            raise Failed(
                f"{target.name} is damaged in the store: {sha256} has another content",
                next_step="upload the same files again; the store replaces the damaged one",
            )
        os.replace(part, target)


def link(source: Path, target: Path) -> bool:
    """Another file system, another owner or a missing file: then there is no link."""
    try:
        os.link(source, target)
    except OSError:
        return False
    return True


def lay_mark(path: Path, content: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        os.replace(part, path)
    except OSError as error:
        raise Failed(f"{path} cannot be written: {error.strerror}") from error


if __name__ == "__main__":
    sys.exit(main())

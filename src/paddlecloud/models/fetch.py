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

from ..errors import Failed, PaddleCloudError
from . import manifest
from .manifest import Manifest
from .objects import ObjectStore, digest, store_at

COMPLETE = Path(".paddlecloud") / "manifest.json"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="paddlecloud.models.fetch", description=__doc__.splitlines()[0])
    parser.add_argument("--store", required=True, help="URI of the model store")
    parser.add_argument("--model", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--to", required=True, type=Path, help="folder for the files")
    options = parser.parse_args(arguments)
    try:
        fetched = fetch(store_at(options.store), options.model, options.version, options.to)
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"fetched {fetched.model} {fetched.version}: {len(fetched.files)} files, {fetched.size} bytes")
    return 0


def fetch(store: ObjectStore, model: str, version: str, to: Path) -> Manifest:
    """Bring the version into *to*. Raises `NotFound` for an unknown one, `Failed` for a damaged one."""
    content = store.read_manifest(model, version)
    wanted = manifest.parse(content)
    try:
        for file in wanted.files:
            target = to / file.path
            if not holds(target, file.sha256):
                bring(store, file.sha256, target)
        write(to / COMPLETE, content)
    except OSError as error:
        raise Failed(f"{error.filename or to} cannot be written: {error.strerror}") from error
    return wanted


def holds(path: Path, sha256: str) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return digest(file).sha256 == sha256


def bring(store: ObjectStore, sha256: str, target: Path) -> None:
    """Put a blob to *target*: as a link to the store's own file where that is possible, else as a copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as folder:
        part = Path(folder) / "part"
        local = store.local(sha256)
        linked = local is not None and link(local, part)
        if not linked:
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


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(content)
    os.replace(part, path)


if __name__ == "__main__":
    sys.exit(main())

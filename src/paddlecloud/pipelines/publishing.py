"""Lays the artifacts of a run into the object store; runs in a pod that has their claim and the keys.

    python -m paddlecloud.pipelines.publishing ORDER

The order is JSON: files or folders with the keys they get, and texts with theirs. The same again changes
nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import PaddleCloudError
from ..models.bucketstore import BucketStore
from ..models.opening import store_at
from .artifacts import BUCKET
from .fetching import STORE


def main(arguments: list[str] | None = None) -> int:
    [text] = sys.argv[1:] if arguments is None else arguments
    try:
        publish(json.loads(text), STORE, os.environ)
    except PaddleCloudError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def publish(order: dict[str, Any], endpoint: str, environ: Mapping[str, str]) -> None:
    store = store_at(f"s3://{BUCKET}?endpoint={endpoint}", environ)
    assert isinstance(store, BucketStore), "the URI says so"
    for place, key in order["files"]:
        for path, name in files_below(Path(place), key):
            store.place(name, path)
            print(f"{name}: {path.stat().st_size} bytes", flush=True)
    for key, text in order["texts"]:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            store.place(key, Path(file.name))


def files_below(place: Path, key: str) -> list[tuple[Path, str]]:
    if not place.is_dir():
        return [(place, key)]
    found = sorted(p for p in place.rglob("*") if p.is_file())
    return [(path, f"{key}/{path.relative_to(place)}") for path in found]


if __name__ == "__main__":
    sys.exit(main())

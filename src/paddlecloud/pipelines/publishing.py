"""Lays the artifacts of a run into the object store; runs in a pod that has their claim and the keys.

    python -m paddlecloud.pipelines.publishing ORDER…

An order is JSON: a file or folder with the key it gets, or a text with its key. They are many because one
argument of a program has a limit that the artifacts of a large run exceed. The same again changes nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import PaddleCloudError
from ..models.bucketstore import BucketStore
from ..models.opening import store_at
from .artifacts import BUCKET
from .fetching import STORE


def main(arguments: list[str] | None = None) -> int:
    texts = sys.argv[1:] if arguments is None else arguments
    try:
        publish([json.loads(text) for text in texts], STORE, os.environ)
    except PaddleCloudError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def publish(orders: Iterable[Mapping[str, str]], endpoint: str, environ: Mapping[str, str]) -> None:
    store = store_at(f"s3://{BUCKET}?endpoint={endpoint}", environ)
    assert isinstance(store, BucketStore), "the URI says so"
    for order in orders:
        if "file" in order:
            for path, name in files_below(Path(order["file"]), order["key"]):
                store.place(name, path)
                print(f"{name}: {path.stat().st_size} bytes", flush=True)
        else:
            with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
                file.write(order["text"])
                file.flush()
                store.place(order["key"], Path(file.name))


def files_below(place: Path, key: str) -> list[tuple[Path, str]]:
    if not place.is_dir():
        return [(place, key)]
    found = sorted(p for p in place.rglob("*") if p.is_file())
    return [(path, f"{key}/{path.relative_to(place)}") for path in found]


if __name__ == "__main__":
    sys.exit(main())

"""Puts the files of a folder into a bucket under their names; run beside whoever made them.

    python -m paddlecloud.pipelines.depositing --source DIR --store s3://BUCKET/PREFIX?endpoint=URL
        [--open NAME]

The last object that is written names all others with their digests. Who finds it with the same words leaves
everything as it is, so that doing it again costs one look.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import local
from urllib.parse import urlsplit, urlunsplit

from ..errors import Failed, NotFound, PaddleCloudError, WrongUse
from ..models.bucketstore import BucketStore
from ..models.folder import Entry, entries
from ..models.opening import store_at

RECORD = "deposited.json"
AT_ONCE = 8
SECONDS_BETWEEN_LINES = 0.5


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Put a folder into a bucket.")
    parser.add_argument("--source", required=True, type=Path)
    parser.add_argument("--store", required=True, help="s3://BUCKET/PREFIX?endpoint=URL")
    parser.add_argument("--open", default="", help="name of the file that anybody may read without keys")
    options = parser.parse_args(arguments)
    try:
        found = entries(options.source)
        if not found:
            raise Failed(f"{options.source} holds no file")
        deposit(found, options.store)
        if options.open:
            # One rule a bucket: it must hold for what others put there, too.
            whole = urlunsplit(urlsplit(options.store)._replace(path=""))
            bucket(whole).open_to_all(f"*/{options.open}")
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def deposit(found: Sequence[Entry], uri: str) -> None:
    whole = record(found)
    first = bucket(uri)
    if there(first, whole):
        print(f"{len(found)}/{len(found)} objects: all there since before", flush=True)
        return
    # The first one makes the bucket, if need be; several at once would all try.
    first.place(found[0].path, found[0].at)
    own, told = local(), 0.0

    def place(entry: Entry) -> None:
        if not hasattr(own, "store"):
            own.store = bucket(uri)
        own.store.place(entry.path, entry.at)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        for done, placed in enumerate(as_completed([threads.submit(place, e) for e in found[1:]]), 2):
            placed.result()
            if done == len(found) or time.monotonic() - told >= SECONDS_BETWEEN_LINES:
                told = time.monotonic()
                print(f"{done}/{len(found)} objects", flush=True)
    with tempfile.NamedTemporaryFile() as written:
        Path(written.name).write_bytes(whole)
        first.place(RECORD, Path(written.name))


def record(found: Sequence[Entry]) -> bytes:
    return json.dumps({e.path: digest_of(e.at) for e in found}, sort_keys=True).encode()


def digest_of(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise Failed(f"{path} cannot be read: {error.strerror}") from error


def there(store: BucketStore, whole: bytes) -> bool:
    try:
        return store.read(RECORD) == whole
    except NotFound:
        return False


def bucket(uri: str) -> BucketStore:
    store = store_at(uri, os.environ)
    if not isinstance(store, BucketStore):
        raise WrongUse(f"{uri} is no bucket", next_step="write s3://BUCKET/PREFIX?endpoint=http://HOST:PORT")
    return store


if __name__ == "__main__":
    sys.exit(main())

"""Brings what an importer names from outside to where the steps of the run find it.

    IMPORT_ADDRESS=https://… python -m paddlecloud.pipelines.fetching PLACE

An object or file becomes PLACE, all below a key of a bucket becomes a folder. The address may hold a key, so
it comes as a variable, and is told without what is secret in it. PLACE is there whole or not at all.
"""

from __future__ import annotations

import base64
import os
import shutil
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from ..controllers.workflowimports import ADDRESS, shown
from ..errors import Failed, NotFound, PaddleCloudError
from ..models.bucketstore import Bucket, BucketStore
from ..models.opening import ACCESS, SECRET
from ..signing import Keys
from .component import hand_over

STORE = "http://minio-service.kubeflow:9000"
"""Where buckets are whose address names no endpoint."""
SILENCE = 60.0
"""Seconds after which a server that says nothing is given up."""


def main(arguments: list[str] | None = None) -> int:
    [place] = sys.argv[1:] if arguments is None else arguments
    address = os.environ[ADDRESS]
    try:
        size = fetch(address, Path(place), os.environ)
    except PaddleCloudError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{shown(address)}: {size} bytes", flush=True)
    hand_over({})
    return 0


def fetch(address: str, place: Path, environ: Mapping[str, str]) -> int:
    """How many bytes it was. Raises `Failed` and `NotFound`, in words without secrets."""
    part = place.with_name(f".{place.name}.part")
    remove(part)
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        if urlsplit(address).scheme in ("http", "https"):
            size = download(address, part)
        else:
            size = from_bucket(address, part, environ)
        remove(place)
        part.rename(place)
    except OSError as error:
        raise Failed(f"{shown(address)} cannot be kept: {error.strerror}") from error
    finally:
        remove(part)
    return size


def download(address: str, part: Path) -> int:
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    request = urllib.request.Request(urlunsplit(parts._replace(netloc=host)))
    if parts.username is not None:
        said = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        # Not to wherever the server sends us.
        request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(said).decode())
    try:
        with urllib.request.urlopen(request, timeout=SILENCE) as answer:
            return written(answer, part)
    except urllib.error.HTTPError as error:
        with error:
            kind = NotFound if error.code == 404 else Failed
            raise kind(f"{shown(address)} was answered with {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise Failed(f"{shown(address)} cannot be reached: {error.reason}") from None


def from_bucket(address: str, part: Path, environ: Mapping[str, str]) -> int:
    parts = urlsplit(address)
    said = dict(parse_qsl(parts.query))
    bucket = Bucket(
        (said.get("endpoint") or STORE).rstrip("/"), parts.netloc, "", said.get("region", "us-east-1")
    )
    keys = Keys(environ.get(ACCESS, "").strip(), environ.get(SECRET, "").strip())
    store = BucketStore(bucket, keys if keys.access else None)
    key = unquote(parts.path).strip("/")
    if found := store.object(key):
        with found:
            return written(found, part)
    size = count = 0
    for item in store.items(f"{key}/"):
        rest = item.key.removeprefix(f"{key}/")
        if rest and not rest.endswith("/") and ".." not in rest.split("/"):
            with store.object(item.key) or missing(shown(address)) as file:
                size += written(file, part / rest)
            count += 1
    if not count:
        raise NotFound(f"there is nothing at {shown(address)}")
    return size


def missing(address: str) -> BinaryIO:
    raise NotFound(f"{address} changed while it was read")


def written(source: BinaryIO, path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
        return file.tell()


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())

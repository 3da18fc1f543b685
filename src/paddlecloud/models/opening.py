"""From a URI to its store: which implementation a scheme stands for, written out.

    file:///absolute/folder          s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION&secret=NAME

`secret` is for whoever starts a process with the keys in its variables; they are never in the URI.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from ..errors import WrongUse
from ..signing import Keys
from .bucketstore import Bucket, BucketStore
from .folderstore import FolderStore
from .objects import ObjectStore
from .s3requests import Dial

ACCESS, SECRET = "PADDLECLOUD_STORE_ACCESS_KEY", "PADDLECLOUD_STORE_SECRET_KEY"


def store_at(uri: str, environ: Mapping[str, str] = os.environ, dial: Dial | None = None) -> ObjectStore:
    """The store of a URI, with the keys of *environ*. Raises `WrongUse` for a scheme that nobody serves.

    *dial* connects with the endpoint where its own name does not lead there.
    """
    parts = urlsplit(uri)
    if parts.scheme == "file" and parts.netloc in ("", "localhost") and parts.path.startswith("/"):
        return FolderStore(Path(unquote(parts.path)))
    if parts.scheme == "s3" and parts.netloc:
        # Secrets written by `echo … | base64` end in a newline.
        keys = Keys(environ.get(ACCESS, "").strip(), environ.get(SECRET, "").strip())
        return BucketStore(bucket_of(uri), keys if keys.access else None, dial)
    raise WrongUse(
        f"no model store can be opened at a URI of the form {parts.scheme or 'path'}://…",
        next_step="use file:///absolute/folder or s3://BUCKET/PREFIX?endpoint=https://HOST",
    )


def bucket_of(uri: str) -> Bucket:
    parts = urlsplit(uri)
    said = dict(parse_qsl(parts.query))
    region = said.get("region", "us-east-1")
    endpoint = said.get("endpoint") or f"https://s3.{region}.amazonaws.com"
    if urlsplit(endpoint).scheme not in ("http", "https") or not urlsplit(endpoint).netloc:
        raise WrongUse(
            f"{endpoint!r} is no endpoint of a store", next_step="write endpoint=https://HOST:PORT"
        )
    return Bucket(endpoint.rstrip("/"), parts.netloc, unquote(parts.path).strip("/"), region)

"""The Secret of a JuiceFS file system as this machine reads it: metadata and bucket from their mirrors; pure.

A mirror of the bucket also says what kind of store it is: `file:///folder`, `redis://…`, `s3://HOST/BUCKET`.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from .... import mirroring
from ....cache.sources.endpoints import place

Secret = Mapping[str, bytes]


def mirrored(secret: Secret, table: Mapping[str, str]) -> Secret:
    """What of *secret* has no mirror stays as it is."""
    found = dict(secret)
    metaurl, bucket = text(secret, "metaurl"), text(secret, "bucket")
    if (there := mirroring.mirrored(metaurl, table)) != metaurl:
        found["metaurl"] = there.encode()
    if (there := mirroring.mirrored(bucket, table)) != bucket:
        _, user, _ = mirroring.apart(there)
        if user:
            # The client would take them from the address alone, which is one of its arguments.
            name, _, password = user.partition(":")
            found |= {"access-key": unquote(name).encode(), "secret-key": unquote(password).encode()}
        storage, address = store(mirroring.bare(there))
        found |= {"bucket": address.encode()} | ({"storage": storage.encode()} if storage else {})
    return found


def text(secret: Secret, key: str) -> str:
    return secret.get(key, b"").decode(errors="replace").strip()


def store(uri: str) -> tuple[str, str]:
    """The kind of a store and its bucket in the client's words; a kind that `uri` does not tell is empty."""
    scheme, _, rest = uri.partition("://")
    if scheme == "file":
        return scheme, unquote(rest).rstrip("/") + "/"
    if scheme in ("http", "https"):
        return "", uri
    if scheme in ("s3", "minio"):
        return scheme, place(uri).url
    return scheme, uri

"""What a store calls the things it keeps: files by content, manifests of versions, lists of pushes; pure.

blobs/sha256/ab/<digest>     models/<model>/<version>.json     pushes/<digest>.json     tmp/<unfinished>
"""

from __future__ import annotations

from .manifest import SHA256, named

BLOBS, MODELS, PUSHES, PARTS = "blobs/", "models/", "pushes/", "tmp/"
SUFFIX = ".json"


def blob_key(sha256: str) -> str:
    return f"{BLOBS}sha256/{sha256[:2]}/{sha256}"


def manifest_key(model: str, version: str) -> str:
    return f"{MODELS}{named(model)}/{named(version)}{SUFFIX}"


def push_key(digest: str) -> str:
    return f"{PUSHES}{digest}{SUFFIX}"


def blob_of(key: str) -> str:
    """The digest of a key of a blob; empty for any other key."""
    digest = key.rpartition("/")[2]
    return digest if key.startswith(BLOBS) and SHA256.fullmatch(digest) else ""


def version_of(key: str) -> tuple[str, str] | None:
    """Model and version of a key of a manifest."""
    model, slash, version = key.removeprefix(MODELS).partition("/")
    if not key.startswith(MODELS) or not slash or not version.endswith(SUFFIX):
        return None
    return model, version.removesuffix(SUFFIX)

"""From an address to its source: which kind of source a scheme stands for, written out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from ..engine import Unfit
from . import client, endpoints
from .archives import is_archive
from .buckets import Bucket
from .folder import claimed, folder
from .listings import Listing
from .redis import Redis
from .source import Address, Source
from .web import web
from .webdav import WebDav


@contextmanager
def opened(address: Address, scratch: Path, check: Callable[[], None]) -> Iterator[Source]:
    """The source behind *address*; what it needs to lay aside is below *scratch* and goes at the end.

    Raises `Unfit` for an address that cannot be read here, `Failed` where it may be later.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        source = source_of(address.without_password(), scratch, check)
        with closing(source) if isinstance(source, Redis) else nullcontext():
            yield source
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def listed_cheaply(uri: str) -> bool:
    """Whether the files of a source can be listed without bringing them."""
    address = Address(uri)
    if address.scheme in ("http", "https"):
        return not is_archive(urlsplit(uri).path)
    return address.scheme in ("file", "pvc", "webdav", "webdavs", "redis", "rediss", *endpoints.SCHEMES)


def source_of(address: Address, scratch: Path, check: Callable[[], None]) -> Source:
    match WAYS.get(address.scheme):
        case Way.FOLDER:
            return folder(address)
        case Way.CLAIM:
            return claimed(address, os.environ)
        case Way.BUCKET:
            return Bucket(endpoints.place(address.uri, no_https=address.no_https), address.keys)
        case Way.WEB:
            if urlsplit(address.uri).path.endswith("/") or not urlsplit(address.uri).path:
                return Listing(address)
            return web(address, scratch, check)
        case Way.WEBDAV:
            return WebDav(address)
        case Way.REDIS:
            return Redis(address)
        case Way.CLIENT:
            return client.brought(address, scratch, check)
    raise Unfit(
        f"{address.scheme or address.uri}:// is no kind of source that is known",
        next_step=f"use one of {', '.join(sorted(WAYS))}",
    )


class Way(StrEnum):
    """Who reads a source."""

    FOLDER = "the folder itself"
    CLAIM = "the claim that is mounted"
    BUCKET = "our reader of S3"
    WEB = "our readers of files, folders and archives behind HTTP"
    WEBDAV = "our reader of WebDAV"
    REDIS = "our reader of Redis"
    CLIENT = "the JuiceFS client"


WAYS = {
    "file": Way.FOLDER,
    "pvc": Way.CLAIM,
    **dict.fromkeys(("http", "https"), Way.WEB),
    **dict.fromkeys(("webdav", "webdavs"), Way.WEBDAV),
    **dict.fromkeys(("redis", "rediss"), Way.REDIS),
    **dict.fromkeys(client.SCHEMES, Way.CLIENT),
    **dict.fromkeys(endpoints.SCHEMES, Way.BUCKET),
}

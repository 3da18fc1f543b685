"""A bucket as a source, over the API of S3.

Listing is ours, because keys are any text. Small objects come through obstore where it is installed and
takes the key, which costs a fifth of the processor time; its streams of large ones cost twice our requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import unquote_plus, urlsplit
from xml.etree import ElementTree

from ...errors import Failed
from ...signing import path, quoted, signed
from ..engine import Keys, Unfit
from ..paths import exact
from .endpoints import Place
from .requests import Requests, refused
from .source import Entry

try:
    import obstore  # type: ignore[import-not-found,unused-ignore]
    from obstore.store import S3Store  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    obstore = S3Store = None

SMALL = 1 << 20
"""Bytes up to which an object is taken in one piece."""
NEEDS_OURS = re.compile(r"[\x00-\x1f\x7f]|[%]")


class Bucket:
    def __init__(self, place: Place, keys: Keys | None) -> None:
        self.place = place
        self._keys = keys if keys and keys.access else None
        self._requests = Requests(place.url)
        self._root = f"{place.prefix}/" if place.prefix else ""

    def entries(self) -> Iterator[Entry]:
        found = False
        for key, entry in self._listing(self._root):
            found = True
            # A key that ends with a slash stands for a folder.
            if not key.endswith("/"):
                yield entry._replace(path=exact(key.removeprefix(self._root)))
        if not found and self.place.prefix:
            for key, entry in self._listing(self.place.prefix):
                if key == self.place.prefix:
                    self._root = key.rpartition("/")[0] + "/" if "/" in key else ""
                    yield entry._replace(path=exact(key.rpartition("/")[2]))

    def folders(self) -> Iterator[str]:
        return iter(())

    def chunks(self, entry: Entry) -> Iterator[bytes]:
        key = self._root + entry.path
        if entry.size > SMALL or self._store is None or NEEDS_OURS.search(key):
            url = f"{self.place.url}/{path(key)}"
            return self._requests.chunks(url, self._headers("GET", url))
        return self._stored(key)

    def part(self, entry: Entry, begin: int, end: int, room: memoryview) -> Iterator[memoryview]:
        url = f"{self.place.url}/{path(self._root + entry.path)}"
        wish = {"Range": f"bytes={begin}-{end - 1}"}
        if entry.mark:
            # All parts are of one version, the listed one.
            wish["If-Match"] = f'"{entry.mark}"'
        return self._requests.received(url, self._headers("GET", url) | wish, room, status=206)

    def delete(self, entry: Entry) -> None:
        url = f"{self.place.url}/{path(self._root + entry.path)}"
        answer = self._requests.ask("DELETE", url, self._headers("DELETE", url))
        if answer.status not in (200, 204, 404):
            raise self._refusal(answer.status, answer.data)

    def _stored(self, key: str) -> Iterator[bytes]:
        try:
            yield bytes(obstore.get(self._store, key).bytes())
        except (obstore.exceptions.BaseError, ValueError, OSError) as error:
            # The rest of what it says is for programmers, and long.
            raise Failed(
                f"{key} cannot be read from {self.place.url}: {str(error).partition(chr(10))[0]}"
            ) from error

    @cached_property
    def _store(self) -> Any:
        if obstore is None:
            return None
        place, keys = self.place, self._keys
        signing = (
            {"access_key_id": keys.access, "secret_access_key": keys.secret}
            if keys
            else {"skip_signature": True}
        )
        return S3Store(
            place.bucket,
            endpoint=f"{place.scheme}://{place.endpoint}" if place.path_style else place.url,
            region=place.region,
            virtual_hosted_style_request=not place.path_style,
            client_options={"allow_http": place.scheme == "http", "connect_timeout": "5s"},
            **signing,
        )

    def _listing(self, prefix: str) -> Iterator[tuple[str, Entry]]:
        token = ""
        while True:
            query = f"encoding-type=url&list-type=2&prefix={quoted(prefix)}"
            url = f"{self.place.url}/?{query}" + (f"&continuation-token={quoted(token)}" if token else "")
            answer = self._requests.ask("GET", url, self._headers("GET", url))
            if answer.status != 200:
                raise self._refusal(answer.status, answer.data)
            page = parsed(answer.data, self.place)
            for item in page.iterfind("Contents"):
                key = unquote_plus(item.findtext("Key", ""), errors="surrogateescape")
                yield key, Entry(key, int(item.findtext("Size", "0")), time_of(item), mark_of(item))
            token = page.findtext("NextContinuationToken", "")
            if page.findtext("IsTruncated") != "true" or not token:
                return

    def _headers(self, method: str, url: str) -> dict[str, str]:
        if self._keys is None:
            return {}
        return signed(method, url, self._keys, self.place.region, datetime.now(UTC))

    def _refusal(self, status: int, body: bytes) -> Failed:
        bucket, host = self.place.bucket, urlsplit(self.place.url).netloc
        code = re.search(rb"<Code>(\w+)</Code>", body)
        said = code[1].decode() if code else str(status)
        if said == "NoSuchBucket":
            return Failed(f"{host} has no bucket {bucket}", next_step="make it, or correct source.uri")
        if said in ("InvalidBucketName",):
            return Unfit(f"{bucket!r} cannot be the name of a bucket: {host} says {said}")
        if status in (401, 403):
            how = "with these keys" if self._keys else "without keys"
            return Failed(
                f"{host} refuses the bucket {bucket} {how}: {said}",
                next_step="check access-key and secret-key in the Secret of the source",
            )
        return refused(host, status, f"the bucket {bucket} ({said})")


def parsed(body: bytes, place: Place) -> ElementTree.Element:
    """The list without the namespace, which servers spell differently."""
    try:
        return ElementTree.fromstring(re.sub(rb'\sxmlns="[^"]*"', b"", body, count=1))
    except ElementTree.ParseError as error:
        raise Failed(f"{place.endpoint} does not answer as an S3 server: {error}") from error


def time_of(item: ElementTree.Element) -> int:
    try:
        return int(datetime.fromisoformat(item.findtext("LastModified", "")).timestamp()) * 10**9
    except ValueError:
        return 0


def mark_of(item: ElementTree.Element) -> str:
    return item.findtext("ETag", "").strip('"')

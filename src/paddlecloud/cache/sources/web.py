"""One file behind an HTTP(S) address as a source; an archive is fetched and stands for what is in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ...errors import Failed
from ..engine import Unfit
from ..paths import exact
from .archives import is_archive, unpack
from .folder import Folder
from .requests import Requests, basic, refused
from .source import Address, Entry, Source

KEPT_FREE = 64 << 20


def web(address: Address, scratch: Path, check: Callable[[], None]) -> Source:
    page = Page(address)
    if not is_archive(page.name):
        return page
    archive = scratch / "archive" / page.name
    archive.parent.mkdir(parents=True)
    fetch(page, archive, check)
    unpack(archive, scratch / "unpacked", shutil.disk_usage(scratch).free - KEPT_FREE, check)
    archive.unlink()
    return Folder((scratch / "unpacked").resolve())


def fetch(page: Page, to: Path, check: Callable[[], None]) -> None:
    [entry] = page.entries()
    with to.open("wb") as written:
        for chunk in page.chunks(entry):
            check()
            written.write(chunk)
        size = written.tell()
    if size != entry.size:
        raise Failed(f"{page.shown} broke off after {size} of {entry.size} bytes")
    os.utime(to, ns=(entry.time_ns, entry.time_ns))


class Page:
    """A single file."""

    def __init__(self, address: Address) -> None:
        self.shown, self._url = address.shown, address.uri
        self.name = unquote(urlsplit(address.uri).path).rpartition("/")[2]
        exact(self.name)
        self._requests = Requests(address.uri)
        self._headers = basic(address.keys)

    def entries(self) -> Iterator[Entry]:
        yield described(self._requests, self._url, self._headers, self.name)

    def folders(self) -> Iterator[str]:
        return iter(())

    def chunks(self, entry: Entry) -> Iterator[bytes]:
        return self._requests.chunks(self._url, self._headers)

    def delete(self, entry: Entry) -> None:
        raise Unfit(
            f"files behind {urlsplit(self._url).scheme}:// cannot be deleted",
            next_step="leave out delete-src",
        )


def described(requests: Requests, url: str, headers: dict[str, str], name: str) -> Entry:
    """The file at *url* as its server tells of it, to be called *name*."""
    # Of the length of a packed answer nothing follows for the file.
    answer = requests.ask("HEAD", url, {"Accept-Encoding": "identity", **headers})
    at = urlsplit(url)
    if answer.status != 200:
        raise refused(requests.host, answer.status, at.path)
    if urlsplit(answer.geturl() or "").path == f"{at.path}/":
        raise Unfit(f"{at.path} at {requests.host} is a folder", next_step="write it with a slash at the end")
    try:
        size = int(answer.headers["Content-Length"])
    except (KeyError, ValueError):
        raise Unfit(f"{requests.host} does not say how long the file {at.path} is") from None
    return Entry(name, size, time_of(answer.headers.get("Last-Modified", "")), answer.headers.get("ETag", ""))


def time_of(text: str) -> int:
    """An HTTP date in nanoseconds; 0 for none."""
    try:
        return int(parsedate_to_datetime(text).timestamp()) * 10**9
    except ValueError:
        return 0

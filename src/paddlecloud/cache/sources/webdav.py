"""A WebDAV folder as a source: `webdav://host[:port]/folder`, over HTTP unless the port is 443.

Folders are asked for one by one: many servers refuse to list all below one.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote, unquote, urlsplit
from xml.etree import ElementTree

from ...errors import Failed
from ..paths import exact
from .requests import Requests, basic, refused
from .source import Address, Entry
from .web import time_of

ASKED = b"""<?xml version="1.0"?><propfind xmlns="DAV:"><prop>
<resourcetype/><getcontentlength/><getlastmodified/><getetag/></prop></propfind>"""


class WebDav:
    def __init__(self, address: Address) -> None:
        parts = urlsplit(address.uri)
        secure = (parts.scheme == "webdavs" or parts.port == 443) and not address.no_https
        self._server = f"{'https' if secure else 'http'}://{parts.netloc.rpartition('@')[2]}"
        self._root = "/" + unquote(parts.path).strip("/")
        self._requests = Requests(self._server)
        self._headers = basic(address.keys)
        self._single = False
        """The source is one file; known after the listing."""

    def entries(self) -> Iterator[Entry]:
        waiting, seen = [self._root], {self._root}
        while waiting:
            for path, size, element in self._members(waiting.pop()):
                if size is None:
                    if path not in seen:
                        seen.add(path)
                        waiting.append(path)
                    continue
                self._single = path == self._root
                name = path.rpartition("/")[2] if self._single else path[len(self._root.rstrip("/")) + 1 :]
                time = time_of(element.findtext(".//{DAV:}getlastmodified", ""))
                yield Entry(exact(name), size, time, element.findtext(".//{DAV:}getetag", ""))

    def folders(self) -> Iterator[str]:
        return iter(())

    def chunks(self, entry: Entry) -> Iterator[bytes]:
        return self._requests.chunks(self._url(self._path(entry)), self._headers)

    def delete(self, entry: Entry) -> None:
        answer = self._requests.ask("DELETE", self._url(self._path(entry)), self._headers)
        if answer.status not in (200, 204, 404):
            raise refused(self._requests.host, answer.status, entry.path)

    def _members(self, folder: str) -> Iterator[tuple[str, int | None, ElementTree.Element]]:
        """What the server lists for *folder*: path, size (None: a folder), and what it says of it."""
        headers = {"Depth": "1", "Content-Type": "application/xml", **self._headers}
        answer = self._requests.ask("PROPFIND", self._url(folder), headers, ASKED)
        if answer.status != 207:
            raise refused(self._requests.host, answer.status, folder)
        try:
            found = ElementTree.fromstring(answer.data)
        except ElementTree.ParseError as error:
            raise Failed(f"{self._requests.host} does not answer as a WebDAV server: {error}") from error
        for element in found.iterfind("{DAV:}response"):
            href = urlsplit(element.findtext("{DAV:}href", "")).path
            path = "/" + unquote(href, errors="surrogateescape").strip("/")
            if not (path == self._root or path.startswith(self._root.rstrip("/") + "/")):
                raise Failed(f"{self._requests.host} lists {path}, which is not below {self._root}")
            is_folder = element.find(".//{DAV:}resourcetype/{DAV:}collection") is not None
            yield (
                path,
                None if is_folder else int(element.findtext(".//{DAV:}getcontentlength", "0")),
                element,
            )

    def _path(self, entry: Entry) -> str:
        return self._root if self._single else f"{self._root.rstrip('/')}/{entry.path}"

    def _url(self, path: str) -> str:
        return self._server + quote(path, safe="/-_.~", errors="surrogateescape")

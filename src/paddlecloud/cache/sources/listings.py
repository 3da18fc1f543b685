"""A folder behind HTTP(S) as a source: `http://host/folder/`, by the page in which a web server lists it.

Of a page only the links to what lies in that very folder count, which all servers write alike: a name, with a
slash at the end for a folder. Whatever leads up, aside or to another host is never followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

from ...errors import Failed
from ..engine import Unfit
from ..paths import exact
from .requests import Requests, basic, refused
from .source import Address, Entry
from .web import described

AT_ONCE = 16
"""Files whose size is asked for at the same time."""
DEEPEST = 32
LONGEST = 64 << 20


class Listing:
    def __init__(self, address: Address) -> None:
        parts = urlsplit(address.uri)
        self.shown = address.shown
        # What follows a question mark would be lost in the names below.
        self._root = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path or "/", "", ""))
        self._requests = Requests(self._root, AT_ONCE)
        self._headers = basic(address.keys)

    def entries(self) -> Iterator[Entry]:
        waiting = [""]
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="sizes") as pool:
            while waiting:
                folder = waiting.pop()
                names = self._names(folder)
                waiting += sorted((folder + name for name in names if name.endswith("/")), reverse=True)
                files = sorted(folder + name for name in names if not name.endswith("/"))
                yield from pool.map(self._entry, files)

    def folders(self) -> Iterator[str]:
        return iter(())

    def chunks(self, entry: Entry) -> Iterator[bytes]:
        return self._requests.chunks(self._url(entry.path), self._headers)

    def delete(self, entry: Entry) -> None:
        raise Unfit("files behind a web server cannot be deleted", next_step="leave out delete-src")

    def _names(self, folder: str) -> set[str]:
        """What lies in *folder*, folders with a slash at the end."""
        if folder.count("/") > DEEPEST:
            raise Failed(
                f"{self.shown} has folders that are more than {DEEPEST} deep: {folder[:80]}…",
                next_step="see whether a folder there leads back to one above it",
            )
        url = self._url(folder)
        answer = self._requests.ask("GET", url, self._headers)
        if answer.status != 200:
            raise refused(self._requests.host, answer.status, urlsplit(url).path)
        if "html" not in answer.headers.get("Content-Type", "") or len(answer.data) > LONGEST:
            raise Unfit(
                f"{self.shown}{folder} is no page that lists a folder",
                next_step="have the server list it, name one file or an archive, or use webdav://",
            )
        return set(names(answer.data.decode(errors="replace"), url))

    def _entry(self, path: str) -> Entry:
        return described(self._requests, self._url(path), self._headers, exact(path))

    def _url(self, path: str) -> str:
        return self._root + quote(os.fsencode(path))


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attributes if name == "href" and value]


def names(page: str, url: str) -> Iterator[str]:
    """Of the links of a *page* at *url* those to what lies in that folder, as names."""
    links = Links()
    links.feed(page)
    links.close()
    here = urlsplit(url)
    for link in links.found:
        try:
            there = urlsplit(urljoin(url, link))
        except ValueError:
            continue
        if (there.scheme, there.netloc, there.query) != (here.scheme, here.netloc, ""):
            continue
        # Servers quote more or fewer characters than we do.
        path, folder = (unquote(part.path, errors="surrogateescape") for part in (there, here))
        name = path.removeprefix(folder)
        inside = path.startswith(folder) and "/" not in name[:-1]
        if inside and name.rstrip("/") not in ("", ".", ".."):
            yield name

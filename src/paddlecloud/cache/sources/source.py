"""What a source is: files with names, sizes and marks by which a change shows, and their bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable
from urllib.parse import urlsplit

from ..engine import Keys, Unfit

CHUNK = 256 << 10
"""Bytes that are read at once: what fits into a core's own cache is written and summed from there."""


class Entry(NamedTuple):
    """One file of a source, as its listing has it."""

    path: str
    """Below the source, fit to be joined to a folder."""
    size: int
    time_ns: int = 0
    """When it was changed last; 0 where the source does not say."""
    mark: str = ""
    """A version or sum of the content in the source's own words; another mark means another content."""
    mode: int = 0
    """Permissions; 0 where the source has none."""


class Source(Protocol):
    """Listed by one thread, read by many. What goes wrong is a `Failed`; an `Unfit` where it stays wrong."""

    def entries(self) -> Iterator[Entry]: ...

    def folders(self) -> Iterator[str]:
        """The folders without files, where the source knows such a thing."""

    def chunks(self, entry: Entry) -> Iterator[bytes]: ...

    def delete(self, entry: Entry) -> None: ...


@runtime_checkable
class Parted(Protocol):
    """A source that also gives the bytes of a file from one place to another."""

    def part(self, entry: Entry, begin: int, end: int, room: memoryview) -> Iterator[bytes | memoryview]:
        """Each piece lies in *room*, if the source likes, until the next is asked for.

        Raises `Failed` where it is seen that the file is not the listed one any more.
        """


@dataclass(frozen=True)
class Address:
    """A source as the user named it, and what opens it."""

    uri: str
    keys: Keys | None = None
    no_https: bool = False

    @property
    def scheme(self) -> str:
        return urlsplit(self.uri).scheme

    @property
    def shown(self) -> str:
        """The address for messages: without anything that could be a secret."""
        parts = urlsplit(self.uri)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def without_password(self) -> Address:
        """Itself. Raises `Unfit` for keys in the address, which would be read by whoever sees the object."""
        if ":" in urlsplit(self.uri).netloc.rpartition("@")[0]:
            raise Unfit(
                f"the source {self.shown} has a password in its address",
                next_step="put access-key and secret-key into a Secret and name it as source.secretRef",
            )
        return self

"""The strings of a Redis database as a source: `redis://host[:port][/db[/prefix]]`, keys as paths.

Redis tells neither time nor version of a value: each sync reads all of them.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedRWPair
from typing import Any
from urllib.parse import unquote, urlsplit

from ...errors import Failed
from ..engine import Unfit
from ..paths import exact
from .source import Address, Entry

PATIENCE = 30


class Refusal(Exception):
    """An error that the server answered."""


Reply = bytes | int | list[Any] | Refusal | None


class Redis:
    def __init__(self, address: Address) -> None:
        parts = urlsplit(address.uri)
        database, _, prefix = unquote(parts.path).strip("/").partition("/")
        if not parts.hostname or not (database or "0").isdigit():
            raise Unfit(
                f"{address.shown} names no Redis database", next_step="write redis://HOST:PORT/NUMBER"
            )
        self._at = parts.hostname, parts.port or 6379
        self._secure = parts.scheme == "rediss"
        self._root = f"{prefix}/" if prefix else ""
        self._opening: list[Sequence[bytes]] = []
        if address.keys and address.keys.secret:
            user = [address.keys.access.encode()] if address.keys.access else []
            self._opening.append([b"AUTH", *user, address.keys.secret.encode()])
        self._opening.append([b"SELECT", (database or "0").encode()])
        self._own = threading.local()
        self._streams: list[BufferedRWPair] = []

    def entries(self) -> Iterator[Entry]:
        cursor, seen = b"0", set[bytes]()
        pattern = b"".join(b"\\" + c if c in b"*?[]\\" else c for c in split(self._root.encode())) + b"*"
        while True:
            answer = self._one(b"SCAN", cursor, b"MATCH", pattern, b"COUNT", b"1000")
            assert isinstance(answer, list) and isinstance(answer[1], list)
            # A scan may give a key twice.
            keys = [key for key in answer[1] if isinstance(key, bytes) and key not in seen]
            seen.update(keys)
            for key, size in zip(keys, self._ask([[b"STRLEN", key] for key in keys]), strict=True):
                # Lists, hashes and the like are no files: the server refuses to tell their length.
                if isinstance(size, int):
                    yield Entry(exact(key.decode(errors="surrogateescape").removeprefix(self._root)), size)
            cursor = answer[0] if isinstance(answer[0], bytes) else b"0"
            if cursor == b"0":
                return

    def folders(self) -> Iterator[str]:
        return iter(())

    def chunks(self, entry: Entry) -> Iterator[bytes]:
        value = self._one(b"GET", self._key(entry))
        if not isinstance(value, bytes):
            raise Failed(f"{entry.path} went away at the source while it was copied")
        yield value

    def delete(self, entry: Entry) -> None:
        self._one(b"DEL", self._key(entry))

    def close(self) -> None:
        while self._streams:
            self._streams.pop().close()

    def _key(self, entry: Entry) -> bytes:
        return (self._root + entry.path).encode(errors="surrogateescape")

    def _one(self, *command: bytes) -> Reply:
        [answer] = self._ask([command])
        if isinstance(answer, Refusal):
            raise self._refused(answer)
        return answer

    def _ask(self, commands: Sequence[Sequence[bytes]]) -> list[Reply]:
        with self._sentences():
            return exchange(self._stream(), commands)

    def _stream(self) -> BufferedRWPair:
        """The connection of this thread."""
        if not hasattr(self._own, "stream"):
            connection = socket.create_connection(self._at, timeout=PATIENCE)
            if self._secure:
                connection = ssl.create_default_context().wrap_socket(connection, server_hostname=self._at[0])
            stream = connection.makefile("rwb")
            # The stream keeps the connection open, and closes it with itself.
            connection.close()
            for answer in exchange(stream, self._opening):
                if isinstance(answer, Refusal):
                    stream.close()
                    raise self._refused(answer)
            self._own.stream = stream
            self._streams.append(stream)
        found: BufferedRWPair = self._own.stream
        return found

    def _refused(self, answer: Refusal) -> Failed:
        said, where = str(answer), f"{self._at[0]}:{self._at[1]}"
        if said.startswith(("NOAUTH", "WRONGPASS", "ERR AUTH", "ERR invalid password")):
            return Failed(
                f"{where} refuses these keys: {said}",
                next_step="check access-key (user) and secret-key (password) in the Secret of the source",
            )
        return Failed(f"{where} answered: {said}")

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError) as error:
            self._own.__dict__.clear()
            why = getattr(error, "strerror", None) or str(error) or "the connection ended"
            raise Failed(f"{self._at[0]}:{self._at[1]} cannot be reached: {why}") from error


def exchange(stream: BufferedRWPair, commands: Sequence[Sequence[bytes]]) -> list[Reply]:
    """Send all, then read an answer to each."""
    for command in commands:
        stream.write(
            b"*%d\r\n" % len(command) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in command)
        )
    stream.flush()
    return [reply(stream) for _ in commands]


def reply(stream: BufferedRWPair) -> Reply:
    line = stream.readline()
    kind, rest = line[:1], line[1:].rstrip(b"\r\n")
    if kind == b"+":
        return rest
    if kind == b"-":
        return Refusal(rest.decode(errors="replace"))
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return None if rest == b"-1" else stream.read(int(rest) + 2)[:-2]
    if kind == b"*":
        return [reply(stream) for _ in range(int(rest))]
    raise EOFError("the server does not speak as Redis does" if line else "the connection ended")


def split(text: bytes) -> list[bytes]:
    return [text[i : i + 1] for i in range(len(text))]

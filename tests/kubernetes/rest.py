"""A client that hides nothing: status codes, headers and bodies as they came over the wire.

It never retries, never follows a redirect and never raises for a status: that is for the test to judge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import urllib3

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
SILENCE = 15.0
"""Seconds without an event after which a watch counts as broken."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    def expect(self, status: int) -> Any:
        """The body, after a look at the status; the whole answer is shown when it is another one."""
        assert self.status == status, f"wanted {status}, got {self.status}: {self.text[:2000]}"
        return self.body

    @property
    def version(self) -> str:
        """The resourceVersion of the object or of the list."""
        return str(self.body["metadata"]["resourceVersion"])


class Event(NamedTuple):
    type: str
    object: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.object["metadata"].get("name", ""))

    @property
    def version(self) -> str:
        return str(self.object["metadata"]["resourceVersion"])


@dataclass
class Rest:
    """One API server, as seen by the holder of one token or of one certificate."""

    server: str
    ca: str
    token: str = field(repr=False)
    certificate: Path | None = None
    """A file with a client certificate and its key."""
    _pool: urllib3.PoolManager = field(init=False, repr=False)

    def __post_init__(self) -> None:
        shown: dict[str, Any] = {"cert_file": str(self.certificate)} if self.certificate else {}
        self._pool = urllib3.PoolManager(
            ca_cert_data=self.ca, retries=False, timeout=30.0, maxsize=8, **shown
        )

    def holding(self, token: str) -> Rest:
        """The same server, as seen by the holder of another token, or of none."""
        return Rest(self.server, self.ca, token)

    def close(self) -> None:
        self._pool.clear()

    def get(self, path: str, **query: Any) -> Answer:
        return self.send("GET", path, query=query)

    def get_as(self, accept: str, path: str, **query: Any) -> Answer:
        """The answer in the form that *accept* asks for."""
        return self.send("GET", path, query=query, headers={"Accept": accept})

    def post(self, path: str, body: Any, **query: Any) -> Answer:
        return self.send("POST", path, body, query=query)

    def put(self, path: str, body: Any, **query: Any) -> Answer:
        return self.send("PUT", path, body, query=query)

    def merge(self, path: str, body: Any, **query: Any) -> Answer:
        return self.send("PATCH", path, body, query=query, headers={"Content-Type": MERGE_PATCH})

    def json_patch(self, path: str, body: Any, **query: Any) -> Answer:
        return self.send("PATCH", path, body, query=query, headers={"Content-Type": JSON_PATCH})

    def delete(self, path: str, body: Any = None, **query: Any) -> Answer:
        return self.send("DELETE", path, body, query=query)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Any request; a body that is text goes out as it is, everything else as JSON."""
        data = body if isinstance(body, str | bytes | None) else json.dumps(body)
        url = self._url(path, query or {})
        answer = self._pool.request(
            method, url, body=data, headers=self._headers(headers or {}), redirect=False
        )
        return Answer(answer.status, answer.headers, answer.data.decode())

    @contextmanager
    def watch(self, path: str, **query: Any) -> Iterator[Iterator[Event]]:
        """The events of a watch, as they come; a silence of `SILENCE` seconds is an error."""
        answer = self._pool.request(
            "GET",
            self._url(path, {"watch": "true", **query}),
            headers=self._headers({}),
            preload_content=False,
            timeout=urllib3.Timeout(connect=5.0, read=SILENCE),
        )
        try:
            assert answer.status == 200, f"the watch was refused: {answer.data.decode()[:2000]}"
            yield events(answer)
        finally:
            answer.close()

    def _url(self, path: str, query: Mapping[str, Any]) -> str:
        return f"{self.server}{path}" + (f"?{urlencode(query)}" if query else "")

    def _headers(self, own: Mapping[str, str]) -> dict[str, str]:
        token = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {"Accept": JSON, "Content-Type": JSON, "User-Agent": "contracts/1", **token, **own}


def events(answer: urllib3.BaseHTTPResponse) -> Iterator[Event]:
    rest = b""
    while chunk := answer.read1():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                event = json.loads(line)
                yield Event(event["type"], event["object"])
    assert not rest.strip(), f"the watch ended in the middle of an event: {rest[:200]!r}"

"""What a revision did since the gateway first asked it, and the annotation that tells controllers of it.

Only services that try a canary are told of, and only when something was counted: a platform at rest writes
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

import orjson

from .. import log
from ..api.knative import Revision
from ..api.meta import Key
from ..cluster.client import Client
from ..controllers.servinggates import LIMITS, TALLY, place_of
from ..errors import NotFound, PaddleCloudError
from .routes import Table

EVERY = 2.0
FAILED = 500
"""The status from which on an answer is the server's failure."""


class Tally:
    """Numbers that only grow."""

    def __init__(self) -> None:
        self.requests = self.errors = self.compared = self.different = 0
        self.times = [0] * (len(LIMITS) + 1)

    def answered(self, status: int, seconds: float) -> None:
        self.requests += 1
        self.errors += status >= FAILED
        self.times[place_of(seconds * 1000)] += 1

    def compare(self, same: bool) -> None:
        self.compared += 1
        self.different += not same

    def text(self) -> str:
        told = {
            name: getattr(self, name) for name in ("requests", "errors", "times", "compared", "different")
        }
        return orjson.dumps(told).decode()


class Counted(Protocol):
    @property
    def tally(self) -> Tally: ...


def tried(table: Table) -> Iterator[Key]:
    """The revisions whose numbers somebody waits for."""
    for key, targets in table.services.items():
        if table.canary(key) is not None:
            yield from (t.revision for t in targets)


async def tell(client: Client, table: Callable[[], Table], lanes: Mapping[Key, Counted]) -> None:
    """Write what is counted to the revisions it is about, until cancelled."""
    told: dict[Key, str] = {}
    while True:
        await asyncio.sleep(EVERY)
        try:
            current = set(tried(table()))
            told = {key: text for key, text in told.items() if key in current}
            for key in current & lanes.keys():
                text = lanes[key].tally.text()
                if lanes[key].tally.requests and told.get(key) != text:
                    await client.patch(Revision, key, {"metadata": {"annotations": {TALLY: text}}})
                    told[key] = text
        except NotFound:
            continue  # gone since the table was made
        except PaddleCloudError as error:
            log.logger("gateway").warning("what is counted is told later: %s", error.message)

"""Keeping a volume in step with its source: try, report, and try again while that could help.

The state is replaced as a whole at each step, by the one thread that works; anybody may read it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .. import log
from ..errors import Failed
from . import index
from .engine import Amount, Contents, Engine, Report, Unfit
from .local import LocalEngine
from .status import Phase, State

_log = log.logger("cache")


class Stopped(Exception):
    """The runtime ends; raised into the working thread."""


@dataclass(frozen=True)
class Wish:
    """What the volume should hold."""

    source: str
    volume: Path
    copy: bool = True
    """False: the data was put there by somebody else and is only verified."""


class Keeper:
    """Works until the volume holds what is wished; `state` says how far it is."""

    def __init__(
        self,
        wish: Wish,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[int], float] = lambda failures: min(60.0, 2.0 ** min(failures, 6) / 2),
    ) -> None:
        self.wish = wish
        self.state = State(message="looking at the files", since=clock())
        self.engine: Engine = LocalEngine(wish.volume)
        self._clock, self._pause = clock, pause
        self._stopped = False

    async def run(self) -> None:
        """Return when the data is there, or never will be."""
        failures = 0
        while True:
            # A failure stays told until there is something better to tell.
            self.state = replace(self.state, amount=Amount(), since=self._clock())
            try:
                contents = await asyncio.to_thread(self.attempt)
            except Unfit as error:
                self._failed(sentence(error))
                return
            except Failed as error:
                failures += 1
                wait = self._pause(failures)
                self._failed(f"{sentence(error)}; trying again in {wait:.0f} s")
                await asyncio.sleep(wait)
            except Stopped:
                return
            else:
                self.state = State(Phase.SYNCED, f"{len(contents.files)} files verified", contents=contents)
                _log.info("synced: %s", self.state.message)
                return

    def attempt(self) -> Contents:
        """Have the data in the volume. What an earlier run recorded needs no source to be found good."""
        report: Report = self._report
        if not self.wish.copy:
            contents = self.engine.verify(report)
            if not contents.files:
                raise Failed(f"the volume {self.wish.volume} is empty", next_step="put the samples there")
            return contents
        recorded = index.read(self.wish.volume)
        if recorded is not None and recorded.source == self.wish.source:
            try:
                return self.engine.verify(report)
            except Failed as error:
                _log.warning("syncing again: %s", error.message)
        return self.engine.sync(self.wish.source, report)

    def stop(self) -> None:
        """End the work under way at its next step."""
        self._stopped = True

    def _report(self, amount: Amount) -> None:
        if self._stopped:
            raise Stopped
        message = f"{amount.files} of {amount.total_files} files"
        self.state = replace(self.state, phase=Phase.SYNCING, amount=amount, message=message)

    def _failed(self, message: str) -> None:
        self.state = replace(self.state, phase=Phase.FAILED, message=message)
        _log.warning("%s", message)


def sentence(error: Failed) -> str:
    return f"{error.message}: {error.next_step}" if error.next_step else error.message

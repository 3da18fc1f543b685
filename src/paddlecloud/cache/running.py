"""Running the operations: one thread works, and anybody may ask how far it is.

What was begun and not ended when the process stops stays recorded as running, and is begun again.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .. import log
from ..errors import Failed, PaddleCloudError
from ..sizes import count, size
from .engine import Amount, Cancelled, Outcome, Run, Unfit
from .operations import Ledger, Operation, Status
from .sourcewatch import SourceWatch, watched

_log = log.logger("cache")
PAUSE = 5.0
Deed = Callable[[str, dict[str, Any], Run], Outcome]


class Progress:
    """One run, as the worker tells it and others read it."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.amount = Amount()
        self.ended = ""
        """Why it is to end; empty while it is not."""

    def report(self, amount: Amount) -> None:
        self.amount = amount

    def check(self) -> None:
        if self.ended:
            raise Cancelled(self.ended)


@dataclass(frozen=True)
class Looked:
    """What the look at the volume at the start found; empty where all is right."""

    wrong: str = ""


class Operations:
    """The queue of one runtime, in one event loop."""

    def __init__(
        self,
        ledger: Ledger,
        deed: Deed,
        verify: Callable[[Run], Outcome],
        clock: Callable[[], float] = time.monotonic,
        watch: SourceWatch | None = None,
    ) -> None:
        self.ledger = ledger
        self.running: Operation | None = None
        self.verifying = False
        self.looked = Looked()
        self.progress: Progress | None = None
        self.ended = 0
        """How many have ended: whoever keeps what they saw looks again when it grows."""
        self.watch = watch or SourceWatch(lambda *_: None, every=0)
        self._listing: Progress | None = None
        self._deed, self._verify, self._clock = deed, verify, clock
        self._news = asyncio.Event()
        self._stopping = False

    def submit(self, kind: str, id: str, options: dict[str, Any]) -> Operation:
        operation = self.ledger.add(kind, id, options)
        aside = self.progress if self.verifying else self._listing
        if aside is not None and not operation.status.final:
            # Reading a large volume takes hours: it is begun again when there is nothing else to do.
            aside.ended = "an operation came"
        self._news.set()
        return operation

    def terminate(self) -> None:
        """Cancel what runs and what waits."""
        self.ledger.cancel_waiting()
        if self.running is not None and self.progress is not None:
            self.progress.ended = "cancelled"

    def stop(self) -> None:
        """End the work under way at its next step, to be begun again by the next process."""
        self._stopping = True
        for under_way in (self.progress, self._listing):
            if under_way is not None:
                under_way.ended = "the runtime ends"
        self._news.set()

    async def run(self) -> None:
        """Work until stopped; in the first pause look at what is there."""
        looked = False
        while not self._stopping:
            self._news.clear()
            waiting = self.ledger.waiting()
            if waiting:
                await self._carry_out(waiting[0])
            elif not looked:
                looked = await self._look()
            else:
                await self._idle()

    async def _idle(self) -> None:
        """Wait for news; when it is time, see how the source is."""
        try:
            async with asyncio.timeout(self.watch.left()):
                await self._news.wait()
        except TimeoutError:
            before, self._listing = self.watch.sight, Progress(self._clock())
            syncs = watched(self.ledger.succeeded("sync"))
            try:
                with contextlib.suppress(Cancelled):
                    await asyncio.to_thread(self.watch.look, syncs, self._listing)
            finally:
                self._listing = None
            if self.watch.sight != before and self.watch.sight.message:
                print(self.watch.sight.message, flush=True)

    async def _look(self) -> bool:
        """Whether it came to an end."""
        self.verifying = True
        self.progress = progress = Progress(self._clock())
        try:
            found = await asyncio.to_thread(self._verify, progress)
            print(f"looked at what is here: {count(found.files)} files, {size(found.bytes)}", flush=True)
        except Cancelled:
            return False
        except PaddleCloudError as error:
            self.looked = Looked(sentence(error))
            _log.warning("the volume is not as it was synced: %s", self.looked.wrong)
        finally:
            self.verifying, self.progress = False, None
            self.ended += 1
        return True

    async def _carry_out(self, operation: Operation) -> None:
        self.progress = progress = Progress(self._clock())
        try:
            self.running = self.ledger.put(replace(operation, status=Status.RUNNING))
            ended = await self._tried(self.running, progress)
            if not self._stopping or ended.status is Status.SUCCESS:
                self.ledger.put(ended)
                if ended.leaves and ended.status is Status.SUCCESS:
                    self.ledger.forget_before(ended)
                # For who reads the log of the pod, whatever the level of ours.
                print(f"{ended.kind} {ended.id}: {told(ended)}", flush=True)
        except Failed as error:
            # The disk takes no note of it: the operation stays as it was, and is tried again.
            _log.error("%s", sentence(error))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), PAUSE)
        finally:
            self.running, self.progress = None, None
            self.ended += 1

    async def _tried(self, operation: Operation, progress: Progress) -> Operation:
        try:
            outcome = await asyncio.to_thread(self._deed, operation.kind, operation.options, progress)
        except Cancelled as error:
            return self._with(operation, progress, Status.CANCELLED, message=error.message)
        except PaddleCloudError as error:
            unfit = isinstance(error, Unfit)
            return self._with(operation, progress, Status.FAIL, message=sentence(error), unfit=unfit)
        except Exception as error:
            # A defect of ours must not stop the queue; what it was is in the log.
            _log.exception("%s %s", operation.kind, operation.id)
            return self._with(
                operation, progress, Status.FAIL, message=f"defect: {type(error).__name__}: {error}"
            )
        if operation.kind in ("sync", "warmup"):
            self.looked = Looked()
        if operation.kind == "sync":
            self.watch.synced()
        return self._with(operation, progress, Status.SUCCESS, outcome=outcome)

    def _with(self, operation: Operation, progress: Progress, status: Status, **said: Any) -> Operation:
        return replace(operation, status=status, seconds=self._clock() - progress.began, **said)


def told(operation: Operation) -> str:
    """How an operation ended, in a line of the pod's log."""
    if operation.status is not Status.SUCCESS:
        return f"{operation.status}: {operation.message}" if operation.message else str(operation.status)
    done = operation.outcome
    deeds = {"copied": done.copied, "left as they were": done.skipped, "deleted": done.deleted}
    parts = [f"{count(number)} {deed}" for deed, number in deeds.items() if number]
    files = f"{count(done.files)} files, {size(done.bytes)}"
    return f"success in {operation.seconds:.1f} s: {'; '.join((files, *parts))}"


def sentence(error: PaddleCloudError) -> str:
    return f"{error.message}: {error.next_step}" if error.next_step else error.message

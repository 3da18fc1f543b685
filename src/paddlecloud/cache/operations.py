"""The operations of a runtime: one at a time in the order they came, and none is forgotten.

Each is a file of its own, replaced as a whole, with its options and its result: after a restart the one that
was running is begun again. Of the finished ones the newest fifty stay.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from ..errors import Failed, WrongUse
from .engine import Outcome
from .options import KINDS, LEAVE

KEPT = 50
ID = re.compile(r"[a-z0-9-]{1,64}")
NAME = re.compile(rf"(\d{{12}})\.({'|'.join(KINDS)})\.({ID.pattern})\.json")


class Status(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCESS = "success"
    FAIL = "fail"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        return self not in (Status.QUEUED, Status.RUNNING)


@dataclass(frozen=True)
class Operation:
    number: int
    kind: str
    id: str
    options: dict[str, Any]
    status: Status = Status.QUEUED
    message: str = ""
    unfit: bool = False
    """It failed, and would again."""
    outcome: Outcome = field(default_factory=Outcome)
    seconds: float = 0.0

    @property
    def leaves(self) -> bool:
        return self.kind == "clear" and bool(self.options.get(LEAVE))

    def result(self, progress: dict[str, Any] | None) -> dict[str, Any]:
        """What `/…Result/<id>` answers."""
        done = self.outcome
        return {
            "status": self.status,
            "message": self.message,
            "unfit": self.unfit,
            "progress": progress,
            "stats": {
                "files": done.files,
                "bytes": done.bytes,
                "copied": done.copied,
                "skipped": done.skipped,
                "deleted": done.deleted,
                "seconds": round(self.seconds, 3),
            },
            **({"measured": done.measured} if done.measured else {}),
        }


class Ledger:
    """The operations of one runtime, on its disk; used by one thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob("*.part"):
            stale.unlink()
        found = filter(None, map(read, folder.iterdir()))
        # What ran when the process ended waits again, at the head of the queue.
        again = (op if op.status.final else replace(op, status=Status.QUEUED) for op in found)
        self._all = {(op.kind, op.id): op for op in sorted(again, key=number)}

    def add(self, kind: str, id: str, options: dict[str, Any]) -> Operation:
        """The operation of that id, new or as it is. Raises `WrongUse` for an id that is none."""
        if not ID.fullmatch(id):
            raise WrongUse(f"{id[:80]!r} is no id", next_step="use up to 64 of a-z, 0-9 and -")
        if there := self.find(kind, id):
            return there
        last = max((op.number for op in self._all.values()), default=0)
        return self.put(Operation(last + 1, kind, id, options))

    def find(self, kind: str, id: str) -> Operation | None:
        return self._all.get((kind, id))

    def put(self, operation: Operation) -> Operation:
        write(self._folder, operation)
        self._all[operation.kind, operation.id] = operation
        for old in superfluous(self._all.values()):
            file_of(self._folder, old).unlink(missing_ok=True)
            del self._all[old.kind, old.id]
        return operation

    def waiting(self) -> list[Operation]:
        """Those to be run, the one that was cut off first."""
        return [op for op in self._all.values() if not op.status.final]

    def newest(self, kind: str) -> Operation | None:
        """The one of that kind that ended last."""
        return max(
            (op for op in self._all.values() if op.kind == kind and op.status.final), key=number, default=None
        )

    def forget_before(self, operation: Operation) -> None:
        """Forget what ended before *operation*: what it did is not there any more."""
        for old in [op for op in self._all.values() if op.status.final and op.number < operation.number]:
            file_of(self._folder, old).unlink(missing_ok=True)
            del self._all[old.kind, old.id]

    @property
    def left(self) -> bool:
        """Whether the last thing done here was to drop everything for good."""
        last = max(self._all.values(), key=number, default=None)
        return last is not None and last.leaves and last.status is Status.SUCCESS

    def succeeded(self, kind: str) -> list[Operation]:
        """Those of that kind, the oldest first."""
        return [op for op in self._all.values() if op.kind == kind and op.status is Status.SUCCESS]

    def cancel_waiting(self) -> None:
        for op in self.waiting():
            if op.status is Status.QUEUED:
                self.put(replace(op, status=Status.CANCELLED, message="cancelled before it began"))


def number(operation: Operation) -> int:
    return operation.number


def superfluous(operations: Iterable[Operation]) -> list[Operation]:
    """All but the newest, and but the last sync from each source, by which its changes are seen."""
    final = sorted((op for op in operations if op.status.final), key=number)
    last = {op.options.get("source"): op for op in final if op.kind == "sync" and op.status is Status.SUCCESS}
    return [op for op in final[:-KEPT] if op not in last.values()]


def file_of(folder: Path, operation: Operation) -> Path:
    return folder / f"{operation.number:012d}.{operation.kind}.{operation.id}.json"


def write(folder: Path, operation: Operation) -> None:
    file = file_of(folder, operation)
    part = file.with_suffix(".part")
    try:
        with part.open("wb") as written:
            written.write(orjson.dumps(asdict(operation)))
            written.flush()
            # Not for a result: the disk may first have to take what was copied. Should a power cut take it,
            # the operation is begun again and finds everything done.
            if not operation.status.final:
                os.fsync(written.fileno())
        os.replace(part, file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Failed(
            f"{file} cannot be written: {error.strerror}", next_step="free space on that disk"
        ) from error


def read(file: Path) -> Operation | None:
    """The operation in *file*; None for a file that is none."""
    if not NAME.fullmatch(file.name):
        return None
    try:
        said = orjson.loads(file.read_bytes())
        outcome, status = Outcome(**said.pop("outcome")), Status(said.pop("status"))
        return Operation(**said, outcome=outcome, status=status)
    except (OSError, ValueError, KeyError, TypeError):
        return None

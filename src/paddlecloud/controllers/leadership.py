"""One of several replicas leads: whoever holds the Lease works, the others wait.

The decision is pure. A lease is believed to be abandoned only after it was *seen* unchanged for its whole
duration: clocks of other machines are never compared with ours. Every write names the revision it was
decided on, so of two candidates one gets `Conflict`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

from .. import log
from ..api.lease import Lease, LeaseSpec
from ..api.meta import Key, Metadata
from ..cluster.client import Client
from ..errors import AlreadyExists, Conflict, Failed, NotFound, PaddleCloudError

DURATION = 15  # seconds a lease holds
ASK_EVERY = 2.0
RENEW_EVERY = 5.0
GIVE_UP_AFTER = 10.0  # a leader that cannot renew stops well before others may take over
LOG = log.logger("controllers.leadership")


class Move(Enum):
    TAKE = "take"
    RENEW = "renew"
    WAIT = "wait"


def decide(lease: Lease | None, me: str, unchanged_for: float) -> Move:
    """What to do about a lease that has looked the same for that many seconds."""
    if lease is None or not lease.spec.holder_identity:
        return Move.TAKE
    if lease.spec.holder_identity == me:
        return Move.RENEW
    return Move.TAKE if unchanged_for >= lease.spec.lease_duration_seconds else Move.WAIT


def held(lease: Lease | None, me: str, now: datetime) -> LeaseSpec:
    """The lease as it is while *me* holds it."""
    stamp = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    old = lease.spec if lease else LeaseSpec()
    mine = old.holder_identity == me
    return LeaseSpec(
        holder_identity=me,
        lease_duration_seconds=DURATION,
        acquire_time=old.acquire_time if mine else stamp,
        renew_time=stamp,
        lease_transitions=old.lease_transitions + (0 if mine or lease is None else 1),
    )


@dataclass(frozen=True)
class Candidate:
    client: Client
    lease: Key
    me: str
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    clock: Callable[[], float] = time.monotonic
    pause: float = ASK_EVERY
    """Seconds between two attempts to take the lease, or to renew one that could not be renewed."""
    renew_every: float = RENEW_EVERY


async def lead(candidate: Candidate, work: Callable[[], Awaitable[None]]) -> None:
    """Wait for the lease, then run *work* while it is held. Raises `Failed` when it is lost."""
    lease = await acquire(candidate)
    LOG.info("%s leads (lease %s)", candidate.me, candidate.lease)
    tasks = [asyncio.ensure_future(work()), asyncio.ensure_future(keep(candidate, lease))]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Others need not wait for a lease that nobody wants any more.
        with suppress(PaddleCloudError):
            await release(candidate)


async def acquire(candidate: Candidate) -> Lease:
    seen: tuple[str, float] = ("", candidate.clock())
    while True:
        with suppress(Conflict, AlreadyExists):
            lease = await candidate.client.find(Lease, *candidate.lease)
            version = lease.metadata.resource_version if lease else ""
            if version != seen[0]:
                seen = version, candidate.clock()
            if decide(lease, candidate.me, candidate.clock() - seen[1]) is not Move.WAIT:
                return await write(candidate, lease)
        await asyncio.sleep(candidate.pause)


async def keep(candidate: Candidate, lease: Lease) -> None:
    """Renew until it is lost."""
    renewed, pause = candidate.clock(), candidate.renew_every
    while True:
        await asyncio.sleep(pause)
        try:
            lease = await renew(candidate, lease)
            renewed, pause = candidate.clock(), candidate.renew_every
        except Failed:
            raise
        except PaddleCloudError as error:
            pause = min(candidate.pause, candidate.renew_every)
            if candidate.clock() - renewed > GIVE_UP_AFTER:
                raise Failed(f"the lease {candidate.lease} could not be renewed: {error.message}") from error


async def renew(candidate: Candidate, lease: Lease) -> Lease:
    """Write it again; only where somebody else has written it meanwhile it is read before."""
    with suppress(Conflict, NotFound):
        return await write(candidate, lease)
    found = await candidate.client.find(Lease, *candidate.lease)
    if decide(found, candidate.me, 0.0) is Move.WAIT:
        raise Failed(f"the lease {candidate.lease} was taken over: this replica stops")
    return await write(candidate, found)


async def write(candidate: Candidate, lease: Lease | None) -> Lease:
    spec = held(lease, candidate.me, candidate.now())
    metadata = Metadata(name=candidate.lease.name, namespace=candidate.lease.namespace)
    if lease is None:
        return await candidate.client.create(Lease(metadata=metadata, spec=spec))
    body = {"metadata": {"resourceVersion": lease.metadata.resource_version}, "spec": spec.wire()}
    return await candidate.client.patch(Lease, candidate.lease, body)


async def release(candidate: Candidate) -> None:
    lease = await candidate.client.find(Lease, *candidate.lease)
    if lease is None or lease.spec.holder_identity != candidate.me:
        return
    body = {
        "metadata": {"resourceVersion": lease.metadata.resource_version},
        "spec": {"holderIdentity": "", "leaseDurationSeconds": 1},
    }
    with suppress(NotFound, Conflict):
        await candidate.client.patch(Lease, candidate.lease, body)

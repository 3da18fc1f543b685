"""The autoscaler beside the gateway: looks at every revision from time to time and writes its scale.

The process that sees the requests decides; the scale of the Deployment is the only thing that is kept, so a
gateway that starts anew goes on from the numbers it finds. A held request does not wait for the next look.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from .. import log
from ..api.apps import Deployment
from ..api.knative import REVISION_LABEL, KnativeService, Revision
from ..api.meta import Key
from ..cluster.client import Client
from ..cluster.informer import Informer
from ..errors import PaddleCloudError
from .lanes import Lane, Lanes
from .routes import Table, revision_of
from .scaling import Knobs, Measured, State, begun, decide, knobs_of

TICK = 2.0
SETTLES = 5.0
"""Seconds in which what was written must be back; after that what is read counts."""
_log = log.logger("autoscaler")


@dataclass
class Record:
    """What is remembered of a revision between two looks."""

    state: State
    since: float | None = None
    """When its first pod was seen."""
    written: int = -1
    written_at: float = 0.0


class Autoscaler:
    def __init__(
        self,
        client: Client,
        revisions: Informer[Revision],
        deployments: Informer[Deployment],
        services: Informer[KnativeService],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client, self._clock = client, clock
        self._revisions, self._deployments, self._services = revisions, deployments, services
        self._records: dict[Key, Record] = {}
        self._settings: dict[Key, tuple[str, Knobs]] = {}
        """What a version of a revision asks for: hundreds that rest are looked at every time, too."""
        self._woken: dict[Key, None] = {}
        self._called = asyncio.Event()

    def wake(self, revision: Key) -> None:
        """Somebody waits for a pod of *revision*."""
        self._woken[revision] = None
        self._called.set()

    async def run(self, lanes: Lanes, table: Callable[[], Table]) -> None:
        """Look until cancelled."""
        for informer in (self._revisions, self._deployments, self._services):
            await informer.synced.wait()
        due = self._clock()
        while True:
            try:
                async with asyncio.timeout(max(0.0, due - self._clock())):
                    await self._called.wait()
            except TimeoutError:
                due = self._clock() + TICK
                await self._look(lanes, table())
            self._called.clear()
            await self._start_woken()

    async def _start_woken(self) -> None:
        """All at once: nobody waits for the scale of somebody else."""
        woken, self._woken = list(self._woken), {}
        asleep = [
            (key, deployment)
            for key in woken
            for deployment in self._deployments.labelled(key.namespace, ((REVISION_LABEL, key.name),))
            if self._scale(key, deployment) == 0
        ]
        async with asyncio.TaskGroup() as tasks:
            for key, deployment in asleep:
                tasks.create_task(self._write(key, deployment, max(1, self._knobs(key).least)))

    async def _look(self, lanes: Lanes, table: Table) -> None:
        deployments = {revision_of(d): d for d in self._deployments.all()}
        reachable = self._reachable(table)
        for key in self._records.keys() - deployments.keys():
            del self._records[key]
        for key in self._settings.keys() - deployments.keys():
            del self._settings[key]
        lanes.forget(deployments)
        for key, deployment in deployments.items():
            revision = self._revisions.get(key)
            if revision is None or deployment.metadata.deletion_timestamp is not None:
                continue
            # What looks at processors is an object of the cluster, with a controller of its own.
            if not self._knobs(key).by_requests:
                continue
            if not self._rests(revision, deployment, lanes.lanes.get(key)):
                wanted = self._wanted(revision, deployment, lanes, table, key in reachable)
                if wanted != self._scale(key, deployment):
                    await self._write(key, deployment, wanted)

    def _rests(self, revision: Revision, deployment: Deployment, lane: Lane | None) -> bool:
        """Whether it has no pod, nobody asks for one and nothing else does: there is nothing to compute."""
        if self._scale(revision.key, deployment) or not revision.ready:
            return False
        knobs = self._knobs(revision.key)
        silent = lane is None or lane.meter.silent(self._clock(), knobs.window)
        return silent and not knobs.least

    def _wanted(
        self, revision: Revision, deployment: Deployment, lanes: Lanes, table: Table, reachable: bool
    ) -> int:
        key, now, knobs = revision.key, self._clock(), self._knobs(revision.key)
        scale = self._scale(key, deployment)
        record = self._records.setdefault(key, Record(begun(knobs, scale, now)))
        fleet = table.fleets.get(key)
        ready = len(fleet.backends) if fleet else 0
        record.since = (record.since if record.since is not None else now) if ready else None
        lane = lanes.lanes.get(key)
        average = None if lane is None else lane.meter.rate if knobs.rps else lane.meter.concurrency
        seen = Measured(
            stable=average(now, knobs.window) if average else 0.0,
            panic=average(now, knobs.panic_window) if average else 0.0,
            ready=ready,
            seen_for=now - record.since if record.since is not None else 0.0,
            reachable=reachable,
        )
        verdict = decide(knobs, seen, record.state, now)
        record.state = verdict.state
        if ready or not reachable:
            held = lane is not None and lane.meter.under_way > 0
            return max(verdict.pods, 1) if held else verdict.pods
        if not revision.ready:
            # It has to show that it works before it may rest.
            return max(verdict.pods, scale, 1)
        return max(verdict.pods, scale)

    def _reachable(self, table: Table) -> set[Key]:
        """The revisions that get requests, and those that are being rolled out."""
        routed = {t.revision for targets in table.services.values() for t in targets}
        newest = {
            Key(s.namespace, str(s.status.get("latestCreatedRevisionName") or ""))
            for s in self._services.all()
        }
        return routed | newest

    def _knobs(self, key: Key) -> Knobs:
        revision = self._revisions.get(key)
        if revision is None:
            return Knobs()
        version, knobs = self._settings.get(key, ("", Knobs()))
        if not version or version != revision.metadata.resource_version:
            limit = int(revision.spec.get("containerConcurrency") or 0)
            knobs = knobs_of(revision.metadata.annotations, limit)
            self._settings[key] = str(revision.metadata.resource_version or ""), knobs
        return knobs

    def _scale(self, key: Key, deployment: Deployment) -> int:
        record = self._records.get(key)
        fresh = record is not None and self._clock() - record.written_at < SETTLES
        return record.written if record and fresh and record.written >= 0 else deployment.replicas

    async def _write(self, key: Key, deployment: Deployment, wanted: int) -> None:
        record = self._records.setdefault(key, Record(State()))
        before = self._scale(key, deployment)
        record.written, record.written_at = wanted, self._clock()
        try:
            patch = {"spec": {"replicas": wanted}}
            await self._client.patch(Deployment, deployment.key, patch, subresource="scale")
            _log.info("%s has %d pods now, not %d", key, wanted, before)
        except PaddleCloudError as error:
            record.written = -1
            _log.warning("%s cannot be scaled to %d yet: %s", key, wanted, error.message)

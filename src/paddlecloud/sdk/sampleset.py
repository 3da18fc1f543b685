"""A SampleSet with verbs: made from a URI, submitted, waited for, warmed, synced, cleared, deleted.

    data = SampleSet.of("s3://bucket/digits", name="digits", secret="keys").submit().wait()
    data.warm(strategyName="random", batchSize=64).wait()

What it says of itself is as of the last verb; `refresh` looks again. The cluster is that which `pdc` would
choose, unless `submit` is given another.
"""

from __future__ import annotations

import secrets
from typing import Any, Self

from pydantic import PrivateAttr

from ..api import samplejob, sampleset
from ..api.forecast import Forecast
from ..api.meta import Key
from ..api.samplejob import SampleJobPhase
from ..api.sampleset import SampleSetPhase
from ..cluster.kubeconfig import Access
from ..cluster.objects import read
from ..errors import Failed, NotFound
from . import dataforecasts
from .client import Client
from .connecting import connect
from .datajobs import job_name, make_job, make_set
from .datareports import Report
from .waiting import wait_for

FOR_EVER = 10 * 365 * 24 * 3600.0


class SampleJob(samplejob.SampleJob):
    """One operation on the data of a SampleSet."""

    _access: Access | None = PrivateAttr(None)

    def submit(self, cluster: Client | None = None) -> Self:
        """Create it; raises `AlreadyExists` for a name that is taken, `Invalid` for what is refused."""
        self._access = cluster.access if cluster else self._access
        with connected(self._access) as client:
            self.__dict__.update(read(type(self), client.create(self).wire()).__dict__)
        return self

    def wait(self, timeout: float | None = None) -> Self:
        """Return once it has succeeded; raises `Failed` with what the runtimes say, or `TimedOut`."""
        with connected(self._access) as client:
            done = wait_for(
                client, type(self), self.key, lambda job: job.status.phase.final, timeout or FOR_EVER
            )
        self.__dict__.update(done.__dict__)
        if done.status.phase is SampleJobPhase.FAILED:
            why = next((c.message for c in done.status.conditions if c.type == "Failed"), "")
            raise Failed(f"job {self.name} failed: {why}", next_step=f"pdc why samplejob/{self.name}")
        return self


class SampleSet(sampleset.SampleSet):
    """A data set, fetched, verified and cached near the training."""

    _access: Access | None = PrivateAttr(None)

    @classmethod
    def of(cls, uri: str, *, name: str, namespace: str = "default", **options: Any) -> Self:
        """The set with the data at *uri*; options: secret, partitions, engine."""
        return read(cls, make_set(Key(namespace, name), uri, **options).wire())

    def submit(self, cluster: Client | None = None) -> Self:
        """Create it; raises `AlreadyExists` for a name that is taken, `Invalid` for what is refused."""
        self._access = cluster.access if cluster else self._access
        with connected(self._access) as client:
            return self._become(client.create(self))

    def refresh(self) -> Self:
        """Look again; raises `NotFound` when it is gone."""
        with connected(self._access) as client:
            return self._become(client.get(type(self), *self.key))

    def wait(self, timeout: float | None = None) -> Self:
        """Return once it is Ready; raises `TimedOut`, and `Failed` for what can never work as written."""
        with connected(self._access) as client:
            self._become(wait_for(client, type(self), self.key, settled, timeout or FOR_EVER))
        if self.status.phase is not SampleSetPhase.READY:
            why = next((c.message for c in self.status.conditions if c.type == "Ready"), "")
            raise Failed(f"data set {self.name}: {why}", next_step=f"pdc why sampleset/{self.name}")
        return self

    def sync(self, *, secret: str = "", **options: Any) -> SampleJob:
        """Copy again from the source, or from another; options as in `syncOptions`."""
        more = {"secretRef": {"name": secret}} if secret else {}
        return self._do("sync", options, **more)

    def warm(self, **options: Any) -> SampleJob:
        """Load into the cache; options as in `warmupOptions`."""
        return self._do("warmup", options)

    def forecast(self, job: str = "", **options: Any) -> Forecast:
        """Measure, and predict what warming takes and gains; options as in `forecastOptions`."""
        with connected(self._access) as client:
            return dataforecasts.forecast(client, self.key, {"job": job, **options})

    def report(self, job: str = "") -> Report:
        """The last forecast beside what happened."""
        with connected(self._access) as client:
            return dataforecasts.report(client, self.key, job)

    def clear(self, *paths: str) -> SampleJob:
        """Empty the cache."""
        return self._do("clear", {"paths": list(paths)})

    def remove(self, *paths: str) -> SampleJob:
        """Delete these paths from the data itself."""
        return self._do("rmr", {"paths": list(paths)})

    def delete(self) -> None:
        """Delete it; one that is gone already is no error."""
        with connected(self._access) as client:
            try:
                client.delete(type(self), self.key)
            except NotFound:
                return

    def _do(self, kind: str, options: dict[str, Any], **spec: Any) -> SampleJob:
        name = job_name(self.name, kind, secrets.token_hex(3))
        job = read(SampleJob, make_job(kind, self.key, name, options, **spec).wire())
        job._access = self._access
        return job.submit()

    def _become(self, other: sampleset.SampleSet) -> Self:
        fresh: dict[str, Any] = read(type(self), other.wire()).__dict__
        # A value that others may hold would have to stay as it is; a handle is for looking again.
        self.__dict__.update(fresh)
        return self


def settled(data: sampleset.SampleSet) -> bool:
    """Ready, or never going to be as it is written."""
    if data.status.observed_generation < data.metadata.generation:
        return False
    hopeless = any(c.reason == "Unsupported" for c in data.status.conditions)
    return data.status.phase is SampleSetPhase.READY or hopeless


def connected(access: Access | None) -> Client:
    return Client(access) if access else connect()

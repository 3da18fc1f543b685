"""A PaddleJob with verbs: made from a script or a file, submitted, followed, waited for, deleted.

    job = PaddleJob.from_script("train.py", workers=2, data="shapes").submit()
    for line in job.logs(follow=True):
        print(line)
    job.wait(timeout=600)

What it says of itself, its `status` too, is as of the last verb; `refresh` looks again. The cluster is that
which `pdc` would choose, unless `submit` is given another.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Self, Unpack

import yaml
from pydantic import PrivateAttr

from ..api import paddlejob as api
from ..api.core import ConfigMap
from ..api.paddlejob import Phase
from ..cluster.kubeconfig import Access
from ..cluster.objects import read
from ..errors import Failed, NotFound, WrongUse
from .client import Client
from .connecting import connect
from .joblines import Line, LogWish, follow_lines, former_lines, lines_of
from .scripts import ScriptOptions, training_of
from .submitting import submit
from .waiting import wait_for

FOR_EVER = 10 * 365 * 24 * 3600.0


class PaddleJob(api.PaddleJob):
    """A distributed training job of PaddlePaddle."""

    _code: ConfigMap | None = PrivateAttr(None)
    _access: Access | None = PrivateAttr(None)
    """Of the cluster it is in; None: of the one `pdc` would choose."""

    @classmethod
    def from_script(cls, script: str | Path, *arguments: str, **options: Unpack[ScriptOptions]) -> Self:
        """The job that trains with *script*, handed *arguments*; raises `WrongUse` for what it cannot be."""
        code, made = training_of(script, arguments, **options).objects()
        job = cls.read(made.wire())
        job._code = code
        return job

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The job of a YAML file; raises `WrongUse` for a file that is not one PaddleJob."""
        try:
            documents = [body for body in yaml.safe_load_all(Path(path).read_text(encoding="utf-8")) if body]
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise WrongUse(f"{path} cannot be read: {error}") from error
        jobs = [body for body in documents if isinstance(body, dict) and body.get("kind") == cls.kind]
        if len(jobs) != 1 or len(documents) != 1:
            raise WrongUse(
                f"{path} holds {len(documents)} objects, {len(jobs)} of them a {cls.kind}",
                next_step="give the job a file of its own, and `pdc apply -f` what belongs to it",
            )
        [body] = jobs
        metadata = {"namespace": "default", **(body.get("metadata") or {})}
        return read(cls, {**body, "metadata": metadata})

    def submit(self, cluster: Client | None = None) -> Self:
        """Create it; raises `AlreadyExists` for a name that is taken, `Invalid` for what is refused."""
        self._access = cluster.access if cluster else self._access
        with self._connect() as client:
            return self._become(submit(client, self, self._code))

    def refresh(self, cluster: Client | None = None) -> Self:
        """Look again; raises `NotFound` when it is gone."""
        self._access = cluster.access if cluster else self._access
        with self._connect() as client:
            return self._become(client.get(type(self), *self.key))

    def wait(self, timeout: float | None = None) -> Self:
        """Return once it is Completed.

        Raises `Failed` with its last words, `TimedOut` after *timeout* seconds, `NotFound` when it is gone.
        """
        with self._connect() as client:
            ended = wait_for(
                client, type(self), self.key, lambda job: job.status.phase.final, timeout or FOR_EVER
            )
        self._become(ended)
        if ended.status.phase is Phase.FAILED:
            why = next((c.message for c in ended.status.conditions if c.type == "Failed"), "")
            raise Failed(f"job {self.name} failed: {why}", next_step=f"pdc why job/{self.name}")
        return self

    def logs(self, *, follow: bool = False, role: str = "", tail: int | None = None) -> Iterator[str]:
        """What its pods say, also those that are gone; with several, each line begins with `[worker-0]`.

        Followed, it goes on until the job has ended.
        """
        query = {} if tail is None else {"tailLines": str(tail)}
        wish = LogWish(role=role, query=query)
        asked = [r.replicas for name, r in self.spec.roles().items() if role in ("", name)]
        for speaker, text in self._lines(wish, follow):
            yield f"[{speaker}] {text}" if sum(asked) > 1 else text

    def delete(self) -> None:
        """Delete it with its pods; one that is gone already is no error."""
        with self._connect() as client:
            try:
                client.delete(type(self), self.key)
            except NotFound:
                return

    def _lines(self, wish: LogWish, follow: bool) -> Iterator[Line]:
        if follow:
            with closing(follow_lines(self._connect, self.key, wish)) as lines:
                yield from lines
            return
        with self._connect() as client:
            there = client.find(type(self), *self.key)
            yield from lines_of(client, there, wish) if there else former_lines(client, self.key, wish)

    def _connect(self) -> Client:
        return Client(self._access) if self._access else connect()

    def _become(self, other: api.PaddleJob) -> Self:
        """Be what the cluster has of it."""
        fresh: dict[str, Any] = read(type(self), other.wire()).__dict__
        # A value that others may hold would have to stay as it is; a handle is for looking again.
        self.__dict__.update(fresh)
        return self

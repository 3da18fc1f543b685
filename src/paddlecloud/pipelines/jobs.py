"""Jobs that a step starts and waits for; one that an earlier attempt left failed does not stand for it."""

from __future__ import annotations

from collections.abc import Callable

from ..api.batch import Job
from ..api.meta import Key
from ..errors import Failed
from ..sdk.client import Client
from ..sdk.waiting import wait_for
from .actions import remove


def run_to_end(client: Client, job: Job, timeout: float, trouble: str) -> None:
    """Start *job*, or find it started, and take it away when it is done.

    Raises `Failed` with *trouble*, and leaves the job, whose log tells more.
    """
    key = Key(job.namespace, job.name)
    there = client.find(Job, *key)
    if there is not None and there.holds("Failed"):
        remove(client, Job, key)
    client.apply(job)
    done = wait_for(client, Job, key, lambda j: j.finished, timeout, telling())
    if done.holds("Failed"):
        raise Failed(
            f"{trouble}: Job {key} failed", next_step=f"kubectl logs job/{key.name} -n {key.namespace}"
        )
    remove(client, Job, key)


def telling() -> Callable[[Job], None]:
    """Says how far a job is whenever that is news."""
    told = ""

    def say(job: Job) -> None:
        nonlocal told
        state = "done" if job.finished else "running" if job.status.get("ready") else "starting"
        if state != told:
            told = state
            print(f"job {job.name}: {state}", flush=True)

    return say

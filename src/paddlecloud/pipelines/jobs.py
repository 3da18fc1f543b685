"""Jobs that a step starts and waits for; one that an earlier attempt left failed does not stand for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..api.batch import Job
from ..api.core import Pod
from ..api.meta import Key
from ..errors import Failed
from ..sdk.client import Client
from ..sdk.waiting import wait_for
from .actions import remove

LINES = 3
"""Of what a container said last."""


def run_to_end(client: Client, job: Job, timeout: float, trouble: str) -> None:
    """Start *job*, or find it started, and take it away when it is done.

    Raises `Failed` with *trouble*, and leaves the job, whose log tells more.
    """
    key = Key(job.namespace, job.name)
    there = client.find(Job, *key)
    if there is not None and there.holds("Failed"):
        remove(client, Job, key)
    client.apply(outspoken(job))
    done = wait_for(client, Job, key, lambda j: j.finished, timeout, telling())
    if done.holds("Failed"):
        said = last_words(client.list(Pod, key.namespace, labels={"job-name": key.name}).items)
        raise Failed(
            f"{trouble}: Job {key} failed{said}", next_step=f"kubectl logs job/{key.name} -n {key.namespace}"
        )
    remove(client, Job, key)


def outspoken(job: Job) -> Job:
    """The same job whose containers leave their last words in the status of the pod: steps read no logs."""
    template = job.spec["template"]
    pod = dict(template["spec"])
    for part in ("initContainers", "containers"):
        if part in pod:
            pod[part] = [{"terminationMessagePolicy": "FallbackToLogsOnError", **c} for c in pod[part]]
    return job.but(spec={**job.spec, "template": {**template, "spec": pod}})


def last_words(pods: Iterable[Pod]) -> str:
    """Which container of the newest pod failed and what it said last; empty where none did."""
    for pod in sorted(pods, key=lambda p: str(p.metadata.creation_timestamp), reverse=True):
        for part in ("initContainerStatuses", "containerStatuses"):
            for container in pod.status.get(part) or ():
                ended = container.get("state", {}).get("terminated") or {}
                if ended.get("exitCode"):
                    lines = str(ended.get("message") or "").strip().splitlines()[-LINES:]
                    words = " / ".join(lines) or f"exit code {ended['exitCode']}"
                    return f", in {container['name']}: {words}"
        if why := pod.status.get("message"):
            return f": {why}"
    return ""


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

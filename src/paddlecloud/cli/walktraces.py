"""What earlier walks left in a cluster, and which of it the next one takes away.

A walk that came to its end keeps its run, its job and its versions; only the server of its curves goes. Of
one that was cut off everything goes that would run on beside the next.
"""

from __future__ import annotations

import contextlib

from ..api.apps import Deployment
from ..api.batch import Job
from ..api.core import Pod, Service
from ..api.meta import Key, Resource
from ..api.paddlejob import PaddleJob
from ..api.samplejob import SampleJob
from ..api.workflowrun import RunPhase, WorkflowRun
from ..controllers.workflowrun import RUN_LABEL
from ..errors import NotFound
from ..pipelines.components.training import curves_key
from ..pipelines.walk import NAME
from ..sdk.client import Client
from ..sdk.runservice import NAMESPACE
from ..sdk.waiting import wait_until_gone

GONE_WITHIN = 30.0


def tidy(client: Client) -> None:
    """Make room for another walk."""
    for run in client.list(WorkflowRun, NAMESPACE).items:
        if run.spec.pipeline.name != NAME:
            continue
        if run.status.phase is RunPhase.SUCCEEDED:
            forget_curves(client, job_of(run))
        else:
            forget(client, run)


def forget(client: Client, run: WorkflowRun) -> None:
    """Take an unfinished walk out of the cluster, the run first: its steps would make the rest again."""
    remove(client, WorkflowRun, run.key)
    pods = client.list(Pod, NAMESPACE, labels={RUN_LABEL: run.name}).items
    for pod in pods:
        with contextlib.suppress(NotFound):
            client.delete(Pod, pod.key, grace=0)
    for pod in pods:
        wait_until_gone(client, Pod, pod.key, GONE_WITHIN)
    job = job_of(run)
    remove(client, PaddleJob, job)
    remove(client, SampleJob, job)
    remove(client, Job, Key(NAMESPACE, f"{job.name.rpartition('-')[0]}-deposit"))
    forget_curves(client, job)


def job_of(run: WorkflowRun) -> Key:
    return Key(NAMESPACE, str(run.spec.parameters.get("job") or ""))


def forget_curves(client: Client, job: Key) -> None:
    for kind in (Deployment, Service):
        remove(client, kind, curves_key(job))


def remove(client: Client, kind: type[Resource], key: Key) -> None:
    with contextlib.suppress(NotFound):
        client.delete(kind, key)

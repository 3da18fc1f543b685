"""Where a version comes from and where it went: data, job, run, code; aliases, services.

What it comes from was written down when it was made: objects that are gone since are named all the same and
said to be gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..api.meta import Key, Resource
from ..api.model import ModelVersion
from ..api.paddlejob import PaddleJob
from ..api.paddleservice import ElasticPaddleService, PaddleService
from ..api.sampleset import SampleSet
from ..api.workflowrun import WorkflowRun
from ..controllers.modelusers import served_as
from ..errors import NotFound
from .client import Client
from .hub import aliases_now, ledger_of
from .waiting import state_of


class Link(NamedTuple):
    relation: str
    """from, alias or service."""
    what: str
    name: str
    state: str = ""


def lineage_of(client: Client, version: ModelVersion) -> list[Link]:
    said = version.spec.lineage
    parents: list[tuple[type[Resource], str]] = [
        (SampleSet, said.sample_set),
        (PaddleJob, said.paddle_job),
        (WorkflowRun, said.workflow_run),
    ]
    links = [origin(client, kind, version.namespace, name) for kind, name in parents if name]
    if said.sample_set_revision:
        links.append(Link("from", "revision of the data", said.sample_set_revision))
    if said.code:
        links.append(Link("from", "code", said.code))
    return [*links, *users_of(client, version)]


def origin(client: Client, kind: type[Resource], namespace: str, name: str) -> Link:
    found = client.find(kind, namespace, name)
    return Link("from", kind.kind, name, state_of(found) if found else "gone")


def users_of(client: Client, version: ModelVersion) -> list[Link]:
    """The aliases and services that a version must not be taken from."""
    model = Key(version.namespace, version.spec.model)
    aliases = aliases_now(ledger_of(client, model))
    links = [Link("alias", "alias", name) for name, to in aliases.items() if to == version.name]
    return [*links, *(Link("service", "PaddleService", s.name, how) for s, how in serving(client, version))]


def serving(client: Client, version: ModelVersion) -> Iterator[tuple[PaddleService, str]]:
    for kind in (PaddleService, ElasticPaddleService):
        try:
            services = client.list(kind, version.namespace).items
        except NotFound:
            continue  # the cluster does not have this group
        for service in services:
            if how := served_as(service, version.name):
                yield service, how

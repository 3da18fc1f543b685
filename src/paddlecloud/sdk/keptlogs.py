"""The log of a pod that is gone, wherever it was kept: in the home of an embedded cluster, or beside its job.

An embedded cluster keeps the files of every pod for a week; on any other the controller of a job writes the
end of a log into a ConfigMap before it deletes the pod. Which of the two it is, a caller need not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

import orjson

from ..api.core import ConfigMap
from ..api.meta import Key
from ..api.paddlejob import PaddleJob
from ..cluster.requests import Place, Request, path_of
from ..controllers.joblogs import LABEL, SOURCE, kept_name, pod_of, restored
from ..errors import NotFound
from .client import Client
from .loglines import chosen, whole_lines

NOBODY = "-"
"""What stands for the name of a pod in a request for one that is gone; no pod is called so."""


class Gone(NamedTuple):
    """A pod that was there; an empty uid means the last one of its name."""

    namespace: str
    name: str
    uid: str = ""


def kept_lines(client: Client, pod: Gone, query: Mapping[str, str]) -> Iterator[bytes]:
    """The lines of its log, as *query* would choose them from that of a living pod; raises `NotFound`."""
    beside = client.find(ConfigMap, pod.namespace, kept_name(pod.name))
    if beside is not None and pod.uid in ("", beside.metadata.annotations.get(SOURCE)):
        return chosen(restored(beside, query.get("container", "")), query)
    return archived(client, pod, query)


def archived(client: Client, pod: Gone, query: Mapping[str, str]) -> Iterator[bytes]:
    wanted = {"kept": pod.name, "uid": pod.uid, **query, "follow": ""}
    try:
        yield from whole_lines(client.text(asking(pod.namespace, wanted)))
    except NotFound as error:
        raise NotFound(
            f"pod {pod.name} is gone from namespace {pod.namespace} and no log of it is kept",
            next_step="logs are kept for a week, and only where the pod had said something",
        ) from error


def last_pods(client: Client, job: PaddleJob) -> list[Gone]:
    """The pods that a job had which has none now, because it rests or begins again: one of each name."""
    beside = (log for log in client.list(ConfigMap, job.namespace, labels=LABEL).items)
    kept = [log for log in beside if log.controlled_by() == job.uid]
    if kept:
        return [
            Gone(job.namespace, pod_of(log.name), log.metadata.annotations.get(SOURCE, "")) for log in kept
        ]
    found = gone_pods(client, job.namespace, f"{job.kind}/{job.name}", job.metadata.creation_timestamp)
    return list({gone.name: gone for gone in found}.values())


def gone_pods(client: Client, namespace: str, owner: str, since: datetime | None = None) -> list[Gone]:
    """The pods of an owner (`PaddleJob/resnet`) whose logs an embedded cluster keeps, oldest first.

    An owner may have had a namesake: *since* leaves out pods that went before.
    """
    wanted = {"kept": "", "owner": owner}
    try:
        body = orjson.loads(b"".join(client.text(asking(namespace, wanted))))
    except NotFound:
        return []
    return [
        Gone(namespace, str(item["name"]), str(item["uid"]))
        for item in body["items"]
        if since is None or datetime.fromisoformat(item["removedAt"]) >= since
    ]


def asking(namespace: str, query: Mapping[str, str]) -> Request:
    path = path_of(Place("v1", "pods"), Key(namespace, NOBODY), "log")
    said = tuple((name, value) for name, value in query.items() if value or name == "kept")
    return Request("GET", path, said, {"Accept": "*/*"})

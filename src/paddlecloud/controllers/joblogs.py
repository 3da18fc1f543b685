"""What a PaddleJob's pods had said, kept beside the job when they are deleted; pure.

One ConfigMap a pod, owned by the job, with the end of the log of each container, compressed. A pod that is to
go stays until that is written, or until its log could not be had for a while: the log is there, or was not to
be had. Where the cluster keeps logs itself (`Snapshot.logs_kept`) nothing is written.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from ..api.core import ConfigMap, Pod
from ..api.meta import Metadata, Resource
from .contract import KeptLogQuestion, Snapshot
from .elasticstore import is_store
from .packing import LARGEST, unpacked

LABEL = "batch.paddlepaddle.org/kept-log"
SOURCE = "batch.paddlepaddle.org/log-of"
"""The uid of the pod."""
AT_ONCE = 8
"""Pods whose logs are read in one look: their answers are all in memory."""
PATIENCE, LOOK_AGAIN = 60.0, 5.0
"""Seconds until a log that cannot be read is given up, and until it is asked for again."""


@dataclass(frozen=True)
class Keeping:
    """What is made of pods that are to go."""

    logs: tuple[ConfigMap, ...]
    stay: tuple[Pod, ...] = ()
    """Those whose logs are still to be had or to be written."""

    @property
    def again(self) -> float | None:
        return LOOK_AGAIN if self.stay else None


def logs_asked(leaving: Iterable[Pod], seen: Snapshot) -> tuple[KeptLogQuestion, ...]:
    """The logs that must be read before *leaving* can go, some at a time, those of failures first."""
    if seen.logs_kept:
        return ()
    kept = {uid_of(log) for log in kept_logs(seen)}
    waiting = [pod for pod in leaving if pod.uid not in kept and not pod.metadata.deletion_timestamp]
    waiting.sort(key=lambda pod: pod.phase != "Failed")
    return tuple(question for pod in waiting[:AT_ONCE] for question in questions(pod))


def keeping(
    leaving: Iterable[Pod], seen: Snapshot, since: datetime | None, patience: float = PATIENCE
) -> Keeping:
    """The logs there are and those just read; *since*: when it was decided that the pods go, if it was."""
    logs = {log.name: log for log in kept_logs(seen)}
    if seen.logs_kept:
        return Keeping(tuple(logs.values()))
    kept = {uid_of(log) for log in logs.values()}
    patient = (seen.now - since).total_seconds() < patience if since else patience > 0
    stay = []
    for pod in (pod for pod in leaving if pod.uid not in kept and not pod.metadata.deletion_timestamp):
        answers = {q.container: seen.answers.get(q) for q in questions(pod)}
        said = {name: text for name, text in answers.items() if isinstance(text, bytes) and text}
        if None in answers.values() and patient:
            stay.append(pod)
        elif said:
            logs[kept_name(pod.name)] = kept_log(pod, said)
            stay.append(pod)  # until this is seen to be written
    return Keeping(tuple(logs.values()), tuple(stay))


def questions(pod: Pod) -> tuple[KeptLogQuestion, ...]:
    """One a container that has begun; what an etcd says is nothing to keep."""
    if is_store(pod):
        return ()
    begun = {
        str(status["name"])
        for status in pod.status.get("containerStatuses") or ()
        if {"running", "terminated"} & (status.get("state") or {}).keys()
    }
    names = (str(c.get("name")) for c in pod.spec.get("containers") or ())
    return tuple(KeptLogQuestion(pod.namespace, pod.name, name) for name in names if name in begun)


def kept_log(pod: Pod, said: dict[str, bytes]) -> ConfigMap:
    """The logs of a pod; where they do not fit together, those of its first containers."""
    metadata = Metadata(
        name=kept_name(pod.name),
        namespace=pod.namespace,
        labels={LABEL: "true"},
        annotations={SOURCE: pod.uid},
    )
    data, size = dict[str, str](), 0
    for name, small in said.items():
        size += len(small)
        if size <= LARGEST:
            data[f"{name}.gz"] = base64.b64encode(small).decode()
    return ConfigMap(metadata=metadata, binary_data=data)


def kept_name(pod: str) -> str:
    return f"{pod}-log"


def pod_of(log: str) -> str:
    """The name of the pod whose log is called so."""
    return log.removesuffix("-log")


def kept_logs(seen: Snapshot) -> tuple[ConfigMap, ...]:
    return tuple(found for found in seen.owned(ConfigMap).values() if is_kept_log(found))


def is_kept_log(child: Resource) -> bool:
    return isinstance(child, ConfigMap) and LABEL in child.metadata.labels


def uid_of(log: ConfigMap) -> str:
    """Of the pod whose log it is."""
    return log.metadata.annotations.get(SOURCE, "")


def without_content(found: ConfigMap) -> ConfigMap:
    """The same without what was said: who only has to know that it is kept need not hold it in memory."""
    return found.but(binary_data={}) if is_kept_log(found) else found


def restored(log: ConfigMap, container: str = "") -> list[bytes]:
    """The lines of a kept log, with their times; of the first container if none is named."""
    key = f"{container}.gz" if container else next(iter(log.binary_data), "")
    try:
        small = base64.b64decode(log.binary_data.get(key, ""))
    except binascii.Error:
        return []
    content = unpacked(small)
    return content.removesuffix(b"\n").split(b"\n") if content else []

"""SampleJobs made from a few words: sync, warm up, remove, clear, forecast; pure."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from ..api.meta import Key, Metadata
from ..api.samplejob import SampleJob
from ..api.sampleset import SampleSet
from ..errors import WrongUse

OPTIONS = {kind: f"{kind}Options" for kind in ("sync", "warmup", "rmr", "clear", "forecast")}


def make_set(key: Key, uri: str, *, secret: str = "", partitions: int = 1, engine: str = "auto") -> SampleSet:
    """Raises `WrongUse` for keys in the address: an object is read by many."""
    if ":" in urlsplit(uri).netloc.rpartition("@")[0]:
        raise WrongUse(
            "the source has a password in its address",
            next_step="put access-key and secret-key into a Secret and name it (--secret)",
        )
    source: dict[str, Any] = {"uri": uri, **({"secretRef": {"name": secret}} if secret else {})}
    spec = {"partitions": partitions, "source": source, "csi": {"driver": engine}}
    return SampleSet.read({"metadata": {"name": key.name, "namespace": key.namespace}, "spec": spec})


def make_job(kind: str, data: Key, name: str, options: dict[str, Any], **spec: Any) -> SampleJob:
    """A job called *name* that does *kind* on a set; what is empty in *options* is left out."""
    said = {key: value for key, value in options.items() if value not in (None, "", False, [], ())}
    body = {"type": kind, "sampleSetRef": {"name": data.name}, **({OPTIONS[kind]: said} if said else {})}
    metadata = Metadata(name=name, namespace=data.namespace)
    given = {key: value for key, value in spec.items() if value}
    return SampleJob.read({"metadata": metadata.wire(), "spec": {**body, **given}})


def job_name(data: str, kind: str, letters: str) -> str:
    return f"{data}-{kind}-{letters}"

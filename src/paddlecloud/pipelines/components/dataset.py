"""Dataset: makes a SampleSet and waits until its data is there and verified."""

from __future__ import annotations

import sys

from ...api.meta import Key, Metadata
from ...api.sampleset import SampleSet, SampleSetPhase, SampleSetSpec, SecretReference, Source
from ...errors import Failed
from ...sdk.client import Client
from ...sdk.waiting import wait_for
from ..actions import carry_out, checked, remove
from ..component import Component, Inputs, program

COMPONENT = Component(
    "dataset",
    "Make a SampleSet and wait until it is Ready.",
    inputs={
        "namespace": "kubeflow",
        "action": "apply",
        "partitions": "1",
        "source_uri": "",
        "source_secret": "",
        "timeout": "600",
    },
    required=("name",),
    outputs=("name", "revision", "size", "files"),
    types={"partitions": "Integer", "timeout": "Integer"},
)


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key = Key(inputs["namespace"], inputs["name"])
    if checked(inputs["action"]) == "delete":
        remove(client, SampleSet, key)
        return {"name": key.name}
    secret = SecretReference(name=inputs["source_secret"]) if inputs["source_secret"] else None
    source = Source(uri=inputs["source_uri"], secret_ref=secret)
    carry_out(
        client,
        inputs["action"],
        SampleSet(
            metadata=Metadata(name=key.name, namespace=key.namespace),
            spec=SampleSetSpec(partitions=int(inputs["partitions"]), source=source),
        ),
    )
    data = wait_for(client, SampleSet, key, settled, float(inputs["timeout"]), say)
    if data.status.phase is SampleSetPhase.SYNC_FAILED:
        raise Failed(f"SampleSet {key} could not be filled: {reason(data)}")
    cache = data.status.cache_status
    return {
        "name": key.name,
        "revision": data.status.revision,
        "size": cache.total_size if cache else "",
        "files": cache.total_files if cache else "",
    }


def settled(data: SampleSet) -> bool:
    """Partial readiness is on the way, not an end."""
    current = data.status.observed_generation >= data.metadata.generation
    return current and data.status.phase in (SampleSetPhase.READY, SampleSetPhase.SYNC_FAILED)


def reason(data: SampleSet) -> str:
    return next((c.message for c in data.status.conditions if c.message), "no reason was given")


def say(data: SampleSet) -> None:
    progress = data.status.progress
    far = f" {progress.done:.0f}/{progress.total:.0f} {progress.unit}" if progress and progress.total else ""
    print(f"sampleset {data.name}: {data.status.phase.value or 'new'}{far}", flush=True)


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))

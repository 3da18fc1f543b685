"""SampleJob, field by field: sync, warm up, remove or clear data."""

from __future__ import annotations

import sys

from ...api.meta import Key
from ...api.samplejob import SampleJob, SampleJobPhase
from ...errors import Failed
from ...sdk.client import Client
from ...sdk.waiting import wait_for
from ..actions import carry_out, checked, remove
from ..component import Component, Inputs, program, yes
from ..manifests import part, parts

COMPONENT = Component(
    "samplejob",
    "Make a SampleJob from the parts of its spec and wait until it has ended.",
    inputs={
        "namespace": "kubeflow", "version": "v1alpha1", "action": "create", "timeout_minutes": "1440",
        "delete_after_done": "False", "type": "sync", "sampleset_ref": "", "secret_ref": "",
        "terminate": "False", "job_options": "",
    },
    required=("name",),
    outputs=("name",),
    types={"timeout_minutes": "Integer", "delete_after_done": "Boolean", "terminate": "Boolean"},
)  # fmt: skip
FIELDS = {"sampleset_ref": "sampleSetRef", "secret_ref": "secretRef"}


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key = Key(inputs["namespace"], inputs["name"])
    if checked(inputs["action"]) == "delete":
        remove(client, SampleJob, key)
        return {"name": key.name}
    spec = {"type": inputs["type"], "terminate": yes(inputs["terminate"]), **parts(inputs, FIELDS)}
    spec |= part(inputs, "job_options") or {}
    made = SampleJob.read({"metadata": {"name": key.name, "namespace": key.namespace}, "spec": spec})
    carry_out(client, inputs["action"], made)
    timeout = 60 * float(inputs["timeout_minutes"])
    done = wait_for(client, SampleJob, key, lambda j: j.status.phase.final, timeout, say)
    if done.status.phase is SampleJobPhase.FAILED:
        why = next((c.message for c in done.status.conditions if c.message), "no reason was given")
        raise Failed(f"SampleJob {key} failed: {why}")
    if yes(inputs["delete_after_done"]):
        remove(client, SampleJob, key)
    return {"name": key.name}


def say(job: SampleJob) -> None:
    print(f"samplejob {job.name}: {job.status.phase.value or 'new'}", flush=True)


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))

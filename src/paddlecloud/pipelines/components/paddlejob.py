"""PaddleJob, field by field, for who writes pod templates himself."""

from __future__ import annotations

import sys

from ...api.meta import Key
from ...api.paddlejob import PaddleJob, Phase
from ...errors import Failed
from ...sdk.client import Client
from ...sdk.waiting import wait_for
from ..actions import carry_out, checked, remove
from ..component import Component, Inputs, program, yes
from ..manifests import parts
from .training import say

COMPONENT = Component(
    "paddlejob",
    "Make a PaddleJob from the parts of its spec and wait until it has ended.",
    inputs={
        "namespace": "kubeflow", "version": "v1", "action": "create", "timeout_minutes": "1440",
        "delete_after_done": "False", "clean_pod_policy": "OnCompletion", "scheduling_policy": "",
        "intranet": "PodIP", "with_gloo": "1", "sampleset_ref": "", "ps_spec": "", "heter_spec": "",
        "elastic": "0",
    },
    required=("name", "worker_spec"),
    outputs=("name",),
    types={
        "timeout_minutes": "Integer", "delete_after_done": "Boolean", "with_gloo": "Integer",
        "elastic": "Integer",
    },
)  # fmt: skip
FIELDS = {
    "scheduling_policy": "schedulingPolicy", "sampleset_ref": "sampleSetRef", "ps_spec": "ps",
    "worker_spec": "worker", "heter_spec": "heter",
}  # fmt: skip


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key = Key(inputs["namespace"], inputs["name"])
    if checked(inputs["action"]) == "delete":
        remove(client, PaddleJob, key)
        return {"name": key.name}
    spec = {
        "cleanPodPolicy": inputs["clean_pod_policy"], "intranet": inputs["intranet"],
        "withGloo": int(inputs["with_gloo"]), **parts(inputs, FIELDS),
    }  # fmt: skip
    if int(inputs["elastic"]) > 0:
        spec["elastic"] = int(inputs["elastic"])
    made = PaddleJob.read({"metadata": {"name": key.name, "namespace": key.namespace}, "spec": spec})
    carry_out(client, inputs["action"], made)
    timeout = 60 * float(inputs["timeout_minutes"])
    job = wait_for(client, PaddleJob, key, lambda j: j.status.phase.final, timeout, say)
    if job.status.phase is Phase.FAILED:
        why = next((c.message for c in job.status.conditions if c.type == "Failed"), "no reason was given")
        raise Failed(f"PaddleJob {key} failed: {why}")
    if yes(inputs["delete_after_done"]):
        remove(client, PaddleJob, key)
    return {"name": key.name}


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))

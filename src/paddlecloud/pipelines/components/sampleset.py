"""SampleSet, field by field, for who wants more than the component dataset says."""

from __future__ import annotations

import sys

from ...api.meta import Key
from ...api.sampleset import SampleSet, SampleSetPhase
from ...errors import Failed
from ...sdk.client import Client
from ...sdk.waiting import wait_for
from ..actions import carry_out, checked, remove
from ..component import Component, Inputs, program, yes
from ..manifests import parts
from .dataset import reason, say, settled

COMPONENT = Component(
    "sampleset",
    "Make a SampleSet from the parts of its spec and wait until it is Ready.",
    inputs={
        "namespace": "kubeflow", "version": "v1alpha1", "action": "apply", "timeout_minutes": "1440",
        "partitions": "1", "source": "", "secret_ref": "", "no_sync": "True", "csi": "", "cache": "",
        "node_affinity": "",
    },
    required=("name",),
    outputs=("name", "revision"),
    types={"timeout_minutes": "Integer", "partitions": "Integer", "no_sync": "Boolean"},
)  # fmt: skip
FIELDS = {
    "source": "source",
    "secret_ref": "secretRef",
    "csi": "csi",
    "cache": "cache",
    "node_affinity": "nodeAffinity",
}


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key = Key(inputs["namespace"], inputs["name"])
    if checked(inputs["action"]) == "delete":
        remove(client, SampleSet, key)
        return {"name": key.name}
    spec = {
        "partitions": int(inputs["partitions"]),
        "noSync": yes(inputs["no_sync"]),
        **parts(inputs, FIELDS),
    }
    made = SampleSet.read({"metadata": {"name": key.name, "namespace": key.namespace}, "spec": spec})
    carry_out(client, inputs["action"], made)
    data = wait_for(client, SampleSet, key, settled, 60 * float(inputs["timeout_minutes"]), say)
    if data.status.phase is SampleSetPhase.SYNC_FAILED:
        raise Failed(f"SampleSet {key} could not be filled: {reason(data)}")
    return {"name": key.name, "revision": data.status.revision}


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))

"""Canary: gives a part of a service's requests to another version of its model, and waits for it."""

from __future__ import annotations

import sys

from ...api.meta import Key
from ...api.paddleservice import PaddleService
from ...errors import Failed, WrongUse
from ...sdk import releasing
from ...sdk.client import Client
from ...sdk.waiting import wait_for
from ..component import Component, Inputs, program
from .serving import say

COMPONENT = Component(
    "canary",
    "Give a share of the requests of a PaddleService to another version of its model.",
    inputs={"namespace": "kubeflow", "model_version": "latest", "percent": "10", "timeout": "900"},
    required=("name", "model_name"),
    outputs=("name", "version", "percent"),
    types={"percent": "Integer", "timeout": "Integer"},
)


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key, percent = Key(inputs["namespace"], inputs["name"]), int(inputs["percent"])
    if not 0 <= percent <= 100:
        raise WrongUse(f"percent is to be from 0 to 100 and is {percent}")
    service = client.get(PaddleService, *key)
    model = f"{inputs['model_name']}@{inputs['model_version']}"
    client.patch(PaddleService, key, releasing.canary(service, model, percent))
    settled = wait_for(client, PaddleService, key, releasing.settled, float(inputs["timeout"]), say)
    if not releasing.ready(settled):
        why = next((c.message for c in settled.status.conditions if c.type == "Ready"), "no reason was given")
        raise Failed(f"the canary of {key} does not come up: {why}")
    version = settled.status.canary.model_version if settled.status.canary else ""
    return {"name": key.name, "version": version, "percent": str(percent)}


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))

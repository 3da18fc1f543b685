"""Promotion: the canary of a service becomes its default, with the very version it served."""

from __future__ import annotations

import sys

from ...api.meta import Key
from ...api.paddleservice import PaddleService
from ...sdk import releasing
from ...sdk.client import Client
from ...sdk.waiting import wait_for
from ..component import Component, Inputs, program
from .serving import ready, say

COMPONENT = Component(
    "promotion",
    "Make the canary of a PaddleService its default.",
    inputs={"namespace": "kubeflow", "model_version": "", "timeout": "900"},
    required=("name",),
    outputs=("name", "version"),
    types={"timeout": "Integer"},
)


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key = Key(inputs["namespace"], inputs["name"])
    service = client.get(PaddleService, *key)
    if promoted(service, inputs["model_version"]):
        print(f"paddleservice {key.name}: {inputs['model_version']} is the default already", flush=True)
    else:
        client.patch(PaddleService, key, releasing.promotion(service))
    served = wait_for(client, PaddleService, key, ready, float(inputs["timeout"]), say)
    return {
        "name": key.name,
        "version": served.status.default.model_version if served.status.default else "",
    }


def promoted(service: PaddleService, version: str) -> bool:
    """Whether an earlier attempt did it and was cut off before it could say so."""
    alone = service.spec.canary is None
    return alone and bool(version) and service.spec.default.model.endswith(f"@{version}")


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))

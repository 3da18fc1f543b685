"""Serving: makes a PaddleService for a model and waits until it answers."""

from __future__ import annotations

import sys

from ...api.meta import Key, Metadata
from ...api.paddleservice import EndpointSpec, PaddleService, PaddleServiceSpec, ScalingSpec
from ...sdk import releasing
from ...sdk.client import Client
from ...sdk.waiting import wait_for
from ..actions import carry_out, checked, remove
from ..component import Component, Inputs, program

COMPONENT = Component(
    "serving",
    "Serve a model: make a PaddleService and wait until it is Ready.",
    inputs={
        "namespace": "kubeflow",
        "action": "apply",
        "image": "",
        "model_version": "latest",
        "endpoint": "http://minio-service.kubeflow:9000",
        "port": "9292",
        "timeout": "900",
    },
    required=("name", "model_name"),
    outputs=("name", "url", "version"),
    types={"port": "Integer", "timeout": "Integer"},
)


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key = Key(inputs["namespace"], inputs["name"])
    if checked(inputs["action"]) == "delete":
        remove(client, PaddleService, key)
        return {"name": key.name}
    if inputs["image"]:
        # The image of the older server would fetch the model itself, from an address nobody else reads.
        print(
            f"the model of the hub is served by the model server; {inputs['image']} is not needed", flush=True
        )
    endpoint = EndpointSpec(model=f"{inputs['model_name']}@{inputs['model_version']}")
    carry_out(
        client,
        inputs["action"],
        PaddleService(
            metadata=Metadata(name=key.name, namespace=key.namespace),
            spec=PaddleServiceSpec(default=endpoint, service=ScalingSpec(min_scale=1)),
        ),
    )
    end_canary(client, key)
    served = wait_for(client, PaddleService, key, ready, float(inputs["timeout"]), say)
    pinned = served.status.default.model_version if served.status.default else ""
    return {"name": key.name, "url": served.status.url, "version": pinned}


def end_canary(client: Client, key: Key) -> None:
    """A canary that an earlier release left would go on to take a part of the requests."""
    service = client.get(PaddleService, *key)
    if service.spec.canary is not None:
        client.patch(PaddleService, key, releasing.no_canary(service))


def ready(service: PaddleService) -> bool:
    current = service.status.observed_generation >= service.metadata.generation
    return current and any(c.type == "Ready" and c.status == "True" for c in service.status.conditions)


def say(service: PaddleService) -> None:
    told = next((c for c in service.status.conditions if c.type == "Ready"), None)
    print(f"paddleservice {service.name}: {(told.message or told.reason) if told else 'new'}", flush=True)


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))

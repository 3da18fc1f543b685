"""Autoscalers on an API server without nodes: bounds are kept, and what cannot be measured is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.widgets import eventually, running

from paddlecloud.api.apps import Deployment
from paddlecloud.api.autoscaling import HorizontalPodAutoscaler
from paddlecloud.api.core import Event
from paddlecloud.api.meta import Key, Metadata, Resource
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.informer import Informer
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.embedded.identity import establish
from paddlecloud.embedded.server.serve import serving
from paddlecloud.embedded.workloads.podautoscaling import PodAutoscaling
from paddlecloud.settings import Home

KEY = Key("default", "web")
NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


class Stage:
    """The owner's client, and autoscaling with the rights of the controllers."""

    def __init__(self, owner: Client, controllers: Client, autoscalers: Informer[Any]) -> None:
        self.owner, self._autoscalers = owner, autoscalers
        self._scaling = PodAutoscaling(controllers, autoscalers, kind_named, lambda: NOW)

    async def add(self, replicas: int | None, **spec: Any) -> None:
        if replicas is not None:
            await self.owner.create(deployment(replicas))
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": KEY.name}
        whole = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 4, **spec}
        metadata = Metadata(name=KEY.name, namespace=KEY.namespace)
        await self.owner.create(HorizontalPodAutoscaler(metadata=metadata, spec=whole))

    async def look(self) -> HorizontalPodAutoscaler:
        stored = await self.owner.get(HorizontalPodAutoscaler, *KEY)
        version = stored.metadata.resource_version

        async def heard() -> bool:
            known = self._autoscalers.get(KEY)
            return known is not None and known.metadata.resource_version == version

        await eventually(heard)
        await self._scaling.look()
        return await self.owner.get(HorizontalPodAutoscaler, *KEY)

    async def replicas(self) -> int:
        return (await self.owner.get(Deployment, *KEY)).replicas

    async def events(self) -> list[tuple[str, str]]:
        return [(e.reason, e.message) for e in (await self.owner.list(Event, "default")).items]


def kind_named(api_version: str, kind: str) -> type[Resource] | None:
    return Deployment if (api_version, kind) == ("apps/v1", "Deployment") else None


def deployment(replicas: int) -> Deployment:
    labels = {"app": "web"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "x"}]}}
    return Deployment(
        metadata=Metadata(name=KEY.name, namespace=KEY.namespace),
        spec={"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod},
    )


def told(found: HorizontalPodAutoscaler, kind: str) -> tuple[str, str]:
    said = next(c for c in found.status["conditions"] if c["type"] == kind)
    return said["status"], said["reason"]


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    home = Home(tmp_path / "home")
    async with (
        serving(home, establish(home)),
        Client(from_kubeconfig(home.kubeconfig)) as owner,
        Client(from_kubeconfig(home.run / "controllers.kubeconfig")) as controllers,
    ):
        autoscalers = Informer(controllers, HorizontalPodAutoscaler)
        async with running(autoscalers.run()):
            await autoscalers.synced.wait()
            yield Stage(owner, controllers, autoscalers)


@pytest.mark.parametrize(
    "replicas, wanted, bound", [(1, 2, "below Spec.MinReplicas"), (9, 4, "above Spec.MaxReplicas")]
)
async def test_a_number_that_is_not_allowed_is_put_right_without_a_measure(
    stage: Stage, replicas: int, wanted: int, bound: str
) -> None:
    await stage.add(replicas)
    found = await stage.look()

    assert await stage.replicas() == wanted and found.status["desiredReplicas"] == wanted
    assert told(found, "AbleToScale") == ("True", "SucceededRescale")
    words = f"New size: {wanted}; reason: Current number of replicas {bound}"
    assert await stage.events() == [("SuccessfulRescale", words)]


async def test_what_nobody_measured_changes_nothing_and_is_told_once(stage: Stage) -> None:
    await stage.add(3)
    found = await stage.look()
    again = await stage.look()

    assert await stage.replicas() == 3
    assert told(found, "ScalingActive") == ("False", "FailedGetResourceMetric")
    assert again.metadata.resource_version == found.metadata.resource_version
    assert [reason for reason, _ in await stage.events()] == ["FailedGetResourceMetric"]


async def test_a_target_that_is_not_there_is_told(stage: Stage) -> None:
    await stage.add(None)

    assert told(await stage.look(), "AbleToScale") == ("False", "FailedGetScale")


async def test_what_was_scaled_to_nothing_by_hand_stays_so(stage: Stage) -> None:
    await stage.add(0)

    assert told(await stage.look(), "ScalingActive") == ("False", "ScalingDisabled")
    assert await stage.replicas() == 0

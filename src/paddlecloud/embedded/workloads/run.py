"""The `controllers` process of an embedded cluster: our controllers and the workloads beside them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from datetime import UTC, datetime

from ...api.autoscaling import HorizontalPodAutoscaler
from ...api.core import ConfigMap
from ...api.meta import Metadata, Resource
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...cluster.kubeconfig import Access
from ...controllers import all as ours
from ...controllers import hub
from ...controllers.contract import Controller
from ...controllers.health import Health
from ...controllers.passes import Times
from ...controllers.runtime import Options, Runtime
from ...settings import Home
from ..identity import known
from . import (
    beginnings,
    cronjob,
    datacenter,
    deployment,
    endpoints,
    gatewaykeeping,
    job,
    knative,
    mirrorkeeping,
    nodelife,
    objectstore,
    pipelineservices,
    podkeeping,
    replicaset,
    revisions,
    statefulset,
)
from .collector import KINDS, Collector
from .everything import Everything
from .formernodes import forget_former
from .gangkeeping import KINDS as GROUPING
from .gangkeeping import GangKeeping
from .gatewaykeeping import KINDS as ANNOUNCING
from .gatewaykeeping import Announcing
from .housekeeping import Housekeeping
from .looking import look_on_change
from .mirrorkeeping import EVERY, MirrorKeeping
from .podautoscaling import EVERY as MEASURING
from .podautoscaling import PodAutoscaling
from .providing import provide
from .scheduling import KINDS as PLACING
from .scheduling import Scheduling
from .volumes import KINDS as STORING
from .volumes import Volumes

WORKLOADS: tuple[Controller, ...] = (
    deployment.CONTROLLER,
    replicaset.CONTROLLER,
    statefulset.CONTROLLER,
    job.CONTROLLER,
    cronjob.CONTROLLER,
    endpoints.SERVICES,
    endpoints.ABANDONED,
    podkeeping.CONTROLLER,
    knative.SERVICES,
    knative.ROUTES,
    revisions.REVISIONS,
)

LAZY = 0.1
"""Seconds between two looks at all there is: nobody waits for them, and a burst needs the processor."""
CONTROLLERS: tuple[Controller, ...] = (*ours.CONTROLLERS, *ours.EMBEDDED_ONLY, *WORKLOADS)


async def run(
    home: Home,
    access: Access,
    controllers: tuple[Controller, ...] = CONTROLLERS,
    sockets: Callable[..., socket.socket] | None = None,
) -> None:
    """Run until cancelled; *sockets* makes those that reach pods, where not every socket does."""
    async with Client(access, sockets=sockets) as client, asyncio.TaskGroup() as tasks:
        looked_at = (*controllers, nodelife.controller(utc_now()))
        runtime = Runtime(looked_at, client, Options(times=Times(logs_kept=True)), Health())
        informers = runtime.informers
        needed: tuple[type[Resource], ...] = (*KINDS, *PLACING, *STORING, *GROUPING, *ANNOUNCING,
                                             HorizontalPodAutoscaler)  # fmt: skip
        for kind in needed:
            if kind not in informers:
                informers[kind] = Informer(client, kind)
        tasks.create_task(runtime.run())
        for first in ((models_place(home),), datacenter.parts(home), objectstore.parts(home)):
            tasks.create_task(provide(client, first))
        if chosen := known(home):
            tasks.create_task(forget_former(chosen.node_names, client))
            gateway = gatewaykeeping.wanted(chosen.gateway_port)
            pipelines = pipelineservices.wanted(chosen.pipelines_pods_port)
            announcing = Announcing(client, informers, (*gateway, *pipelines), utc_now)
            told_of = [informers[k] for k in ANNOUNCING]
            tasks.create_task(look_on_change("announcing", told_of, announcing.look, settle=LAZY))
        scheduling = Scheduling(client, informers, utc_now)
        volumes = Volumes(client, informers, home.volumes, utc_now)
        storing = [informers[k] for k in STORING]
        placing = [informers[k] for k in PLACING]
        tasks.create_task(look_on_change("scheduling", placing, scheduling.look))
        gangs = GangKeeping(client, informers, utc_now)
        grouping = [informers[k] for k in GROUPING]
        tasks.create_task(look_on_change("gangs", grouping, gangs.look))
        tasks.create_task(look_on_change("volumes", storing, volumes.look))
        kept = [informers[k] for k in KINDS]
        everything = Everything(access, informers)
        tasks.create_task(everything.run())
        autoscalers: Informer[HorizontalPodAutoscaler] = informers[HorizontalPodAutoscaler]
        scaling = PodAutoscaling(client, autoscalers, everything.kind, utc_now)
        tasks.create_task(look_on_change("autoscaling", (), scaling.look, every=MEASURING))
        collector = Collector(client, everything)
        tasks.create_task(
            look_on_change("collector", (), collector.look, changed=collector.changed, settle=LAZY)
        )
        beginning = beginnings.Beginnings(client, informers)
        begun = [informers[k] for k in beginnings.KINDS]
        tasks.create_task(look_on_change("beginnings", begun, beginning.look, concerns=beginnings.concerns))
        mirrors = MirrorKeeping(client, informers[ConfigMap], home.mirrors)
        maps = [informers[ConfigMap]]
        tasks.create_task(
            look_on_change("mirrors", maps, mirrors.look, every=EVERY, concerns=mirrorkeeping.concerns)
        )
        keeping = Housekeeping(client, informers, everything, utc_now)
        told = everything.told()
        tasks.create_task(look_on_change("housekeeping", kept, keeping.look, changed=told, settle=LAZY))


def models_place(home: Home) -> ConfigMap:
    """The store of a fresh cluster is a folder of the home; an administrator may say otherwise."""
    return ConfigMap(
        metadata=Metadata(name=hub.NAME, namespace=hub.NAMESPACE),
        data={hub.KEY: (home.objects / "models").as_uri()},
    )


def utc_now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)

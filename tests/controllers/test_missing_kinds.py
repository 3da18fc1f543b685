"""The runtime on a cluster that lacks a kind its controller owns: no Volcano, no Knative."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace

from tests.cluster.widgets import CRDS, Widget, WidgetStatus, eventually, running, world
from tests.controllers.widget_stage import WIDGETS, Recorder

from paddlecloud.api.core import ConfigMap
from paddlecloud.api.crds import crd
from paddlecloud.api.meta import Key, Metadata, Resource
from paddlecloud.cluster import requests
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.controllers.contract import Controller, Decision, Snapshot
from paddlecloud.controllers.health import Health
from paddlecloud.controllers.ownership import adopted
from paddlecloud.controllers.runtime import Options, Runtime
from paddlecloud.controllers.snapshots import live_children
from paddlecloud.errors import NotFound


def gadgets() -> type[Resource]:
    """A kind that no cluster has yet."""

    class Gadget(Resource):
        api_version, plural = f"g{secrets.token_hex(4)}.paddlepaddle.org/v1", "gadgets"

    return Gadget


def keeping(kind: type[Resource]) -> Controller:
    def decide(widget: Widget, seen: Snapshot) -> Decision:
        there = kind not in seen.missing
        children = (kind(metadata=Metadata(name=widget.name)),) if there else ()
        return Decision(WidgetStatus(phase="Ready" if there else "EngineMissing"), children, check_again=0.1)

    return replace(WIDGETS, reconcile=decide, owns=(ConfigMap, kind), reads=(), related=lambda _: ())


async def test_a_kind_that_is_not_there_is_known_as_missing_until_it_comes(access: Access) -> None:
    gadget = gadgets()
    async with world(access) as w, Recorder(access) as recorder:

        async def phase() -> str:
            return (await w.client.get(Widget, w.namespace, "w")).status.phase

        async def missing() -> bool:
            return await phase() == "EngineMissing"

        async def made() -> bool:
            with suppress(NotFound):
                return await phase() == "Ready" and bool((await w.client.list(gadget, w.namespace)).items)
            return False

        await w.client.create(w.widget("w"))
        runtime = Runtime((keeping(gadget),), recorder, Options(w.namespace), Health())
        async with running(runtime.run()):
            await eventually(missing)
            await w.client.request(requests.creation(CRDS, "", crd(gadget)))
            try:
                await eventually(made)
            finally:
                await w.client.delete(CRDS, Key("", f"{gadget.plural}.{gadget.group()}"))


async def test_what_is_read_directly_may_lack_a_kind_too(access: Access) -> None:
    async with world(access) as w:
        widget = await w.client.create(w.widget("w"))
        part = await w.client.create(adopted(w.config("part"), widget))

        found = await live_children(widget, (gadgets(), ConfigMap), w.client)
        assert [c.uid for c in found] == [part.uid]

"""One object whose spec is changed and changed back, beside fresh ones of both specs.

An edit is refused, or leads to where a fresh object would be. What is refused while the object works may
still be done while it rests, where its kind can rest: then that leads there too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.properties.edits import Body, Edit
from tests.properties.plays import Act, Scenario, Stage, stage
from tests.properties.portraits import Portrait, differences

from paddlecloud.api.meta import Key, Resource
from paddlecloud.cluster.client import Client
from paddlecloud.errors import Invalid

NAME = "edited"


@dataclass(frozen=True)
class Editable:
    """An object of which every field is tried."""

    scenario: Scenario
    """How it is called, who decides; its acts come before each object is made."""
    spec: Body
    samples: Mapping[str, Any] = field(default_factory=dict)
    """Values for fields whose schema does not tell what makes sense."""
    only: tuple[str, ...] = ("spec",)
    """The fields to try, with what is in them."""
    rest: Body | None = None
    """What makes it rest, where it can."""
    comes_to: Act | None = None
    """What is waited for where others on the cluster have their part in it."""
    timeless: Callable[[Portrait], Portrait] = lambda portrait: portrait
    """A portrait without what tells of the past."""

    @property
    def kind(self) -> type[Resource]:
        return self.scenario.controller.kind


async def faults_of_edit(client: Client, editable: Editable, edit: Edit) -> list[str]:
    """Where the edited object differs from a fresh one, after the edit and after it was taken back."""
    async with stage(client, editable.scenario) as s:
        before = await made(s, editable, editable.spec)
        if not (await accepted(s, editable, edit.spec) or await edited_at_rest(s, editable, edit.spec)):
            return []
        after = await settled(s, editable)
        fresh = await end_of_fresh(client, editable, edit.spec)
        if fresh is None:
            return [f"{edit}: an object can become what none can be from the start"]
        lines = differences(after, fresh)
        if await accepted(s, editable, editable.spec):
            lines += [f"taken back: {line}" for line in differences(await settled(s, editable), before)]
        return [f"{edit}: {line}" for line in lines]


async def end_of_fresh(client: Client, editable: Editable, spec: Body) -> Portrait | None:
    """Where an object comes to that was never anything else; None for one that is refused."""
    async with stage(client, editable.scenario) as s:
        try:
            return await made(s, editable, spec)
        except Invalid:
            return None


async def made(s: Stage, editable: Editable, spec: Body) -> Portrait:
    for act in editable.scenario.acts:
        await act(s)
    body = {"metadata": {"name": NAME, "namespace": s.namespace}, "spec": spec}
    await s.create(editable.kind, body)
    return await settled(s, editable)


async def settled(s: Stage, editable: Editable) -> Portrait:
    if editable.comes_to:
        await editable.comes_to(s)
    await s.settled()
    return editable.timeless(await s.portrait())


async def edited_at_rest(s: Stage, editable: Editable, spec: Body) -> bool:
    """Make it rest, change it, let it go on; False where that is refused too."""
    if editable.rest is None:
        return False
    for step in ({**editable.spec, **editable.rest}, {**spec, **editable.rest}, spec):
        if not await accepted(s, editable, step):
            return False
        await s.settled()
    return True


async def accepted(s: Stage, editable: Editable, spec: Body) -> bool:
    """Replace the spec as a whole; False where the server refuses that."""
    key = Key(s.namespace, NAME)
    there = await s.client.get(editable.kind, *key)
    metadata = {"name": NAME, "namespace": s.namespace, "resourceVersion": there.metadata.resource_version}
    try:
        await s.replace(editable.kind, key, {"metadata": metadata, "spec": spec})
    except Invalid:
        return False
    return True

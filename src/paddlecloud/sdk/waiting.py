"""Waits until an object is as it should be: read once, then watch; no polling.

A wait ends in one of three ways: with the object, with `TimedOut` and the state it was last in, or with
`NotFound` because there is nothing left to wait for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from typing import Any, TypeVar

from ..api.meta import Key, Resource
from ..cluster.objects import read
from ..cluster.requests import Kind, Place, Scope
from ..errors import Expired, NotFound, TimedOut, Unreachable
from .client import Client

R = TypeVar("R", bound=Resource)


def wait_for(
    client: Client,
    kind: type[R],
    key: Key,
    done: Callable[[R], bool],
    timeout: float,
    on_change: Callable[[R], None] | None = None,
) -> R:
    """The object as soon as *done* says so; *on_change* hears of every state on the way, once."""
    last: R | None = None
    with closing(states(client, kind, key, time.monotonic() + timeout)) as seen:
        for obj in seen:
            news = last is None or obj.metadata.resource_version != last.metadata.resource_version
            last = obj
            if news and on_change is not None:
                on_change(obj)
            if done(obj):
                return obj
    assert last is not None, "the first state comes before any time has passed"
    raise TimedOut(
        f"{kind.kind} {key} is not there yet after {timeout:g} s; it was last {state_of(last)}",
        next_step=f"wait longer with --timeout, or ask `pdc why {kind.kind.lower()}/{key.name}`",
    )


def wait_until_gone(client: Client, kind: type[R], key: Key, timeout: float) -> None:
    """Returns once there is no such object: a deletion waits for whoever has yet to clean up after it."""
    try:
        wait_for(client, kind, key, lambda _: False, timeout)
    except NotFound:
        return


def states(client: Client, kind: type[R], key: Key, deadline: float) -> Generator[R, None, None]:
    """The object as it is, and every state it takes until the deadline; raises `NotFound` when it is gone."""
    with closing(bodies(client, kind, key, deadline)) as seen:
        for body in seen:
            yield read(kind, body)


def bodies(client: Client, kind: Kind, key: Key, deadline: float) -> Generator[dict[str, Any], None, None]:
    """The same of any kind, as they are on the wire."""
    scope = Scope(key.namespace, fields={"metadata.name": key.name})
    while True:
        # A list of one: only its version is sure to be young enough to watch from.
        listing = client.list_raw(kind, scope)
        if not listing.items:
            raise NotFound(f"there is no {word_for(kind)} {key}")
        yield listing.items[0]
        left = deadline - time.monotonic()
        if left <= 0:
            return
        try:
            for event in client.watch(kind, scope, listing.resource_version, left):
                if event.type == "DELETED":
                    raise NotFound(f"{word_for(kind)} {key} was deleted while we waited for it")
                if event.type != "BOOKMARK":
                    yield event.object
        except (Expired, Unreachable):
            # Cut off or too old: begin again with what is. A server that stays away ends the wait there.
            continue


def word_for(kind: Kind) -> str:
    return kind.plural if isinstance(kind, Place) else kind.kind


def state_of(obj: Resource) -> str:
    """One clause about the state an object is in, with what it waits for if it says so."""
    status = obj.wire().get("status") or {}
    phase, why = str(status.get("phase") or ""), waits_for(status)
    # A reason that repeats the phase says it for both.
    told = why if why.partition(":")[0] == phase else ", ".join(filter(None, [phase, why]))
    return told or "without a status: no controller has looked at it"


def waits_for(status: Mapping[str, Any]) -> str:
    """What a status says that its object waits for; empty when it says nothing."""
    waiting = [
        f"{c.get('reason') or c.get('type')}: {c['message']}"
        if c.get("message")
        else str(c.get("reason") or "")
        for c in status.get("conditions") or ()
        if c.get("status") == "False" and c.get("type") in ("Progressing", "Ready")
    ]
    return waiting[0] if waiting else ""

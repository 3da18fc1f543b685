"""The four actions of every component: apply, create, patch, delete; any other word is refused.

A deletion waits until the object is gone and is content if it was not there.
"""

from __future__ import annotations

from ..api.meta import Key, Resource
from ..errors import AlreadyExists, NotFound, WrongUse
from ..sdk.client import Client
from ..sdk.waiting import wait_until_gone

ACTIONS = ("apply", "create", "patch", "delete")
GONE_WITHIN = 300.0


def checked(action: str) -> str:
    """Raises `WrongUse`."""
    if action not in ACTIONS:
        raise WrongUse(f"action {action!r} is none of {', '.join(ACTIONS)}")
    return action


def carry_out(client: Client, action: str, obj: Resource) -> None:
    """Make the object what it should be, in the way the action says."""
    kind, named = type(obj), f"{obj.kind} {obj.key}"
    if checked(action) == "create":
        try:
            client.create(obj)
        except AlreadyExists as error:
            raise AlreadyExists(
                f"{named} is there already", next_step="use action=apply to change it"
            ) from error
    elif action == "patch":
        try:
            client.patch(kind, obj.key, {"spec": obj.wire().get("spec") or {}})
        except NotFound as error:
            raise NotFound(
                f"there is no {named} to patch", next_step="use action=apply to make it"
            ) from error
    else:
        client.apply(obj)
    print(f"{named}: {action} done", flush=True)


def remove(client: Client, kind: type[Resource], key: Key) -> None:
    try:
        client.delete(kind, key, propagation="Foreground")
    except NotFound:
        print(f"{kind.kind} {key} is not there", flush=True)
        return
    wait_until_gone(client, kind, key, GONE_WITHIN)
    print(f"{kind.kind} {key}: deleted", flush=True)

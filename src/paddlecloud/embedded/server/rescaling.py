"""A write through the scale of an object, as a change of the object itself; pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import BadRequest
from . import refusals, scale
from .kinds import Kind

Body = dict[str, Any]


def rescaled(kind: Kind, name: str, make: Callable[[Body], Body]) -> Callable[[Body], Body]:
    """From the object to the object with the number of replicas that *make* makes of its present Scale."""

    def change(old: Body) -> Body:
        wanted = make(scale.scale_of(old, kind.scale))
        given = (wanted.get("metadata") or {}).get("name")
        if given not in (None, name):
            raise BadRequest(f"the name of the object ({given}) does not match the name on the URL ({name})")
        found = scale.problem(wanted, kind.scale)
        if found and kind.custom:
            raise refusals.invalid(kind, name, [found])
        if found:
            raise scale.refusal(name, found)
        return scale.scaled(old, wanted, kind.scale)

    return change

"""From JSON bodies to typed objects; what does not fit its class is `Invalid`, never a library's error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from ..api.meta import Resource
from ..errors import Invalid

R = TypeVar("R", bound=Resource)
T = TypeVar("T")


@dataclass(frozen=True)
class Listing(Generic[T]):
    """Objects as they were at one moment; a watch goes on from `resource_version`."""

    items: tuple[T, ...]
    resource_version: str


def read(kind: type[R], body: Mapping[str, Any]) -> R:
    try:
        return kind.read(body)
    except ValidationError as error:
        metadata = body.get("metadata") or {}
        where = "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise Invalid(
            f"the {kind.kind} {where} does not fit {kind.api_version}: {field}: {first['msg']}",
            next_step="correct the object, or install the CRDs of this version",
        ) from error

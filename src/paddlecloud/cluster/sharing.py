"""Equal parts of many objects are kept once: the pods of a job differ in little, and so do jobs.

Objects are frozen, so nobody can tell. What is remembered to share is bounded: past that it begins anew, and
parts that only the old ones had go with them.
"""

from __future__ import annotations

from typing import Any

import orjson
from pydantic import BaseModel

LARGEST = 4096


class Sharing:
    """Objects go through `compact` before anybody else has them."""

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._parts: dict[bytes, Any] = {}
        self._names: dict[frozenset[str], set[str]] = {}

    def compact(self, model: BaseModel) -> None:
        """Put what other objects have too in the place of what *model* came with."""
        said = model.__pydantic_fields_set__
        # The names of what was said weigh more than most of what was said; a copy of a model copies them.
        object.__setattr__(model, "__pydantic_fields_set__", self._names.setdefault(frozenset(said), said))
        for value in vars(model).values():
            if isinstance(value, BaseModel):
                self.compact(value)
            elif isinstance(value, dict):
                self._within(value)
            elif isinstance(value, list):
                for inner in value:
                    if isinstance(inner, BaseModel):
                        self.compact(inner)

    def _within(self, body: dict[str, Any]) -> None:
        for name, value in body.items():
            if isinstance(value, dict):
                body[name] = self._shared(value)
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                body[name] = [self._shared(inner) for inner in value]

    def _shared(self, part: Any) -> Any:
        if len(self._parts) >= self._largest:
            self._parts = {}
        return self._parts.setdefault(orjson.dumps(part), part)

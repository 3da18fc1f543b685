"""Equal parts of many objects are kept once: the pods of a job differ in little, and so do jobs.

Objects are frozen, so nobody can tell. What is remembered to share is bounded: past that it begins anew, and
parts that only the old ones had go with them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson
from pydantic import BaseModel

LARGEST = 4096
PLAIN = frozenset((str, int, float, bool, type(None), datetime))


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
            # Most are texts and numbers: what cannot be shared is passed over by its type alone.
            kind = type(value)
            if kind in PLAIN:
                continue
            if kind is dict:
                self._within(value)
            elif kind is list:
                for inner in value:
                    if isinstance(inner, BaseModel):
                        self.compact(inner)
            elif isinstance(value, BaseModel):
                self.compact(value)

    def _within(self, body: dict[str, Any]) -> None:
        for name, value in body.items():
            kind = type(value)
            if kind is dict:
                body[name] = self._shared(value)
            elif kind is list and value and type(value[0]) is dict:
                body[name] = [self._shared(inner) for inner in value]

    def _shared(self, part: Any) -> Any:
        if len(self._parts) >= self._largest:
            self._parts = {}
        return self._parts.setdefault(orjson.dumps(part), part)

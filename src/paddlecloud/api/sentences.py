"""What the fields of a value mean: the docstrings below them, as they stand in the source.

Only the definitions of kinds need these sentences. Classes are made without them, so that no process of a
running platform reads and keeps source code.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from textwrap import dedent
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema


class DescribedSchema(GenerateJsonSchema):
    """pydantic's JSON schema with a sentence for each field that has one."""

    def model_schema(self, schema: Any) -> dict[str, Any]:
        found = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        told = sentences(model)
        for name, field in model.model_fields.items():
            if name in told:
                found["properties"][field.alias or name].setdefault("description", told[name])
        return found


@cache
def sentences(model: type[BaseModel]) -> dict[str, str]:
    """By the names of the fields; what a class says wins over what it inherits."""
    told: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if issubclass(one, BaseModel) and one is not BaseModel:
            told |= written_in(one)
    return told


def written_in(model: type[BaseModel]) -> dict[str, str]:
    [definition] = ast.parse(dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in zip(definition.body, definition.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }

"""Inputs of the low-level components that are parts of a manifest: JSON or YAML texts; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from ..errors import WrongUse


def part(inputs: Mapping[str, str], name: str) -> Any:
    """What an input says; None when it says nothing. Raises `WrongUse` for what is no JSON."""
    text = inputs[name]
    if not text.strip():
        return None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise WrongUse(f"{name} is no JSON: {' '.join(str(error).split())}") from error


def parts(inputs: Mapping[str, str], fields: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a spec that were given; *fields* maps the name of an input to that of the field."""
    found = {field: part(inputs, name) for name, field in fields.items()}
    return {field: value for field, value in found.items() if value is not None}

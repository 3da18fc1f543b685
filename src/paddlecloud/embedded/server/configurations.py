"""What a client applies, as it comes in: whose it is, whether by force, and the configuration itself; pure.

A Scale is applied to the object behind it: it becomes a configuration of that object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import yaml

from ...errors import BadRequest
from .kinds import Kind
from .ownership import invalid_options
from .patches import APPLY
from .yamltext import yaml_object

Body = dict[str, Any]


def force_of(content_type: str, query: Mapping[str, str]) -> bool:
    """Whether an apply takes over what others own; it must say who it is."""
    given = query.get("force")
    if content_type == APPLY and not query.get("fieldManager"):
        found = ("FieldValueRequired", "Required value: is required for apply patch")
        raise invalid_options("PatchOptions", "fieldManager", [found])
    if content_type != APPLY and given is not None:
        found = ("FieldValueForbidden", "Forbidden: may not be specified for non-apply patch")
        raise invalid_options("PatchOptions", "force", [found])
    return given is not None and given.lower() not in ("false", "0")


def configuration(content: bytes) -> Body:
    """What is to be applied; most clients send JSON, which is YAML too and read much faster."""
    try:
        config = orjson.loads(content)
    except ValueError:
        try:
            config = yaml_object(content)
        except (yaml.YAMLError, ValueError, TypeError) as error:
            text = str(error).partition("\n")[0]
            raise BadRequest(f"error decoding YAML: error converting YAML to JSON: yaml: {text}") from error
    if not isinstance(config, dict):
        name = {list: "array", str: "string", bool: "bool"}.get(type(config), "number")
        raise BadRequest(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: "
            f"cannot unmarshal {name} into Go value of type map[string]interface {{}}"
        )
    return config


def of_a_scale(scale: Body, kind: Kind) -> Body:
    """What an applied Scale says of the object: its number of replicas, and nothing else."""
    given = f"{scale.get('apiVersion') or '/'}, Kind={scale.get('kind') or ''}"
    if given != "autoscaling/v1, Kind=Scale":
        raise BadRequest(f"invalid object type: {given}")
    names = {k: v for k, v in (scale.get("metadata") or {}).items() if k != "managedFields"}
    own: Body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": names}
    inner = own
    *parents, last = kind.scale.wanted.strip(".").split(".")
    for name in parents:
        inner[name] = {}
        inner = inner[name]
    inner[last] = (scale.get("spec") or {}).get("replicas", 0)
    return own

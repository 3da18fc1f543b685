"""The scale subresource: how many replicas of an object there should be and are, in one shape; pure.

A custom kind says where its numbers are; the built-in kinds keep them in `spec.replicas`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import BadRequest, Invalid, ServerError
from .schema import Violation

Body = dict[str, Any]
IDENTITY = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


@dataclass(frozen=True)
class ScalePaths:
    """Where the numbers of a custom kind are, as its definition writes it: `.spec.replicas`."""

    wanted: str = ".spec.replicas"
    actual: str = ".status.replicas"
    selector: str = ""
    custom: bool = False


BUILT_IN = ScalePaths()


def paths_of(version: Body) -> ScalePaths | None:
    """Those of one version of a definition; None where it has no scale."""
    scale = (version.get("subresources") or {}).get("scale")
    if scale is None:
        return None
    return ScalePaths(
        scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath") or "", True
    )


def scale_of(body: Body, paths: ScalePaths) -> Body:
    """The `autoscaling/v1` Scale of an object; raises `ServerError` where a custom one has no number."""
    metadata = body["metadata"]
    wanted = at(body, paths.wanted)
    if wanted is None and paths.custom:
        message = f'the spec replicas field "{paths.wanted}" does not exist'
        raise ServerError(f"Internal error occurred: {message}", details={"causes": [{"message": message}]})
    status: Body = {"replicas": at(body, paths.actual) or 0}
    selector = at(body, paths.selector) if paths.custom else selector_text(body)
    if selector:
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {k: metadata[k] for k in IDENTITY if k in metadata},
        "spec": {"replicas": wanted} if wanted else {},
        "status": status,
    }


def scaled(body: Body, scale: Body, paths: ScalePaths) -> Body:
    """The object with the number of replicas that *scale* asks for; the rest of it is as it was."""
    wanted = (scale.get("spec") or {}).get("replicas", 0)
    if isinstance(wanted, bool) or not isinstance(wanted, int):
        raise BadRequest("spec.replicas of a Scale must be an integer")
    made = {**body, "metadata": dict(body["metadata"])}
    version = (scale.get("metadata") or {}).get("resourceVersion")
    if version:
        made["metadata"]["resourceVersion"] = version
    inner = made
    *parents, last = paths.wanted.strip(".").split(".")
    for name in parents:
        inner[name] = dict(inner.get(name) or {})
        inner = inner[name]
    inner[last] = wanted
    return made


def problem(scale: Body, paths: ScalePaths) -> Violation | None:
    wanted = (scale.get("spec") or {}).get("replicas", 0)
    if not isinstance(wanted, int) or wanted >= 0:
        return None
    if paths.custom:
        message = f"Invalid value: {wanted}: should be a non-negative integer"
        return Violation(paths.wanted, "FieldValueInvalid", message)
    message = f"Invalid value: {wanted}: must be greater than or equal to 0"
    return Violation("spec.replicas", "FieldValueInvalid", message)


def refusal(name: str, found: Violation) -> Invalid:
    """What a built-in kind answers: the Scale is wrong, not the object."""
    cause = {"reason": found.reason, "message": found.message, "field": found.field}
    return Invalid(
        f'Scale.autoscaling "{name}" is invalid: {found.field}: {found.message}',
        details={"name": name, "group": "autoscaling", "kind": "Scale", "causes": [cause]},
    )


def at(body: Any, path: str) -> Any:
    for name in path.strip(".").split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body


def selector_text(body: Body) -> str:
    """A label selector as clients pass it in a query."""
    selector = (body.get("spec") or {}).get("selector") or {}
    if not isinstance(selector, dict):
        return ""
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        return ",".join(f"{k}={v}" for k, v in sorted(selector.items()))
    parts = [f"{k}={v}" for k, v in sorted((selector.get("matchLabels") or {}).items())]
    for term in selector.get("matchExpressions") or ():
        key, values = term["key"], ",".join(sorted(term.get("values") or ()))
        operator = term["operator"]
        parts.append(
            {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}.get(
                operator, f"!{key}"
            )
        )
    return ",".join(sorted(parts))

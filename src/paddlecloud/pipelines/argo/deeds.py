"""Steps that make, change or delete an object of the cluster; pure.

They become steps of our own program `pipelines.deeds`. A container with nothing in it but `kubectl delete`,
as `VolumeOp.delete()` writes it, becomes one too: the image it names is a tool, not a program of the user's.
"""

from __future__ import annotations

from typing import Any

from ...api.workflowgraph import Output
from ...errors import WrongUse
from ..component import IMAGE
from .references import in_pod

PROGRAM = ["python", "-m", "paddlecloud.pipelines.deeds"]
ACTIONS = ("create", "apply", "patch", "delete", "replace", "get")
Body = dict[str, Any]


def deed_of(template: Body) -> Body:
    resource = template["resource"]
    action = str(resource.get("action") or "")
    if action not in ACTIONS:
        raise WrongUse(f"template {template['name']} wants to {action or 'do nothing to'} a resource")
    outputs = (template.get("outputs") or {}).get("parameters") or ()
    order: Body = {
        "action": action,
        "manifest": in_pod(str(resource.get("manifest") or "")),
        "success": resource.get("successCondition") or "",
        "failure": resource.get("failureCondition") or "",
        "merge": resource.get("mergeStrategy") or "strategic",
        "outputs": {o["name"]: (o.get("valueFrom") or {}).get("jsonPath", "") for o in outputs},
    }
    return told(order, list(order["outputs"]))


def kubectl_deed(template: Body) -> Body | None:
    container = template["container"]
    if not str(container.get("image") or "").partition(":")[0].endswith("cloud-builders/kubectl"):
        return None
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    if words[:2] != ["kubectl", "delete"]:
        return None
    rest = [in_pod(str(w)) for w in words[2:] if not str(w).startswith("-")]
    if len(rest) < 2:
        return None
    order = {"action": "delete", "kind": rest[0], "name": rest[1], "outputs": {}}
    return told(order, [])


def told(order: Body, outputs: list[str]) -> Body:
    return {
        "form": "deed",
        "image": IMAGE,
        "command": PROGRAM,
        "pod": order,
        "outputs": {name: Output() for name in outputs},
    }

"""Where the inputs of a kfp 2 task come from; pure."""

from __future__ import annotations

import re
from typing import Any

from ...api.workflowgraph import Binding
from ...errors import WrongUse

Body = dict[str, Any]
OWN_INPUT = re.compile(r"\{\{\$\.inputs\.parameters\[(['\"])(.+?)\1\]\}\}")
FACTS = re.compile(r"\{\{\$\.(pipeline_\w+|workspace_path)\}\}")
NAMES = {
    "pipeline_job_name": "run.name",
    "pipeline_job_resource_name": "run.name",
    "pipeline_job_uuid": "run.id",
    "pipeline_job_create_time_utc": "run.created",
    "pipeline_job_schedule_time_utc": "run.created",
}
KEY = re.compile(r'\["(.*?)"\]')


def whole(value: Any) -> Any:
    """Numbers as they were meant: the format writes every one with a point."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [whole(v) for v in value]
    if isinstance(value, dict):
        return {k: whole(v) for k, v in value.items()}
    return value


def parameter(source: Body) -> Binding:
    """Raises `WrongUse` for a source that is none of those kfp writes."""
    keys = KEY.findall(source.get("parameterExpressionSelector") or "")
    if "componentInputParameter" in source:
        return Binding(parameter=source["componentInputParameter"], keys=keys)
    if "taskOutputParameter" in source:
        return Binding(output=produced(source["taskOutputParameter"]), keys=keys)
    if "runtimeValue" in source:
        return constant(whole(source["runtimeValue"].get("constant")))
    if "taskFinalStatus" in source:
        return Binding(status_of=source["taskFinalStatus"]["producerTask"])
    raise WrongUse(f"an input comes from {', '.join(source) or 'nowhere'}, which is not known here")


def constant(value: Any) -> Binding:
    if not isinstance(value, str) or "{{$" not in value:
        return Binding(value=value)
    template = OWN_INPUT.sub(lambda m: "{{input." + m[2] + "}}", value)
    template = FACTS.sub(lambda m: "{{" + NAMES.get(m[1], m[1]) + "}}", template)
    return Binding(template=template)


def artifact(source: Body) -> Binding:
    if "componentInputArtifact" in source:
        return Binding(parameter=source["componentInputArtifact"])
    if "taskOutputArtifact" in source:
        given = source["taskOutputArtifact"]
        return Binding(output=f"{given['producerTask']}.{given['outputArtifactKey']}")
    raise WrongUse(f"an artifact comes from {', '.join(source) or 'nowhere'}, which is not known here")


def produced(source: Body) -> str:
    return f"{source.get('producerTask') or source.get('producerSubtask')}.{source['outputParameterKey']}"

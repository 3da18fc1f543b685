"""What a step of a kfp 2 package is told: the executor input and the placeholders of its command; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .workflowvalues import NoValue, text_of
from .workflowwalk import Call

PLACEHOLDER = re.compile(r"\{\{\$(?:\.([^{}]*?))?\}\}")
PART = re.compile(
    r"^(inputs|outputs)\.(parameters|artifacts)\[(['\"])(.+?)\3\](?:\.(\w+)(?:\[(['\"])(.+?)\6\])?)?$"
)
FACTS = {
    "pipeline_job_name": "run.name",
    "pipeline_job_resource_name": "run.name",
    "pipeline_job_uuid": "run.id",
    "pipeline_task_name": "step.name",
    "pipeline_task_uuid": "step.id",
    "pipeline_job_create_time_utc": "run.created",
    "pipeline_job_schedule_time_utc": "run.created",
}


@dataclass(frozen=True)
class ExecutorPaths:
    """Where a step leaves what it hands over."""

    folder: str
    artifacts: Mapping[str, str]

    @property
    def result(self) -> str:
        return f"{self.folder}/executor_output.json"

    def parameter(self, name: str) -> str:
        return f"{self.folder}/parameters/{name}"


def executor_input(call: Call, paths: ExecutorPaths) -> dict[str, Any]:
    inputs = {name: value for name, value in call.inputs.items() if value is not None}
    return {
        "inputs": {
            "parameterValues": inputs,
            "artifacts": {name: {"artifacts": listed(value)} for name, value in call.artifacts.items()},
        },
        "outputs": {
            "parameters": {name: {"outputFile": paths.parameter(name)} for name in call.step.handed()},
            "artifacts": {
                name: {"artifacts": [artifact(name, a.type, paths.artifacts[name])]}
                for name, a in call.step.makes.items()
            },
            "outputFile": paths.result,
        },
    }


def listed(value: Any) -> list[dict[str, Any]]:
    found = value if isinstance(value, list) else [value]
    return [artifact(a.get("name", ""), a.get("type", ""), a["uri"], a.get("metadata")) for a in found]


def artifact(name: str, title: str, uri: str, metadata: Any = None) -> dict[str, Any]:
    kind = {"schemaTitle": title or "system.Artifact", "schemaVersion": "0.0.1"}
    return {"name": name, "type": kind, "uri": uri, "metadata": metadata or {}}


def filled_command(
    container: dict[str, Any], told: dict[str, Any], call: Call, facts: Mapping[str, str]
) -> None:
    """Put the values into the command and arguments of *container*."""
    for part in ("command", "args"):
        if part in container:
            texts = [t for text in container[part] for t in expanded(text, told, call)]
            container[part] = [PLACEHOLDER.sub(lambda m: put(m, told, call, facts), text) for text in texts]


def expanded(text: str, told: dict[str, Any], call: Call) -> list[str]:
    """A part that is there only if an input is, or that is several parts put together."""
    if not text.startswith(('{"IfPresent"', '{"Concat"')):
        return [text]
    try:
        body = json.loads(text)
    except ValueError:
        return [text]
    return parts_of(body, told)


def parts_of(body: Any, told: dict[str, Any]) -> list[str]:
    if isinstance(body, str):
        return [body]
    if isinstance(body, list):
        return [part for inner in body for part in parts_of(inner, told)]
    if "Concat" in body:
        return ["".join(part for inner in body["Concat"] for part in parts_of(inner, told))]
    chosen = body["IfPresent"]
    inputs = told["inputs"]
    present = chosen["InputName"] in inputs["parameterValues"] or chosen["InputName"] in inputs["artifacts"]
    return parts_of(chosen["Then"] if present else chosen.get("Else") or [], told)


def put(found: re.Match[str], told: dict[str, Any], call: Call, facts: Mapping[str, str]) -> str:
    inside = found[1]
    if inside is None:
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    if inside in FACTS:
        return facts.get(FACTS[inside], "")
    part = PART.match(inside)
    if part is None:
        return found[0]
    side, kind, _, name, what, _, key = part.groups()
    if kind == "parameters":
        return parameter(side, name, told, call)
    return of_artifact(side, name, what or "uri", key, told)


def parameter(side: str, name: str, told: dict[str, Any], call: Call) -> str:
    if side == "outputs":
        return str(told["outputs"]["parameters"][name]["outputFile"])
    values = told["inputs"]["parameterValues"]
    if name in values:
        return text_of(values[name])
    if name in call.step.defaults:
        return text_of(call.step.defaults[name])
    raise NoValue(f"input {name} was not given")


def of_artifact(side: str, name: str, what: str, key: str | None, told: dict[str, Any]) -> str:
    found = told[side]["artifacts"].get(name, {}).get("artifacts")
    if not found:
        raise NoValue(f"artifact {name} was not given")
    if what == "metadata":
        return text_of(found[0]["metadata"].get(key) if key else found[0]["metadata"])
    return str(found[0]["uri"] if what in ("uri", "path") else found[0].get(what, ""))

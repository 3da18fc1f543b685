"""Artifacts that come from outside of the run; pure.

An importer that names a path of the machine needs nobody to run: a step that is given the artifact finds the
folder it lies in mounted, and is told where. What is at an address a pod brings to the volume of the run's
artifacts; the address may hold a key, so it is told without, and reaches the pod as a variable.

Without `reimport` the same place is the same artifact, and what was made of it before may be taken from the
cache; with it every run has an artifact of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from ..api.workflowrun import StepPhase, StepStatus, WorkflowRun
from .workflowexecutor import PLACEHOLDER, put
from .workflowreport import recorded
from .workflowvalues import NoValue, text_of
from .workflowwalk import Call

Body = dict[str, Any]
ADDRESS = "IMPORT_ADDRESS"
"""The variable that a pod is told the address in."""
BUCKETS, WEB = ("s3", "minio"), ("http", "https")


def imported(run: WorkflowRun, call: Call, node: StepStatus, now: datetime) -> StepStatus:
    """The step as it has ended. Raises `NoValue`."""
    order, uri = call.step.pod, address_of(call)
    local_path(uri)
    metadata = described(call)
    artifacts = {
        name: {"name": name, "uri": uri, "type": a.type or "system.Artifact", "metadata": metadata,
               "imported": f"{run.uid}/{call.path}" if order.get("reimport") else "once"}
        for name, a in call.step.makes.items()
    }  # fmt: skip
    return node.but(
        phase=StepPhase.SUCCEEDED,
        started_at=now,
        finished_at=now,
        inputs=recorded(told_inputs(call)),
        artifacts=recorded(artifacts),
        message="",
    )


def address_of(call: Call) -> str:
    order = call.step.pod
    return text_of(call.inputs.get(order["parameter"]) if "parameter" in order else order["uri"])


def fetched(uri: str) -> bool:
    """Whether somebody has to go and get it. Raises `NoValue` for what names no place."""
    parts = urlsplit(uri)
    if parts.scheme not in (*BUCKETS, *WEB):
        local_path(uri)
        return False
    if not parts.hostname or (parts.scheme in BUCKETS and not parts.path.strip("/")):
        raise NoValue(f"{shown(uri)} cannot be imported: it names nothing in a bucket or on a server")
    return True


def shown(uri: str) -> str:
    """An address without what may be secret in it: a user, a password, a signature."""
    parts = urlsplit(uri)
    if parts.scheme not in (*BUCKETS, *WEB):
        return uri
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def told_inputs(call: Call) -> Body:
    """The inputs as a status may show them."""
    importer = call.step.form == "importer"
    return {n: shown(v) if importer and isinstance(v, str) else v for n, v in call.inputs.items()}


def fetched_artifacts(call: Call, made: Mapping[str, Body]) -> dict[str, Body]:
    """What an importer hands over when its pod has brought it."""
    metadata = described(call)
    source = shown(address_of(call))
    return {n: {**a, "metadata": metadata, "files": True, "from": source} for n, a in made.items()}


def local_path(uri: str) -> str:
    """The path of the machine that a URI names. Raises `NoValue`."""
    parts = urlsplit(uri)
    path = unquote(parts.path) if parts.scheme else uri
    clean = PurePosixPath(path)
    if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
        raise NoValue(
            f"{uri} cannot be imported: file:///…, s3://, minio://, http:// and https:// are read; "
            "bring other data with a SampleSet, or have a step fetch it"
        )
    if not clean.is_absolute() or ".." in clean.parts or len(clean.parts) < 2:
        raise NoValue(
            f"{uri or 'an empty text'} cannot be imported: it names no absolute path of a file or folder"
        )
    return str(clean)


def described(call: Call) -> Body:
    """The metadata, addresses in it as they may be shown."""
    said = call.step.pod.get("metadata") or {}
    shy = call._replace(inputs=told_inputs(call))
    return {key: shown(v) if isinstance(v, str) else v for key, v in filled(said, shy).items()}


def filled(node: Any, call: Call) -> Any:
    told = {"inputs": {"parameterValues": call.inputs, "artifacts": {}}, "outputs": {}}
    if isinstance(node, str):
        return PLACEHOLDER.sub(lambda found: put(found, told, call, call.facts), node)
    if isinstance(node, dict):
        return {filled(key, call): filled(value, call) for key, value in node.items()}
    return [filled(n, call) for n in node] if isinstance(node, list) else node


def at_hand(call: Call, folder: str, shared: str) -> tuple[Call, dict[str, str]]:
    """The call with imported artifacts where its pod finds them, and what to mount: place to path.

    What lies below *shared* every pod has.
    """
    mounts: dict[str, str] = {}

    def there(artifact: Body) -> Body:
        path = PurePosixPath(local_path(artifact["uri"])) if artifact.get("imported") else None
        if path is None or path.is_relative_to(shared):
            return artifact if path is None else {**artifact, "uri": str(path), "source": str(path)}
        places = {source: place for place, source in mounts.items()}
        place = places.get(str(path.parent)) or f"{folder}/{len(mounts)}"
        mounts[place] = str(path.parent)
        return {**artifact, "uri": f"{place}/{path.name}", "source": str(path)}

    artifacts = {
        name: [there(a) for a in value] if isinstance(value, list) else there(value)
        for name, value in call.artifacts.items()
    }
    return call._replace(artifacts=artifacts), mounts

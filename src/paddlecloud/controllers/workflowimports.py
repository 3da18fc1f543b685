"""Artifacts that come from outside of the run: an importer names one, and nobody has to run for that; pure.

Without `reimport` the same place is the same artifact, and what was made of it before may be taken from the
cache; with it every run has an artifact of its own. A step that is given one finds the folder it lies in
mounted, and is told where: the machine's own paths may mean something else inside of a pod.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from ..api.workflowrun import StepPhase, StepStatus, WorkflowRun
from .workflowexecutor import PLACEHOLDER, put
from .workflowreport import recorded
from .workflowvalues import NoValue, text_of
from .workflowwalk import Call

Body = dict[str, Any]


def imported(run: WorkflowRun, call: Call, node: StepStatus, now: datetime) -> StepStatus:
    """The step as it has ended. Raises `NoValue`."""
    order = call.step.pod
    uri = text_of(call.inputs.get(order["parameter"]) if "parameter" in order else order["uri"])
    local_path(uri)
    metadata = filled(order.get("metadata") or {}, call)
    artifacts = {
        name: {"name": name, "uri": uri, "type": a.type or "system.Artifact", "metadata": metadata,
               "imported": f"{run.uid}/{call.path}" if order.get("reimport") else "once"}
        for name, a in call.step.makes.items()
    }  # fmt: skip
    return node.but(
        phase=StepPhase.SUCCEEDED,
        started_at=now,
        finished_at=now,
        inputs=recorded(call.inputs),
        artifacts=recorded(artifacts),
        message="",
    )


def local_path(uri: str) -> str:
    """The path of the machine that a URI names. Raises `NoValue`."""
    parts = urlsplit(uri)
    path = unquote(parts.path) if parts.scheme else uri
    clean = PurePosixPath(path)
    if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
        raise NoValue(
            f"{uri} cannot be imported: only file:///… is read; "
            "bring it with a SampleSet, or have a step fetch it"
        )
    if not clean.is_absolute() or ".." in clean.parts or len(clean.parts) < 2:
        raise NoValue(
            f"{uri or 'an empty text'} cannot be imported: it names no absolute path of a file or folder"
        )
    return str(clean)


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

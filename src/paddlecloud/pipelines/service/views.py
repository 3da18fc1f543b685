"""Runs, pipelines and experiments as the two generations of clients read them; pure.

One record, two views: what one client made the other sees, under the same id.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from ...api.meta import Resource
from ...api.workflowrun import RunPhase, StepPhase, StepStatus, WorkflowRun
from ...api.workflowservice import Experiment, Pipeline, PipelineVersion
from ...controllers.workflowrun import ID_LABEL
from ...controllers.workflowvalues import text_of
from ..artifacts import BUCKET, PUBLISHED, folder

Body = dict[str, Any]
STATES = {
    RunPhase.PENDING: "PENDING",
    RunPhase.RUNNING: "RUNNING",
    RunPhase.SUCCEEDED: "SUCCEEDED",
    RunPhase.FAILED: "FAILED",
    RunPhase.CANCELED: "CANCELED",
}
STEP_STATES = {
    StepPhase.WAITING: "PENDING",
    StepPhase.RUNNING: "RUNNING",
    StepPhase.SUCCEEDED: "SUCCEEDED",
    StepPhase.FAILED: "FAILED",
    StepPhase.SKIPPED: "SKIPPED",
    StepPhase.OMITTED: "SKIPPED",
}
ARGO_PHASES = {StepPhase.WAITING: "Pending"}


def id_of(obj: Resource) -> str:
    return obj.metadata.labels.get(ID_LABEL) or (obj.name if not isinstance(obj, WorkflowRun) else obj.uid)


def time_of(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def said(body: Body) -> Body:
    """Without what is not known."""
    return {k: v for k, v in body.items() if v is not None}


def created(obj: Resource) -> str | None:
    return time_of(obj.metadata.creation_timestamp)


def error_of(run: WorkflowRun) -> str:
    if run.status.phase in (RunPhase.FAILED, RunPhase.CANCELED):
        return next((c.message for c in run.status.conditions if c.type == "Succeeded"), "")
    stuck = [c for c in run.status.conditions if c.type == "Progressing" and c.status == "False"]
    return stuck[0].message if stuck else ""


def stored(archived: bool, v1: bool = False) -> str:
    prefix = "STORAGESTATE_" if v1 else ""
    return prefix + ("ARCHIVED" if archived else "AVAILABLE")


def experiment_v2(e: Experiment) -> Body:
    return said({
        "experiment_id": e.name, "display_name": e.spec.display_name, "description": e.spec.description,
        "namespace": e.namespace, "created_at": created(e), "storage_state": stored(e.spec.archived),
    })  # fmt: skip


def experiment_v1(e: Experiment) -> Body:
    return said({
        "id": e.name, "name": e.spec.display_name, "description": e.spec.description,
        "created_at": created(e), "storage_state": stored(e.spec.archived, v1=True),
        "resource_references": [owned("NAMESPACE", e.namespace, e.namespace)],
    })  # fmt: skip


def owned(kind: str, id: str, name: str, relationship: str = "OWNER") -> Body:
    return {"key": {"type": kind, "id": id}, "name": name, "relationship": relationship}


def pipeline_v2(p: Pipeline) -> Body:
    return said({
        "pipeline_id": p.name, "name": p.spec.display_name, "display_name": p.spec.display_name,
        "description": p.spec.description, "namespace": p.namespace, "created_at": created(p),
    })  # fmt: skip


def pipeline_v1(p: Pipeline, default: PipelineVersion | None) -> Body:
    return said({
        "id": p.name, "name": p.spec.display_name, "description": p.spec.description,
        "created_at": created(p), "default_version": version_v1(default) if default else None,
        "parameters": [],
    })  # fmt: skip


def version_v2(v: PipelineVersion, text: Body | None = None) -> Body:
    return said({
        "pipeline_id": v.spec.pipeline, "pipeline_version_id": v.name, "name": v.spec.display_name,
        "display_name": v.spec.display_name, "description": v.spec.description, "created_at": created(v),
        "pipeline_spec": text,
    })  # fmt: skip


def version_v1(v: PipelineVersion) -> Body:
    return said({
        "id": v.name, "name": v.spec.display_name, "description": v.spec.description,
        "created_at": created(v), "resource_references": [owned("PIPELINE", v.spec.pipeline, "")],
    })  # fmt: skip


def run_v2(run: WorkflowRun, text: Body | None = None, pipeline: str = "") -> Body:
    status = run.status
    state = "CANCELING" if run.spec.stop and not status.phase.final else STATES[status.phase]
    reference = {"pipeline_id": pipeline, "pipeline_version_id": run.spec.pipeline_version}
    error = error_of(run)
    return said({
        "run_id": id_of(run), "experiment_id": run.spec.experiment,
        "display_name": run.spec.display_name or run.name, "description": run.spec.description,
        "state": state, "storage_state": stored(run.spec.archived), "created_at": created(run),
        "scheduled_at": created(run), "finished_at": time_of(status.completion_time),
        "service_account": run.spec.service_account,
        "error": {"code": 13, "message": error} if error else None,
        "pipeline_spec": text if text is not None and not run.spec.pipeline_version else None,
        "pipeline_version_reference": reference if run.spec.pipeline_version else None,
        "runtime_config": {"parameters": run.spec.parameters},
        "recurring_run_id": run.spec.recurring_run or None,
        "state_history": [{"update_time": created(run), "state": state}],
        "run_details": {"task_details": [task_v2(run, path, node) for path, node in status.nodes.items()]},
    })  # fmt: skip


def task_v2(run: WorkflowRun, path: str, node: StepStatus) -> Body:
    state = STEP_STATES[node.phase]
    return said({
        "run_id": id_of(run), "task_id": path, "display_name": node.display or path,
        "create_time": time_of(node.started_at) or created(run), "start_time": time_of(node.started_at),
        "end_time": time_of(node.finished_at), "state": state, "pod_name": node.pod or None,
        "error": {"code": 13, "message": node.message} if node.phase is StepPhase.FAILED else None,
        "parent_task_id": path.rpartition("/")[0] or None,
        "state_history": [{"update_time": time_of(node.finished_at or node.started_at), "state": state}],
    })  # fmt: skip


def run_v1(run: WorkflowRun, references: list[Body]) -> Body:
    status = run.status
    ended = "Failed" if status.phase is RunPhase.CANCELED else status.phase.value
    word = "Terminating" if run.spec.stop and not status.phase.final else ended
    return said({
        "id": id_of(run), "name": run.spec.display_name or run.name, "description": run.spec.description,
        "status": word, "error": error_of(run) or None, "storage_state": stored(run.spec.archived, v1=True),
        "created_at": created(run), "scheduled_at": created(run),
        "finished_at": time_of(status.completion_time), "service_account": run.spec.service_account,
        "pipeline_spec": {
            "parameters": [{"name": n, "value": text_of(v)} for n, v in run.spec.parameters.items()],
        },
        "resource_references": references,
    })  # fmt: skip


def workflow_manifest(run: WorkflowRun, text: Body) -> str:
    """The Workflow with the status that the old interface reads."""
    body: Body = dict(text) if text.get("kind") == "Workflow" else {"kind": "Workflow", "spec": {}}
    body["metadata"] = {
        **(body.get("metadata") or {}),
        "name": run.name,
        "namespace": run.namespace,
        "uid": id_of(run),
    }
    ended = "Failed" if run.status.phase is RunPhase.CANCELED else run.status.phase.value
    body["status"] = said({
        "phase": ended, "message": error_of(run) or None, "startedAt": time_of(run.status.start_time),
        "finishedAt": time_of(run.status.completion_time),
        "nodes": {path: node_v1(run, path, node) for path, node in run.status.nodes.items()},
    })  # fmt: skip
    return json.dumps(body)


def node_v1(run: WorkflowRun, path: str, node: StepStatus) -> Body:
    outputs = [{"name": n, "value": text_of(v)} for n, v in node.outputs.items()]
    published = run.metadata.annotations.get(PUBLISHED)
    artifacts = [
        {"name": n, "path": a.get("uri", "")}
        | ({"s3": {"bucket": BUCKET, "key": f"{folder(run)}/{path}/{n}"}} if published else {})
        for n, a in node.artifacts.items()
    ]
    children = [p for p in run.status.nodes if p.rpartition("/")[0] == path]
    return said({
        "id": path, "name": f"{run.name}.{path}", "displayName": node.display or path,
        "type": "DAG" if node.group else "Pod", "templateName": node.step,
        "phase": ARGO_PHASES.get(node.phase, node.phase.value), "message": node.message or None,
        "startedAt": time_of(node.started_at), "finishedAt": time_of(node.finished_at),
        "inputs": {"parameters": [{"name": n, "value": text_of(v)} for n, v in node.inputs.items()]},
        "outputs": {"parameters": outputs, "artifacts": artifacts}, "children": children,
    })  # fmt: skip

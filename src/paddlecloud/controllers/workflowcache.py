"""Whether what an equal step handed over earlier may stand for running a step; pure.

Equal is: the same pod with all references filled in, the same inputs, the same outputs asked for. Names,
resources and labels do not count. Steps that do something to the cluster are never answered from here.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

from ..api.meta import Metadata, OwnerReference
from ..api.workflowrun import StepStatus, WorkflowRun
from ..api.workflowservice import StepCache, StepCacheSpec
from .workflowimports import address_of, described
from .workflowvalues import text_of
from .workflowwalk import Call

OF_CONTAINER = ("image", "command", "args", "env", "volumeMounts")


def cache_key(call: Call) -> str:
    """Empty when the step is not to be answered from the cache."""
    step = call.step
    if not step.cache.enabled or step.form not in ("argo", "ir", "importer"):
        return ""
    if step.form == "importer":
        place = address_of(call)
        parts: Any = [step.cache.scope, "import", place, described(call)]
    elif step.cache.key:
        parts = [step.cache.scope, step.name, step.cache.key]
    else:
        spec = step.pod.get("spec") or {}
        parts = {
            "scope": step.cache.scope,
            "containers": [{k: c.get(k) for k in OF_CONTAINER} for c in spec.get("containers") or ()],
            "others": [spec.get("initContainers"), spec.get("volumes")],
            "inputs": {n: text_of(v) for n, v in call.inputs.items()},
            "extras": {n: text_of(v) for n, v in call.extras.items()},
            "artifacts": call.artifacts,
            "outputs": {n: o.wire() for n, o in step.handed().items()},
            "makes": {n: a.wire() for n, a in step.makes.items()},
        }
    text = json.dumps(parts, sort_keys=True, default=str)
    return f"step-{hashlib.sha256(text.encode()).hexdigest()[:40]}"


def usable(call: Call, entry: StepCache, now: datetime) -> bool:
    """Whether it is young enough, for the step that left it and for the one that would take it."""
    made = entry.metadata.creation_timestamp or now
    limits = [s for s in (call.step.cache.within_seconds, entry.spec.within_seconds) if s is not None]
    return all(now - made < timedelta(seconds=s) for s in limits)


def kept(run: WorkflowRun, call: Call, node: StepStatus) -> StepCache | None:
    """What to keep of a step that has succeeded; nothing where nobody may ever use it."""
    key = cache_key(call)
    within = call.step.cache.within_seconds
    if not key or node.cached or within == 0:
        return None
    return StepCache(
        # Its files lie in the folder of the run: it goes with it.
        metadata=Metadata(name=key, namespace=run.namespace, owner_references=[of(run)]),
        spec=StepCacheSpec(
            outputs=node.outputs,
            artifacts=node.artifacts,
            run=run.name,
            step=call.path,
            within_seconds=within,
        ),
    )


def of(run: WorkflowRun) -> OwnerReference:
    return OwnerReference(api_version=run.api_version, kind=run.kind, name=run.name, uid=run.uid)

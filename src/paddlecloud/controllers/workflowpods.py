"""The pod of a step: what it is told, where it leaves what it hands over; pure.

A step of a package of others is started by a small program (`workflowlauncher`), which puts inputs where
the step looks for them and afterwards tells what the step left. Artifacts are files on one shared volume a
namespace: what one step leaves there another finds under the same path.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from ..api.core import ConfigMap, PersistentVolumeClaim, Pod
from ..api.meta import Metadata, Resource
from ..api.workflowrun import WorkflowRun
from .workflowexecutor import ExecutorPaths, executor_input, filled_command
from .workflowimports import ADDRESS, address_of, at_hand
from .workflowvalues import REFERENCE, text_of
from .workflowwalk import Call

RUN_LABEL, STEP_LABEL = "workflows.paddlepaddle.org/run", "workflows.paddlepaddle.org/step"
NODE_ANNOTATION = "workflows.paddlepaddle.org/node"
PLACE = "/var/run/workflow"
ARTIFACTS, IMPORTS = f"{PLACE}/artifacts", f"{PLACE}/imports"
LAUNCHER_KEY = "launch.py"
CLAIM = "workflow-artifacts"
FUNCTION = ("python3", "-m", "functionstep")
"""How the suite `kfp` runs a function; it does the work of the launcher in the same process."""
FETCHER = ("paddlecloud/core", "python3", "-m", "paddlecloud.pipelines.fetching")
"""Image and program that bring what importers name at an address."""
STORE_KEYS = "model-store"
"""The Secret with the keys of the cluster's own buckets, where the namespace has one."""
LONGEST = 63


@cache
def launcher() -> ConfigMap:
    """The program, in a ConfigMap named by its content."""
    program = resources.files(__package__).joinpath("workflowlauncher.py").read_text()
    name = f"workflow-launcher-{hashlib.sha256(program.encode()).hexdigest()[:10]}"
    return ConfigMap(metadata=Metadata(name=name), data={LAUNCHER_KEY: program})


def pod_name(run: WorkflowRun, path: str, attempt: int = 0) -> str:
    """Names are told apart by their path; one that is too long or no name is told apart by its digest."""
    return named(run.name, path, attempt)


@lru_cache(4096)
def named(run: str, path: str, attempt: int) -> str:
    again = f"-{attempt}" if attempt else ""
    plain = f"{run}-{path}"
    if re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", plain) and len(plain + again) <= LONGEST:
        return plain + again
    digest = hashlib.sha256(path.encode()).hexdigest()[:10]
    words = re.sub(r"[^a-z0-9]+", "-", path.rpartition("/")[2].lower()).strip("-")
    room = LONGEST - len(run) - len(digest) - len(again) - 2
    return "-".join(p for p in (run[: LONGEST - 20], words[: max(room, 0)].strip("-"), digest) if p) + again


def make_pod(run: WorkflowRun, call: Call, attempt: int = 0) -> Pod:
    made = BUILDERS[call.step.form](run, call)
    metadata, spec = made.get("metadata") or {}, made["spec"]
    spec["restartPolicy"] = "Never"
    spec.setdefault("terminationGracePeriodSeconds", 5)
    if run.spec.service_account:
        spec.setdefault("serviceAccountName", run.spec.service_account)
    label = re.sub(r"[^A-Za-z0-9_.-]+", "-", call.step.name).strip("-_.")[:63].strip("-_.")
    return Pod(
        metadata=Metadata(
            name=pod_name(run, call.path, attempt),
            namespace=run.namespace,
            labels={**(metadata.get("labels") or {}), RUN_LABEL: run.name, STEP_LABEL: label},
            annotations={**(metadata.get("annotations") or {}), NODE_ANNOTATION: call.path},
        ),
        spec=spec,
    )


def needs_of(run: WorkflowRun, calls: list[Call], there: Iterable[ConfigMap]) -> tuple[Resource, ...]:
    """What the pods of these steps need and nobody owns: the shared volume, and the launcher, once."""
    launched = [c for c in calls if c.step.form in ("argo", "ir")]
    needs: list[Resource] = []
    program = launcher()
    if launched and program.name not in {m.name for m in there}:
        needs.append(program.but(metadata=program.metadata.but(namespace=run.namespace)))
    if any(uses_artifacts(c) for c in calls):
        needs.append(
            PersistentVolumeClaim(
                metadata=Metadata(name=CLAIM, namespace=run.namespace),
                spec={"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "10Gi"}}},
            )
        )
    return tuple(needs)


def uses_artifacts(call: Call) -> bool:
    return bool(call.step.makes or any("raw" not in a for a in flat(call.artifacts)))


def artifact_place(run: WorkflowRun, call: Call, name: str) -> str:
    folder = hashlib.sha256(call.path.encode()).hexdigest()[:10]
    words = re.sub(r"[^A-Za-z0-9_.-]+", "-", call.step.name)
    return f"{ARTIFACTS}/{run.name}-{run.uid[:8]}/{words}-{folder}/{name}"


def made_artifacts(run: WorkflowRun, call: Call) -> dict[str, dict[str, Any]]:
    """The artifacts a step will have handed over when it has succeeded."""
    return {
        name: {"name": name, "uri": artifact_place(run, call, name), "type": a.type or "system.Artifact"}
        for name, a in call.step.makes.items()
    }


def plain(run: WorkflowRun, call: Call) -> dict[str, Any]:
    texts = {name: text_of(value) for name, value in call.inputs.items()}
    container = {
        "name": "main",
        "image": call.step.image,
        "command": [REFERENCE.sub(lambda m: texts.get(m[1], ""), part) for part in call.step.command],
        "env": [
            {"name": "WORKFLOW_RUN", "value": run.name},
            *({"name": f"INPUT_{key}", "value": value} for key, value in texts.items()),
        ],
    }
    return {"spec": {"containers": [container]}}


def deed(run: WorkflowRun, call: Call) -> dict[str, Any]:
    """A step that does something to an object of the cluster: our own program does it."""
    order = substituted(call.step.pod, lambda m: reference(run, call, m))
    if "inputs" in order:
        order["inputs"] = call.inputs
    container = {
        "name": "main",
        "image": call.step.image,
        "command": [*call.step.command, json.dumps(order, sort_keys=True)],
        "env": [{"name": "WORKFLOW_RUN", "value": run.name}],
    }
    return {"spec": {"containers": [container]}}


def fetch(run: WorkflowRun, call: Call) -> dict[str, Any]:
    """What an importer names at an address is brought to where its artifact is to be."""
    [name] = call.step.makes
    keys = {
        variable: {"secretKeyRef": {"name": STORE_KEYS, "key": key, "optional": True}}
        for variable, key in (
            ("PADDLECLOUD_STORE_ACCESS_KEY", "access-key"),
            ("PADDLECLOUD_STORE_SECRET_KEY", "secret-key"),
        )
    }
    container: dict[str, Any] = {
        "name": "main",
        "image": FETCHER[0],
        "command": [*FETCHER[1:], artifact_place(run, call, name)],
        "env": [
            {"name": ADDRESS, "value": address_of(call)},
            *({"name": variable, "valueFrom": source} for variable, source in keys.items()),
        ],
        "volumeMounts": [{"name": CLAIM, "mountPath": ARTIFACTS}],
    }
    volume = {"name": CLAIM, "persistentVolumeClaim": {"claimName": CLAIM}}
    return {"spec": {"containers": [container], "volumes": [volume]}}


def argo(run: WorkflowRun, call: Call) -> dict[str, Any]:
    made = substituted(call.step.pod, lambda m: reference(run, call, m))
    step = call.step
    order: dict[str, Any] = {
        "outputs": {n: [o.path, o.default, "TEXT"] for n, o in step.handed().items()},
        "artifacts": {n: [a.path, artifact_place(run, call, n), a.optional] for n, a in step.makes.items()},
    }
    for name, value in call.artifacts.items():
        path = step.artifact_paths.get(name)
        if path and "raw" in value:
            order.setdefault("raw", []).append([path, value["raw"]])
        elif path:
            order.setdefault("links", []).append([value["uri"], path])
    paths = [*step.artifact_paths.values(), *(o.path for o in step.handed().values())]
    paths += [a.path for a in step.makes.values()]
    return launched(made, order, call, paths)


def ir(run: WorkflowRun, call: Call) -> dict[str, Any]:
    call, imports = at_hand(call, IMPORTS, ARTIFACTS)
    step = call.step
    paths = ExecutorPaths(f"{PLACE}/outputs", {n: artifact_place(run, call, n) for n in step.makes})
    told = executor_input(call, paths)
    made = json.loads(json.dumps(step.pod))
    container = made["spec"]["containers"][0]
    filled_command(container, told, call, facts_of(run, call))
    made = substituted(made, lambda m: reference(run, call, m), skip=container)
    order = {
        "outputs": {n: [paths.parameter(n), o.default, o.type] for n, o in step.handed().items()},
        "artifacts": {n: ["", artifact_place(run, call, n), True] for n in step.makes},
        "executor": paths.result,
        "expects": [
            [a["uri"], a.get("source", "")] for a in flat(call.artifacts) if a.get("files") or "source" in a
        ],
    }
    for number, (place, path) in enumerate(imports.items()):
        mount(made, f"workflow-import-{number}", {"hostPath": {"path": path, "type": "Directory"}}, place)
    return launched(made, order, call, [paths.result])


def mount(made: dict[str, Any], name: str, source: dict[str, Any], place: str) -> None:
    """A volume that the step reads from."""
    container = made["spec"]["containers"][0]
    made["spec"]["volumes"] = [*(made["spec"].get("volumes") or ()), {"name": name, **source}]
    container["volumeMounts"] = [
        *(container.get("volumeMounts") or ()),
        {"name": name, "mountPath": place, "readOnly": True},
    ]


def launched(made: dict[str, Any], order: dict[str, Any], call: Call, paths: list[str]) -> dict[str, Any]:
    """The same pod with its first container started by the launcher."""
    spec = made["spec"]
    container = spec["containers"][0]
    order = {"image": container.get("image", ""), **order}
    command = [*(container.get("command") or ()), *(container.get("args") or ())]
    by = list(FUNCTION) if tuple(command[:3]) == FUNCTION else ["python3", f"{PLACE}/{LAUNCHER_KEY}"]
    rest = command[3:] if tuple(command[:3]) == FUNCTION else command
    container["command"] = [*by, json.dumps(order, sort_keys=True), *rest]
    container.pop("args", None)
    container["env"] = [
        *(container.get("env") or ()),
        {"name": "WORKFLOW_RUN", "value": call.facts["run.name"]},
    ]
    mounts = list(container.get("volumeMounts") or ())
    volumes = list(spec.get("volumes") or ())
    volumes.append({"name": "workflow-launcher", "configMap": {"name": launcher().name}})
    mounts.append(
        {"name": "workflow-launcher", "mountPath": f"{PLACE}/{LAUNCHER_KEY}", "subPath": LAUNCHER_KEY}
    )
    if uses_artifacts(call):
        volumes.append({"name": "workflow-artifacts", "persistentVolumeClaim": {"claimName": CLAIM}})
        mounts.append({"name": "workflow-artifacts", "mountPath": ARTIFACTS})
    taken = {m["mountPath"].rstrip("/") for m in mounts}
    for number, folder in enumerate(folders_of(paths, taken)):
        volumes.append({"name": f"workflow-files-{number}", "emptyDir": {}})
        mounts.append({"name": f"workflow-files-{number}", "mountPath": folder})
    container["volumeMounts"], spec["volumes"] = mounts, volumes
    return made


def folders_of(paths: list[str], taken: set[str]) -> list[str]:
    """The folders of these files that no volume of the step holds; each becomes a volume of its own.

    So two steps that both write to /tmp/outputs do not meet, wherever they run.
    """
    folders: list[str] = []
    for path in sorted(set(paths)):
        parents = [str(p) for p in PurePosixPath(path).parents]
        if not path.startswith("/") or len(parents) < 2:
            continue
        if not any(p in taken or p in folders for p in parents):
            folders.append(parents[0])
    return folders


def facts_of(run: WorkflowRun, call: Call) -> dict[str, str]:
    return {**call.facts, "step.name": call.step.name, "step.id": pod_name(run, call.path)}


def reference(run: WorkflowRun, call: Call, found: re.Match[str]) -> str:
    """What a reference in the text of a pod stands for; a text of the user's stays."""
    kind, _, name = found[1].partition(".")
    if kind == "input" and name in call.inputs:
        return text_of(call.inputs[name])
    if kind == "input" and name in call.step.defaults:
        return text_of(call.step.defaults[name])
    if kind == "extra" and name in call.extras:
        return text_of(call.extras[name])
    if found[1] == "pod.name":
        return pod_name(run, call.path)
    return call.facts.get(found[1], found[0])


def substituted(node: Any, put: Callable[[re.Match[str]], str], skip: dict[str, Any] | None = None) -> Any:
    if isinstance(node, str):
        return REFERENCE.sub(put, node)
    if isinstance(node, list):
        return [substituted(n, put, skip) for n in node]
    if isinstance(node, dict):
        if node is skip:
            return {k: v if k in ("command", "args") else substituted(v, put, skip) for k, v in node.items()}
        return {k: substituted(v, put, skip) for k, v in node.items()}
    return node


def flat(artifacts: dict[str, Any]) -> list[dict[str, Any]]:
    return [a for value in artifacts.values() for a in (value if isinstance(value, list) else [value])]


BUILDERS: dict[str, Callable[[WorkflowRun, Call], dict[str, Any]]] = {
    "plain": plain, "argo": argo, "ir": ir, "deed": deed, "importer": fetch,
}  # fmt: skip

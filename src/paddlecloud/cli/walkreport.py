"""What a finished walk tells: a table of its steps, what the two versions are worth, where to look."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from ..api.apps import Deployment
from ..api.core import Pod, Service
from ..api.meta import Key
from ..api.paddleservice import PaddleService
from ..api.workflowrun import WorkflowRun
from ..embedded.identity import Identity
from ..errors import PaddleCloudError
from ..pipelines.components.training import curves_key
from ..pipelines.curves import PORT
from ..sdk.client import Client
from ..sdk.runservice import NAMESPACE
from ..settings import Home
from .walktraces import job_of

Outputs = Mapping[str, Any]


def summary(run: WorkflowRun, before: Sequence[tuple[str, str, float]]) -> Table:
    """*before*: the parts ahead of the pipeline, with their seconds."""
    table = Table(title="from data to a served model", title_justify="left", header_style="bold")
    table.add_column("step")
    table.add_column("result")
    table.add_column("seconds", justify="right")
    total = 0.0
    for name, what, took in before:
        table.add_row(name, what, f"{took:.1f}")
        total += took
    nodes = sorted(run.status.nodes.items(), key=lambda n: str(n[1].started_at))
    for name, node in nodes:
        began, ended = node.started_at, node.finished_at
        took = (ended - began).total_seconds() if began and ended else 0.0
        table.add_row(name, result(run, name), f"{took:.1f}")
    if run.status.start_time and run.status.completion_time:
        total += (run.status.completion_time - run.status.start_time).total_seconds()
    table.add_section()
    table.add_row("all", "", f"{total:.1f}")
    return table


RESULTS: dict[str, Callable[[Outputs], str]] = {
    "deposit": lambda o: f"the data is in {o['uri']}",
    "dataset": lambda o: f"SampleSet {o['name']} Ready: {o['files']} files, {o['size']}, verified",
    "warm-up": lambda o: "every file lies on the node that trains",
    "training": lambda o: f"PaddleJob {o['name']} Completed: {metrics(o)}",
    "first-version": lambda o: f"ModelVersion {o['version']} Ready: {o['files']} files by content",
    "serving": lambda o: f"PaddleService {o['name']} Ready: {o['version']} at {o['url']}",
    "first-requests": lambda o: answered(o),
    "second-version": lambda o: f"ModelVersion {o['version']} Ready: {o['files']} files by content",
    "canary": lambda o: f"{o['version']} gets {o['percent']} % of the requests",
    "shared-requests": lambda o: f"{answered(o)}; {shares(o)}",
    "promotion": lambda o: f"{o['version']} is the default of PaddleService {o['name']}",
    "last-requests": lambda o: answered(o),
}


def result(run: WorkflowRun, name: str) -> str:
    return RESULTS[name](run.status.nodes[name].outputs)


def metrics(outputs: Outputs) -> str:
    told = json.loads(outputs["metrics"] or "{}")
    return ", ".join(f"{k} {told[k]:.4f}" for k in ("accuracy", "auc", "loss") if k in told)


def answered(outputs: Outputs) -> str:
    return f"{outputs['requests']} answered, accuracy {outputs['accuracy']}, p50 {outputs['median']} ms"


def shares(outputs: Outputs) -> str:
    """`shapes-2 gave 29.0 % of the answers`; the newest version is the canary."""
    counts = json.loads(outputs["versions"] or "{}")
    if not counts:
        return "the gateway does not tell who answered"
    newest = max(counts, key=lambda version: int(version.rpartition("-")[2]))
    return f"{newest} gave {100 * counts[newest]['requests'] / int(outputs['requests']):.1f} % of the answers"


def accuracy(run: WorkflowRun, step: str) -> float:
    return float(run.status.nodes[step].outputs["accuracy"])


def addresses(console: Console, client: Client, identity: Identity, run: WorkflowRun, model: str) -> None:
    first, last = (run.status.nodes[s].outputs["version"] for s in ("first-version", "second-version"))
    before, after = (accuracy(run, s) for s in ("first-requests", "last-requests"))
    host = client.get(PaddleService, NAMESPACE, model).status.url.removeprefix("http://")
    lines = (
        f"accuracy   {first} {before:.4f}  →  {last} {after:.4f}",
        f"gateway    {identity.gateway}  with the header Host: {host}",
        f"pipelines  {identity.pipelines}  run {run.spec.display_name!r}",
        f"curves     {curves_place(client, curves_key(job_of(run)))}",
    )
    console.print("\n".join(lines), markup=False, soft_wrap=True)


def curves_place(client: Client, key: Key) -> str:
    """Where the curves are shown, or why they are not."""
    try:
        server = client.get(Deployment, *key)
        address = str(client.get(Service, *key).spec.get("clusterIP") or "")
    except PaddleCloudError as error:
        return f"not shown: {error.message}"
    if int(server.status.get("availableReplicas") or 0):
        forward = f"pdc port-forward svc/{key.name} -n {key.namespace} {PORT}:{PORT}"
        return f"http://{address}:{PORT}  or  {forward}" if reached(address) else forward
    return f"not shown yet: {hindrance(client, key)}"


def reached(address: str) -> bool:
    """Whether programs of this machine reach Services: an ordinary user's may not."""
    try:
        socket.create_connection((address, PORT), 1).close()
    except OSError:
        return False
    return True


def hindrance(client: Client, key: Key) -> str:
    for pod in client.list(Pod, key.namespace, labels={"visualdl": key.name}).items:
        for status in pod.status.get("containerStatuses") or ():
            waits = (status.get("state") or {}).get("waiting") or {}
            if waits:
                return f"{waits.get('reason')}: {waits.get('message') or 'its container is being made'}"
    return f"pdc why deployment/{key.name} -n {key.namespace} tells more"


def next_steps(console: Console, home: Home, model: str, run: str) -> None:
    option = "" if home.root == Home().root else f" --home {home}"
    pdc, where = f"  pdc{option}", f"-n {NAMESPACE}"
    lines = [
        f"{pdc} get all {where}",
        f"{pdc} get samplesets {where}",
        f"{pdc} model ls {where}",
        *([f"{pdc} pipeline show {run}"] if run else []),
        f"{pdc} why paddleservice/{model} {where}",
        f"  kubectl --kubeconfig {home.kubeconfig} get pdj {where}",
        f"{pdc} down",
    ]
    console.print("\nThe cluster stays up. Try:\n" + "\n".join(lines), soft_wrap=True)

"""`pdc demo`: the walk from data to a served model, on a cluster that is started for it if need be."""

from __future__ import annotations

import contextlib
import importlib.util
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from ..api.meta import Key
from ..api.paddlejob import PaddleJob
from ..api.paddleservice import PaddleService
from ..api.workflowrun import RunPhase, StepPhase, WorkflowRun
from ..errors import Failed, NotFound
from ..pipelines.running import submit
from ..pipelines.walk import walk
from ..sdk.client import Client
from ..settings import Home, shipped
from . import clusters
from .context import Settings, pass_settings
from .following import follow
from .requesting import Score, ask_gateway

NAMESPACE, MODEL, IMAGE = "default", "shapes", "paddlecloud/shapes"
TRAIN, TEST, SEED = 1600, 400, 7
ENOUGH = 0.9  # a model that learnt nothing is right for one in four


@click.command()
@click.option("--keep", is_flag=True, help="Leave the cluster up and say what to try next.")
@click.option("--workers", type=click.IntRange(1, 8), default=2, show_default=True)
@click.option("--epochs", type=click.IntRange(1), default=8, show_default=True)
@pass_settings
def demo(settings: Settings, keep: bool, workers: int, epochs: int) -> None:
    """Walk from generated data to a trained model that answers requests."""
    home, console = settings.home, Console(highlight=False)
    stages = Stages(console)
    was_running = clusters.state(home).running
    stays = keep or was_running
    try:
        with stages("data set", f"{TRAIN + TEST} images of shapes"):
            source = make_data(home)
        if not was_running:
            with stages("cluster", f"embedded, in {home}"):
                clusters.start(home, [])
        with settings.connect() as client:
            run = start_walk(client, source, workers, epochs)
            try:
                follow(client, run, console)
            except KeyboardInterrupt:
                if not stays:
                    abandon(client, run)
                raise
            finished = client.get(WorkflowRun, *run.key)
            check(finished)
            with stages("requests", f"{TEST} test images through the gateway"):
                score = request_all(client, home, source)
            report(console, stages, finished, client, score)
        if score.accuracy < ENOUGH:
            raise Failed(f"the served model is right in only {score.accuracy:.1%} of the cases")
        if keep:
            next_steps(console, home)
    except KeyboardInterrupt:
        if stays and clusters.state(home).running:
            next_steps(console, home)
        raise
    finally:
        if not stays:
            with stages("stop", "the cluster and its pods"):
                clusters.stop(home)


class Stages:
    """Parts of the walk outside the pipeline, with what they took."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.took: list[tuple[str, str, float]] = []

    def __call__(self, name: str, what: str) -> Stage:
        return Stage(self, name, what)


class Stage:
    def __init__(self, stages: Stages, name: str, what: str) -> None:
        self.stages, self.name, self.what = stages, name, what

    def __enter__(self) -> None:
        self.began = time.monotonic()
        self.stages.console.print(f"[bold]{self.name}[/bold]  {self.what}")

    def __exit__(self, kind: Any, *_: object) -> None:
        took = time.monotonic() - self.began
        if kind is None:
            self.stages.took.append((self.name, self.what, took))


def make_data(home: Home) -> Path:
    """The generated data set; made once, the same for everybody."""
    home.make()
    folder = home.root / "demo" / f"shapes-{TRAIN}-{TEST}-{SEED}"
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}.part")
        part.parent.mkdir(parents=True, exist_ok=True)
        suite_code("make_data").make(part, TRAIN, TEST, SEED)
        part.rename(folder)
    return folder


def suite_code(name: str) -> ModuleType:
    """A module of the shapes suite: it needs nothing but Python itself."""
    path = shipped("suites") / "shapes" / "code" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"shapes_{name}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def start_walk(client: Client, source: Path, workers: int, epochs: int) -> WorkflowRun:
    tag = secrets.token_hex(3)
    graph = walk(
        NAMESPACE,
        source.as_uri(),
        model=MODEL,
        image=IMAGE,
        arguments=f"--epochs {epochs}",
        workers=workers,
    )
    parameters = {"source": source.as_uri(), "job": f"{MODEL}-{tag}"}
    return submit(client, graph, NAMESPACE, parameters=parameters, name=f"walk-{tag}")


def abandon(client: Client, run: WorkflowRun) -> None:
    """Take the walk out of the cluster before it stops: the next start would go on with it."""
    for kind, name in ((WorkflowRun, run.name), (PaddleJob, run.spec.parameters["job"])):
        with contextlib.suppress(NotFound):
            client.delete(kind, Key(NAMESPACE, name))


def check(run: WorkflowRun) -> None:
    if run.status.phase is RunPhase.SUCCEEDED:
        return
    name, node = next((k, n) for k, n in run.status.nodes.items() if n.phase is StepPhase.FAILED)
    raise Failed(
        f"step {name} failed:\n{node.message}",
        next_step=f"with --keep: pdc logs {node.pod}    or    pdc why workflowrun/{run.name}",
    )


def request_all(client: Client, home: Home, source: Path) -> Score:
    service = client.get(PaddleService, NAMESPACE, MODEL)
    identity = clusters.state(home).identity
    assert identity
    return ask_gateway(identity.gateway, service, source)


def report(console: Console, stages: Stages, run: WorkflowRun, client: Client, score: Score) -> None:
    table = Table(title="from data to a served model", title_justify="left", header_style="bold")
    table.add_column("step")
    table.add_column("result")
    table.add_column("seconds", justify="right")
    for name, what, took in stages.took:
        if name in ("data set", "cluster"):
            table.add_row(name, what, f"{took:.1f}")
    outputs = {name: node.outputs for name, node in run.status.nodes.items()}
    results: dict[str, Callable[[dict[str, str]], str]] = {
        "dataset": lambda o: f"SampleSet {o['name']} Ready: {o['files']} files, {o['size']}, verified",
        "training": lambda o: f"PaddleJob {o['name']} Completed: {metrics(o)}",
        "modelhub": lambda o: f"ModelVersion {o['version']} Ready: {o['files']} files by content",
        "serving": lambda o: f"PaddleService {o['name']} Ready: {o['url']}",
    }
    for name, node in run.status.nodes.items():
        began, ended = node.started_at, node.finished_at
        took = (ended - began).total_seconds() if began and ended else 0.0
        table.add_row(name, results[name](outputs[name]), f"{took:.1f}")
    took = next(t for n, _, t in stages.took if n == "requests")
    table.add_row(
        "requests",
        f"{score.requests} answered, accuracy {score.accuracy:.4f}, p50 {score.median:.1f} ms",
        f"{took:.1f}",
    )
    console.print()
    console.print(table)


def metrics(outputs: dict[str, str]) -> str:
    import json

    told = json.loads(outputs["metrics"] or "{}")
    return ", ".join(f"{k} {told[k]:.4f}" for k in ("accuracy", "loss") if k in told)


def next_steps(console: Console, home: Home) -> None:
    option = "" if home.root == Home().root else f" --home {home}"
    key = Key(NAMESPACE, MODEL)
    console.print(
        f"\nThe cluster stays up. Try:\n"
        f"  pdc{option} get all\n"
        f"  pdc{option} get samplesets\n"
        f"  pdc{option} why paddleservice/{key.name}\n"
        f"  kubectl --kubeconfig {home.kubeconfig} get pdj\n"
        f"  pdc{option} down"
    )

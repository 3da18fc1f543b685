"""`pdc demo`: the walk from data to a served model, on a cluster that is started for it if need be."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable
from pathlib import Path
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
from ..pipelines.walk import Crew, walk
from ..sdk.client import Client
from ..settings import Home
from . import clusters
from .context import Settings, pass_settings
from .courses import COURSES, Course, make_data
from .following import follow
from .requesting import Score, ask_gateway

NAMESPACE = "default"


@click.command()
@click.option("--keep", is_flag=True, help="Leave the cluster up and say what to try next.")
@click.option(
    "--mode", type=click.Choice(sorted(COURSES)), default="collective", show_default=True,
    help="How it trains: the workers share their gradients, or parameter servers hold the weights.",
)  # fmt: skip
@click.option("--workers", type=click.IntRange(1, 8), default=2, show_default=True)
@click.option("--epochs", type=click.IntRange(1), help="Times through the data [default: enough for it].")
@pass_settings
def demo(settings: Settings, keep: bool, mode: str, workers: int, epochs: int | None) -> None:
    """Walk from generated data to a trained model that answers requests."""
    course = COURSES[mode]
    home, console = settings.home, Console(highlight=False)
    stages = Stages(console)
    was_running = clusters.state(home).running
    stays = keep or was_running
    try:
        with stages("data set", f"{course.train + course.test} {course.data}"):
            source = make_data(home, course)
        if not was_running:
            with stages("cluster", f"embedded, in {home}"):
                clusters.start(home, [])
        with settings.connect() as client:
            run = start_walk(client, course, source, Crew(workers, course.servers), epochs or course.epochs)
            try:
                follow(client, run, console)
            except KeyboardInterrupt:
                if not stays:
                    abandon(client, run)
                raise
            finished = client.get(WorkflowRun, *run.key)
            check(finished)
            with stages("requests", f"{course.test} {course.data} through the gateway"):
                score = request_all(client, home, course, source)
            report(console, stages, finished, client, score)
        if score.accuracy < course.enough:
            raise Failed(f"the served model is right in only {score.accuracy:.1%} of the cases")
        if keep:
            next_steps(console, home, course)
    except KeyboardInterrupt:
        if stays and clusters.state(home).running:
            next_steps(console, home, course)
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


def start_walk(client: Client, course: Course, source: Path, crew: Crew, epochs: int) -> WorkflowRun:
    tag = secrets.token_hex(3)
    graph = walk(
        NAMESPACE,
        source.as_uri(),
        model=course.name,
        image=course.image,
        arguments=f"--epochs {epochs}",
        crew=crew,
    )
    parameters = {"source": source.as_uri(), "job": f"{course.name}-{tag}"}
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


def request_all(client: Client, home: Home, course: Course, source: Path) -> Score:
    service = client.get(PaddleService, NAMESPACE, course.name)
    identity = clusters.state(home).identity
    assert identity
    return ask_gateway(identity.gateway, service, course.questions(source), course.answer)


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
    return ", ".join(f"{k} {told[k]:.4f}" for k in ("accuracy", "auc", "loss") if k in told)


def next_steps(console: Console, home: Home, course: Course) -> None:
    option = "" if home.root == Home().root else f" --home {home}"
    console.print(
        f"\nThe cluster stays up. Try:\n"
        f"  pdc{option} get all\n"
        f"  pdc{option} get samplesets\n"
        f"  pdc{option} why paddleservice/{course.name}\n"
        f"  kubectl --kubeconfig {home.kubeconfig} get pdj\n"
        f"  pdc{option} down"
    )

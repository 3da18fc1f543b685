"""`pdc pipeline`: run a pipeline, see its graph, read its logs, try it again, take it elsewhere."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import click
import yaml

from ..api.core import ConfigMap
from ..api.meta import Key
from ..api.workflowgraph import Graph, graph_of
from ..api.workflowrun import RunPhase, StepPhase, WorkflowRun
from ..controllers.workflowrun import PACKAGE_KEY
from ..errors import Conflict, Failed, NotFound, WrongUse
from ..pipelines.artifacts import BUCKET, PUBLISHED, address, artifacts_of, folder, publishing
from ..pipelines.building import Pipeline
from ..pipelines.componentfiles import component_file
from ..pipelines.components.all import COMPONENTS
from ..pipelines.exporting import resources_for
from ..pipelines.jobs import run_to_end
from ..pipelines.reading import Package, read_package
from ..pipelines.running import TEXT_KEY, submit_package
from ..sdk.client import Client
from ..sdk.runsteps import whole
from ..sdk.waiting import wait_for
from .context import Settings, pass_settings
from .output import lay_out

LONGEST = 7 * 86400.0
KINDS = {
    bool: "true or false", int: "a whole number", float: "a number", list: "a list in JSON",
    dict: "an object in JSON",
}  # fmt: skip
EXAMPLES = {"NUMBER_INTEGER": 1, "NUMBER_DOUBLE": 0.5, "BOOLEAN": True, "LIST": [], "STRUCT": {}}
"""A value of each type that is no text."""
MARKS = {
    StepPhase.WAITING: "·", StepPhase.RUNNING: "▶", StepPhase.SUCCEEDED: "✔",
    StepPhase.FAILED: "✘", StepPhase.SKIPPED: "–", StepPhase.OMITTED: "–",
}  # fmt: skip
namespace_option = click.option(
    "-n", "--namespace", default="kubeflow", show_default=True, help="Namespace of the runs."
)


@click.group()
def pipeline() -> None:
    """Run pipelines: packages of kfp 1.8 and kfp 2, and functions that build one of ours."""


@pipeline.command()
@click.argument("source", metavar="FILE|FILE.py:FUNCTION")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE", help="A parameter of the run.")
@click.option("--name", default="", help="Name of the run [default: made up].")
@click.option("--detach", "-d", is_flag=True, help="Do not wait for its end.")
@namespace_option
@pass_settings
def run(
    settings: Settings, source: str, given: tuple[str, ...], name: str, detach: bool, namespace: str
) -> None:
    """Run a compiled package, or what a function of a Python file builds."""
    package = package_at(source)
    parameters = parameters_of(package, given)
    with settings.connect() as client:
        started = submit_package(client, package, namespace, parameters, name)
        click.echo(f"run {started.name} started")
        if detach:
            return
        show_until_end(client, started.key)


def package_at(source: str) -> Package:
    path, colon, function = source.partition(":")
    if not Path(path).is_file():
        raise WrongUse(f"there is no file {path}", next_step="name a compiled package, or FILE.py:FUNCTION")
    if not path.endswith(".py"):
        return read_package(Path(path).read_bytes(), path)
    if not colon:
        raise WrongUse(f"{path} is a program", next_step=f"name the function that builds it: {path}:FUNCTION")
    return built(Path(path), function)


def built(path: Path, function: str) -> Package:
    """What a function of a file builds; the folder of the file is where it finds its neighbours."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise WrongUse(
            f"{path} cannot be imported: {error}",
            next_step="a pipeline of kfp is compiled first, where kfp is installed; run the package",
        ) from error
    finally:
        sys.path.remove(str(path.parent))
    made = getattr(module, function, None)
    if not callable(made):
        raise WrongUse(f"{path} has no function {function}")
    graph = made()
    if isinstance(graph, Pipeline):
        graph = graph.graph()
    if not isinstance(graph, Graph):
        raise WrongUse(f"{function} built no pipeline but {type(graph).__name__}")
    return Package(graph, "v2", graph.wire(), graph.name)


def parameters_of(package: Package, given: tuple[str, ...]) -> dict[str, Any]:
    """Texts, or of the type that the pipeline says, or that its default has."""
    found: dict[str, Any] = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals:
            raise WrongUse(f"--set {pair!r} is no NAME=VALUE")
        default = package.graph.parameters.get(name)
        if default is None:
            default = EXAMPLES.get(declared(package, name))
        found[name] = typed(name, text, default) if package.generation == "v2" else text
    return found


def declared(package: Package, name: str) -> str:
    """The type of a parameter in a package of kfp 2."""
    pipeline = package.text.get("pipeline_spec") or package.text
    inputs = (pipeline.get("root") or {}).get("inputDefinitions") or {}
    return str(((inputs.get("parameters") or {}).get(name) or {}).get("parameterType") or "")


def typed(name: str, text: str, default: Any) -> Any:
    if default is None or isinstance(default, str):
        return text
    wrong = WrongUse(f"parameter {name} is to be {KINDS[type(default)]} and is {text!r}")
    try:
        value = json.loads(text.lower() if isinstance(default, bool) else text)
    except ValueError as error:
        raise wrong from error
    numbers = isinstance(default, int | float) and isinstance(value, int | float)
    if type(value) is not type(default) and not (numbers and not isinstance(value, bool)):
        raise wrong
    return value


@pipeline.command()
@namespace_option
@pass_settings
def ls(settings: Settings, namespace: str) -> None:
    """List the runs, the newest last."""
    with settings.connect() as client:
        runs = client.list(WorkflowRun, namespace).items
    rows = [["RUN", "PIPELINE", "PHASE", "STEPS", "NAME"]]
    for found in sorted(runs, key=lambda r: str(r.metadata.creation_timestamp)):
        far = found.status.progress
        steps = f"{far.done:g}/{far.total:g}" if far else ""
        phase = found.status.phase.value
        rows.append([found.name, found.spec.pipeline.name, phase, steps, found.spec.display_name])
    lay_out(rows)


@pipeline.command()
@click.argument("name")
@click.option("--watch", "-w", is_flag=True, help="Go on until it has ended.")
@namespace_option
@pass_settings
def show(settings: Settings, name: str, watch: bool, namespace: str) -> None:
    """Show the graph of a run and how far it is."""
    with settings.connect() as client:
        if watch:
            show_until_end(client, Key(namespace, name))
        else:
            click.echo("\n".join(drawn(whole(client, client.get(WorkflowRun, namespace, name)))))


def show_until_end(client: Client, key: Key) -> None:
    """A line for every step that changed; raises `Failed` when the run did."""
    seen: dict[str, tuple[StepPhase, str]] = {}

    def tell(state: WorkflowRun) -> None:
        for path, node in whole(client, state).status.nodes.items():
            # What keeps a step from starting; how it failed is told at the end.
            held = node.message if node.phase is StepPhase.RUNNING else ""
            if seen.get(path) != (node.phase, held) and node.phase is not StepPhase.WAITING:
                seen[path] = (node.phase, held)
                word = "waits: " + held if held else node.phase.value.lower()
                click.echo(f"{MARKS[node.phase]} {path}  {word}{cached(node.cached)}")

    done = wait_for(client, WorkflowRun, key, lambda r: r.status.phase.final, LONGEST, tell)
    if done.status.phase is not RunPhase.SUCCEEDED:
        why = next((c.message for c in done.status.conditions if c.type == "Succeeded"), "")
        raise Failed(f"run {key.name}: {why}", next_step=f"pdc pipeline retry {key.name} -n {key.namespace}")
    click.echo(f"run {key.name} succeeded")


def cached(was: bool) -> str:
    return " (from the cache)" if was else ""


def drawn(run: WorkflowRun) -> list[str]:
    """One line a step, under the graph it is in."""
    lines = [f"{run.name}  {run.status.phase.value}"]
    for path in sorted(run.status.nodes, key=lambda p: order_of(run, p)):
        node = run.status.nodes[path]
        indent = "  " * (path.count("/") + 1)
        took = ""
        if node.started_at and node.finished_at:
            took = f"  {(node.finished_at - node.started_at).total_seconds():g} s"
        said = node.message.splitlines()[-1] if node.message and node.phase is not StepPhase.SUCCEEDED else ""
        name = path.rpartition("/")[2]
        lines.append(
            f"{indent}{MARKS[node.phase]} {name}{took}{cached(node.cached)}{'  ' + said if said else ''}"
        )
    return lines


def order_of(run: WorkflowRun, path: str) -> list[tuple[str, str]]:
    """By when they began, each graph before what is in it."""
    parts = path.split("/")
    paths = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    return [(began(run, p), p) for p in paths]


def began(run: WorkflowRun, path: str) -> str:
    inside = [
        n.started_at
        for p, n in run.status.nodes.items()
        if p == path or p.startswith((f"{path}/", f"{path}("))
    ]
    times = [t.isoformat() for t in inside if t]
    return min(times, default="~")


@pipeline.command()
@click.argument("name")
@click.argument("step", required=False)
@namespace_option
@pass_settings
def logs(settings: Settings, name: str, step: str | None, namespace: str) -> None:
    """Print what the steps of a run said, or one of them."""
    with settings.connect() as client:
        nodes = whole(client, client.get(WorkflowRun, namespace, name)).status.nodes
        chosen = {p: n for p, n in nodes.items() if n.pod and step in (None, p, n.step)}
        if not chosen:
            has = ", ".join(p for p, n in nodes.items() if n.pod) or "none that ran"
            raise NotFound(f"run {name} has no step {step} with a log; it has {has}")
        for path, node in chosen.items():
            click.echo(f"── {path} ({node.pod})")
            click.echo(client.logs(namespace, node.pod).rstrip("\n"))


@pipeline.command()
@click.argument("name")
@click.option("--publish", is_flag=True, help="Lay them into the object store, for others to read.")
@namespace_option
@pass_settings
def artifacts(settings: Settings, name: str, publish: bool, namespace: str) -> None:
    """List the artifacts of a run and where they are."""
    with settings.connect() as client:
        run = whole(client, client.get(WorkflowRun, namespace, name))
        found = list(artifacts_of(run))
        if publish and found:
            run_to_end(client, publishing(run, found), LONGEST, "the artifacts could not be published")
            mark = {PUBLISHED: f"minio://{BUCKET}/{folder(run)}"}
            client.patch(WorkflowRun, run.key, {"metadata": {"annotations": mark}})
            run = whole(client, client.get(WorkflowRun, namespace, name))
        lay_out(
            [["STEP", "ARTIFACT", "TYPE", "WHERE"]]
            + [[a.step, a.name, a.type, address(run, a) if a.files else "(metadata alone)"] for a in found]
        )


@pipeline.command()
@click.argument("name")
@click.option("--from", "first", default="", metavar="STEP", help="Also this step and all after it.")
@click.option("--detach", "-d", is_flag=True, help="Do not wait for its end.")
@namespace_option
@pass_settings
def retry(settings: Settings, name: str, first: str, detach: bool, namespace: str) -> None:
    """Try again what failed in a run; what succeeded stays."""
    with settings.connect() as client:
        found = whole(client, client.get(WorkflowRun, namespace, name))
        if not found.status.phase.final:
            raise Conflict(f"run {name} has not ended", next_step=f"pdc pipeline show {name} --watch")
        if first and first not in found.status.nodes:
            raise NotFound(f"run {name} has no step {first}; it has {', '.join(found.status.nodes)}")
        if found.status.phase is RunPhase.SUCCEEDED and not first:
            raise Conflict(f"run {name} succeeded", next_step="say from which STEP with --from")
        spec = {"retries": found.spec.retries + 1, "retryFrom": first, "stop": False}
        client.patch(WorkflowRun, found.key, {"spec": spec})
        click.echo(f"run {name} goes on")
        if not detach:
            wait_for(client, WorkflowRun, found.key, lambda r: r.status.retries == spec["retries"], 60)
            show_until_end(client, found.key)


@pipeline.command()
@click.argument("name")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@namespace_option
@pass_settings
def export(settings: Settings, name: str, file: Path, namespace: str) -> None:
    """Write the package of a run, as it was compiled, for a Kubeflow Pipelines elsewhere."""
    with settings.connect() as client:
        found = client.get(WorkflowRun, namespace, name)
        kept = client.get(ConfigMap, namespace, found.spec.pipeline.package)
    body = json.loads(kept.data.get(TEXT_KEY) or "{}")
    if "steps" in body or not body:
        raise WrongUse(
            f"the pipeline of run {name} is written in our own graph language, which no other service reads",
            next_step="write it with kfp and the files of `pdc pipeline components`",
        )
    documents = [body["pipeline_spec"], body["platform_spec"]] if "platform_spec" in body else [body]
    file.write_text(yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True))
    click.echo(f"{file}: the package of pipeline {found.spec.pipeline.name}")
    graph = graph_of(kept.data[PACKAGE_KEY])
    if needed := resources_for(graph, namespace, found.spec.service_account):
        beside = file.with_suffix(".resources.yaml")
        beside.write_text(yaml.safe_dump_all(needed, sort_keys=False, allow_unicode=True))
        click.echo(f"{beside}: the kinds its steps make, and the right to; kubectl apply -f it there first")


@pipeline.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--image", default="paddlecloud/core", show_default=True, help="Image the components run in.")
def components(folder: Path, image: str) -> None:
    """Write the files by which programs of kfp load our components."""
    folder.mkdir(parents=True, exist_ok=True)
    for component in COMPONENTS:
        (folder / f"{component.name}.yaml").write_text(component_file(component, image), encoding="utf-8")
    click.echo(f"{folder}: {', '.join(c.name for c in COMPONENTS)}")

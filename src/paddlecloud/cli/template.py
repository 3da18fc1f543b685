"""`pdc template`: one workflow a domain task, with a few parameters; run it, see it, take it elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml
from rich.console import Console

from ..api.workflowrun import RunPhase, StepPhase, WorkflowRun
from ..errors import Failed, WrongUse
from ..pipelines.templates.description import Template, find, planned_beside, templates
from ..pipelines.templates.parameters import Given, Parameter
from ..pipelines.templates.pipeline import TemplatePipeline, pipeline_of
from .context import Settings, pass_settings
from .output import lay_out
from .pipeline import namespace_option

F = TypeVar("F", bound=Callable[..., Any])
set_option = click.option(
    "--set", "given", multiple=True, metavar="NAME=VALUE", help="A parameter of the template."
)


def form_option(*forms: str) -> Callable[[F], F]:
    return click.option(
        "-o", "--output", "form", type=click.Choice(forms), default=forms[0], help="Form of the answer."
    )


@click.group()
def template() -> None:
    """Run one of the workflows that come with the suites, from data to a served model."""


@template.command()
@form_option("table", "json")
def ls(form: str) -> None:
    """List the templates, and those that are planned."""
    known = templates()
    entries = [listed(t.name, t.says.domain, t.suite, t.says.description, "shipped") for t in known.values()]
    entries += [listed(p.name, p.domain, p.suite, p.about, "planned") for p in planned_beside(known)]
    if form == "json":
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    lay_out([[word.upper() for word in entries[0]], *(list(entry.values()) for entry in entries)])


def listed(name: str, domain: str, suite: str, does: str, state: str) -> dict[str, str]:
    return {"name": name, "domain": domain, "suite": suite, "state": state, "does": does}


@template.command()
@click.argument("name")
@form_option("table", "yaml", "json")
def show(name: str, form: str) -> None:
    """Show the parameters of a template and its steps."""
    found = find(name)
    body = shown(found)
    if form == "json":
        click.echo(json.dumps(body, indent=2, ensure_ascii=False))
    elif form == "yaml":
        click.echo(yaml.safe_dump(body, sort_keys=False, allow_unicode=True).rstrip())
    else:
        click.echo("\n".join(head(body)))
        rows = [["PARAMETER", "TYPE", "DEFAULT", "IS"]]
        for key, said in found.parameters().items():
            rows.append([key, " ".join(filter(None, (said.type, said.bounds))), default_of(said), said.about])
        lay_out(rows)


def shown(found: Template) -> dict[str, Any]:
    """All there is to know of a template, as data."""
    has = found.parameters()
    # The steps are the same whatever is given for what has no default.
    some: dict[str, Given] = {"integer": 0, "boolean": False, "text": "given"}
    values = {key: some[said.type] if said.default is None else said.default for key, said in has.items()}
    graph = TemplatePipeline(found, values).graph
    return {
        "name": found.name,
        "domain": found.says.domain,
        "suite": found.suite,
        "description": found.says.description,
        "image": found.image,
        "metric": found.says.metric,
        "parameters": {key: said.wire() for key, said in has.items()},
        "training": found.says.training,
        "samples": found.says.samples,
        "steps": [step.name for step in graph.steps],
    }


def head(body: dict[str, Any]) -> list[str]:
    lines = [f"{body['name']}  {body['domain']}, suite {body['suite']}", body["description"]]
    lines.append(f"steps: {' → '.join(body['steps'])}")
    if "samples" in body["steps"]:
        lines.append("with data=… the step samples is left out, with serve=false the step serving")
    return [*lines, ""]


def default_of(said: Parameter) -> str:
    if said.default is None:
        return "(required)"
    return json.dumps(said.default) if not isinstance(said.default, str) else said.default or '""'


@template.command()
@click.argument("name")
@set_option
@click.option("--name", "run_name", default="", help="Name of the run [default: made up].")
@click.option("--dry-run", is_flag=True, help="Check the parameters and show what would run.")
@click.option("--no-wait", is_flag=True, help="Do not wait for its end.")
@namespace_option
@pass_settings
def run(
    settings: Settings,
    name: str,
    given: tuple[str, ...],
    run_name: str,
    dry_run: bool,
    no_wait: bool,
    namespace: str,
) -> None:
    """Run a template; without data=… on a small data set that it draws itself."""
    # Together with its imports this is half a second that the others do without.
    from .following import follow

    pipeline = pipeline_of(name, pairs(given))
    if dry_run:
        click.echo("\n".join(planned_run(pipeline)))
        return
    with settings.connect() as client:
        started = pipeline.run(client, namespace, name=run_name)
        click.echo(f"run {started.name} started")
        if no_wait:
            click.echo(f"  pdc pipeline show {started.name} -n {namespace} --watch")
            return
        follow(client, started, Console(highlight=False))
        ended = client.get(WorkflowRun, *started.key)
    check(ended)
    click.echo("\n".join(results(ended, pipeline.template.says.metric)))


def pairs(given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in given:
        key, equals, text = pair.partition("=")
        if not equals:
            raise WrongUse(f"--set {pair!r} is no NAME=VALUE")
        found[key.strip()] = text
    return found


def planned_run(pipeline: TemplatePipeline) -> list[str]:
    """What a run would do, in words."""
    values = [f"  {key}={json.dumps(value)}" for key, value in pipeline.values.items()]
    steps = [
        f"  {step.name}{' after ' + ', '.join(sorted(step.needs())) if step.needs() else ''}"
        for step in pipeline.graph.steps
    ]
    image = f"in image {pipeline.template.image}"
    head = f"template {pipeline.template.name} would run {image}; nothing was made"
    return [head, "parameters:", *values, "steps:", *steps]


def check(ended: WorkflowRun) -> None:
    if ended.status.phase is RunPhase.SUCCEEDED:
        return
    step = next((k for k, n in ended.status.nodes.items() if n.phase is StepPhase.FAILED), "")
    why = ended.status.nodes[step].message if step else "it was stopped"
    logs = f"pdc pipeline logs {ended.name} {step} -n {ended.namespace}".replace("  ", " ")
    retry = f"pdc pipeline retry {ended.name} -n {ended.namespace}"
    raise Failed(f"run {ended.name}: step {step or '–'} failed: {why}", next_step=f"{logs}; then {retry}")


def results(ended: WorkflowRun, metric: str) -> list[str]:
    """What came out of a run: the version, how good it is, where it answers."""
    outputs = {name: node.outputs for name, node in ended.status.nodes.items()}
    told = json.loads(outputs["training"].get("metrics") or "{}")
    lines = [f"run {ended.name} succeeded", f"  model    {outputs['modelhub']['version']}"]
    if metric in told:
        lines.append(f"  {metric:<8} {told[metric]:.4f}")
    if "serving" in outputs:
        lines.append(f"  service  {outputs['serving']['url']}")
    return lines


@template.command()
@click.argument("name")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@set_option
def export(name: str, file: Path, given: tuple[str, ...]) -> None:
    """Write the package of a template, for a Kubeflow Pipelines elsewhere or `pdc pipeline run`."""
    pipeline = pipeline_of(name, pairs(given))
    pipeline.package  # noqa: B018  # what cannot be read again is not written
    file.write_text(yaml.safe_dump(pipeline.spec, sort_keys=False, allow_unicode=True), encoding="utf-8")
    click.echo(f"{file}: the package of template {name}")

"""`pdc serve`: models that answer requests, and their releases, each a PaddleService kubectl shows too."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..api.knative import REVISION_LABEL, SERVICE_LABEL, Revision
from ..api.meta import Key
from ..api.paddlerelease import ReleasePhase, ReleaseSpec
from ..api.paddleservice import ElasticPaddleService, PaddleService
from ..errors import Failed, NotFound, WrongUse
from ..sdk import releasing
from ..sdk.client import Client
from ..sdk.waiting import wait_for
from .context import Settings, namespace_option, pass_settings
from .data import show_object
from .logs import logs as print_logs
from .output import lay_out

LONGEST = 900.0
form_option = click.option(
    "-o", "--output", type=click.Choice(["json", "yaml", "name"]), help="Form of what is printed."
)
wait_option = click.option("--wait/--no-wait", default=True, show_default=True, help="Until it answers.")
time_option = click.option("--timeout", type=float, default=LONGEST, help="Seconds to wait; it goes on.")


class Serve(click.Group):
    """`pdc serve MODEL` starts a service; any other first word is a command of its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["start", *args]
        return super().parse_args(ctx, args)


@click.group(cls=Serve)
def serve() -> None:
    """Services: `pdc serve MODEL@ALIAS --name S`, then look, try a canary, promote, roll back."""


@serve.command()
@click.argument("model")
@click.option("--name", required=True, help="Name of the service.")
@click.option(
    "--min-scale", "minimum", type=click.IntRange(0), help="0 (default): it may rest without a pod."
)
@click.option("--max-scale", "maximum", type=click.IntRange(0), help="0 (default): no limit.")
@click.option("--follow", is_flag=True, help="Roll to the new version whenever the alias moves.")
@click.option("--dry-run", is_flag=True, help="Only print the object that would be made.")
@form_option
@wait_option
@time_option
@namespace_option
@pass_settings
def start(settings: Settings, /, model: str, name: str, namespace: str, **wish: Any) -> None:
    """Serve a MODEL of the hub (name, name@alias or name@version)."""
    bounds = {key: wish[key] for key in ("minimum", "maximum", "follow")}
    made = releasing.make_service(Key(namespace, name), model, **bounds)
    if wish["dry_run"]:
        show_object(made, wish["output"] or "yaml")
        return
    with settings.connect() as client:
        told(client, client.create(made), "created", wish)


@serve.command()
@click.argument("name")
@form_option
@namespace_option
@pass_settings
def status(settings: Settings, /, name: str, namespace: str, output: str | None) -> None:
    """Where a service answers, which revisions get which requests, and what it waits for."""
    with settings.connect() as client:
        service = found(client, Key(namespace, name))
        revisions = {r.name: r for r in client.list(Revision, namespace, labels={SERVICE_LABEL: name}).items}
    if output:
        show_object(service, output)
        return
    state = next((c for c in service.status.conditions if c.type == "Ready"), None)
    click.echo(
        f"{name}: {'Ready' if state and state.status == 'True' else 'not ready'}, {service.status.url}"
    )
    if state and state.status != "True":
        click.echo(f"  {state.reason}: {state.message}")
    rows = [["REVISION", "PERCENT", "PODS", "READY", "TAG"]]
    for share in service.status.traffic:
        revision = revisions.get(share.revision_name)
        pods = str(revision.status.get("actualReplicas") or 0) if revision else "-"
        fit = "gone" if revision is None else str(revision.condition("Ready").get("status") or "Unknown")
        rows.append([share.revision_name, str(share.percent), pods, fit, share.tag])
    lay_out(rows)
    if step := service.status.release:
        click.echo(f"release: {step.phase.value}, {step.canary} gets {step.percent} %. {step.reason}".strip())


@serve.command()
@click.argument("name")
@click.argument("model", required=False, default="")
@click.option("--percent", type=click.IntRange(0, 100), default=10, show_default=True, help="Its share.")
@click.option("--steps", default="", help="Its shares one after the other: 5,25,50; then it is promoted.")
@click.option("--blue-green", is_flag=True, help="No share, then all: the same as --steps 0,100.")
@click.option("--gate", default="", help="What it may not exceed: errors=1%,p99=200ms,difference=1%.")
@click.option("--every", type=click.IntRange(1), default=60, show_default=True, help="Seconds a step lasts.")
@click.option(
    "--requests", type=click.IntRange(1), default=50, show_default=True, help="That a gate waits for."
)
@click.option(
    "--mirror", type=click.IntRange(0, 100), default=0, help="Percent of requests it gets as copies."
)
@form_option
@wait_option
@time_option
@namespace_option
@pass_settings
def canary(settings: Settings, /, name: str, model: str, percent: int, namespace: str, **wish: Any) -> None:
    """Give a part of the requests to MODEL, or to the canary there is; in steps, if they are named."""
    release = release_of(wish)
    with settings.connect() as client:
        service = found(client, Key(namespace, name))
        if release is None:
            change(client, service, releasing.canary(service, model, percent), wish)
            return
        # A canary that was rolled back before is to be tried again, not to be told so.
        release = release.but(attempt=datetime.now(UTC).isoformat(timespec="milliseconds"))
        changed = client.patch(type(service), service.key, releasing.gradual(service, model, release))
        click.echo(f"paddleservice/{name} changed")
        if wish["wait"]:
            state = followed(client, changed, wish["timeout"])
            change(client, state, releasing.promotion(state), wish)


@serve.command()
@click.argument("name")
@form_option
@wait_option
@time_option
@namespace_option
@pass_settings
def promote(settings: Settings, /, name: str, namespace: str, **wish: Any) -> None:
    """Make the canary the default; its pods go on."""
    with settings.connect() as client:
        service = found(client, Key(namespace, name))
        change(client, service, releasing.promotion(service), wish)


@serve.command()
@click.argument("name")
@form_option
@wait_option
@time_option
@namespace_option
@pass_settings
def rollback(settings: Settings, /, name: str, namespace: str, **wish: Any) -> None:
    """Take back the canary, the change that does not come up, or else the last release."""
    with settings.connect() as client:
        service = found(client, Key(namespace, name))
        change(client, service, releasing.rollback(service), wish)


@serve.command("logs")
@click.argument("name")
@click.option("--revision", default="", help="Of this revision only.")
@click.option("-f", "--follow", is_flag=True, help="Go on as the logs grow.")
@click.option("--tail", type=click.IntRange(-1), default=None, help="Only the last lines; -1: all.")
@namespace_option
@click.pass_context
def show_logs(
    ctx: click.Context, /, name: str, revision: str, follow: bool, tail: int | None, namespace: str
) -> None:
    """What the pods of a service print."""
    selector = f"{SERVICE_LABEL}={name}" + (f",{REVISION_LABEL}={revision}" if revision else "")
    ctx.invoke(
        print_logs, target=None, container_name=None, follow=follow, tail=tail, selector=selector,
        prefix=not revision, namespace=namespace,
    )  # fmt: skip


def found(client: Client, key: Key) -> PaddleService:
    """The service of that name, in whichever of the two groups it is."""
    kinds: tuple[type[PaddleService], ...] = (PaddleService, ElasticPaddleService)
    services = [s for kind in kinds if (s := client.find(kind, *key)) is not None]
    if not services:
        raise NotFound(f"there is no PaddleService {key}", next_step="pdc get paddleservices -n NAMESPACE")
    taken = [s for s in services if not any(c.reason == "NameTaken" for c in s.status.conditions)]
    return (taken or services)[0]


def change(client: Client, service: PaddleService, patch: dict[str, Any], wish: dict[str, Any]) -> None:
    told(client, client.patch(type(service), service.key, patch), "changed", wish)


def told(client: Client, service: PaddleService, deed: str, wish: dict[str, Any]) -> None:
    """Say what was done and, if that is wished, wait until it answers."""
    if not wish["output"]:
        click.echo(f"paddleservice/{service.name} {deed}")
    if wish["wait"]:
        service = awaited(client, service, wish["timeout"])
    if wish["output"]:
        show_object(service, wish["output"])


def release_of(wish: dict[str, Any]) -> ReleaseSpec | None:
    """The release that is asked for; None: the share is given at once. Raises `WrongUse`."""
    text = "0,100" if wish["blue_green"] else wish["steps"]
    gate = releasing.gate_of(wish["gate"])
    if not text:
        if wish["gate"] or wish["mirror"]:
            raise WrongUse("a gate is for steps", next_step="name them: --steps 5,25,50, or --blue-green")
        return None
    try:
        said = {"steps": [int(part) for part in text.split(",")], "stepSeconds": wish["every"],
                "minRequests": wish["requests"], "mirrorPercent": wish["mirror"]}  # fmt: skip
        return ReleaseSpec.model_validate(said).but(gate=gate)
    except ValueError as error:
        raise WrongUse(
            f"--steps {text} are no shares: write whole numbers from 0 to 100, as in 5,25,50"
        ) from error


def followed(client: Client, service: PaddleService, timeout: float) -> PaddleService:
    """Tell the steps of a release until it has ended; raises `Failed` with why it was rolled back."""
    said: list[str] = []

    def tell(state: PaddleService) -> None:
        step = state.status.release
        words = f"{step.canary}: {step.phase.value}, {step.percent} % {step.reason}".strip() if step else ""
        if words and words not in said:
            said.append(words)
            click.echo(words, err=True)

    state = wait_for(client, type(service), service.key, ended, timeout, tell)
    release = state.status.release
    if release is None or release.phase is not ReleasePhase.DONE:
        why = next((c.message for c in state.status.conditions if c.type == "Ready"), "")
        raise Failed(
            f"the canary of {service.name} was rolled back: {release.reason if release else why}",
            next_step=f"the default answers all requests; pdc serve logs {service.name} tells more",
        )
    return state


def ended(service: PaddleService) -> bool:
    """The release is over, or its canary does not come up."""
    stuck = service.status.release is None and releasing.settled(service) and not releasing.ready(service)
    return releasing.released(service) or stuck


def awaited(client: Client, service: PaddleService, timeout: float) -> PaddleService:
    """Show what it waits for until it answers; raises `Failed` with its words."""
    console = Console(file=sys.stderr)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(service.name, total=None)

        def tell(state: PaddleService) -> None:
            said = next((c for c in state.status.conditions if c.type == "Ready"), None)
            words = (said.message or said.reason) if said else "is new"
            bars.update(task, description=f"{service.name}: {words}")

        state = wait_for(client, type(service), service.key, releasing.settled, timeout, tell)
    if not releasing.ready(state):
        why = next((c.message for c in state.status.conditions if c.type == "Ready"), "")
        raise Failed(f"service {service.name}: {why}", next_step=f"pdc why paddleservice/{service.name}")
    click.echo(f"{service.name} answers at {state.status.url}", err=True)
    return state

"""`pdc up`, `down`, `status`, `kubeconfig`: the life of the embedded cluster."""

from __future__ import annotations

import json
from typing import Any

import click

from ..embedded.identity import Identity
from ..embedded.node.sandbox import levels
from ..errors import PaddleCloudError, Unreachable, WrongUse
from ..settings import Home
from . import clusters
from .context import Settings, pass_settings


@click.command()
@click.option(
    "--port", type=click.IntRange(1, 65535), default=None, help="Port of the API [default: a free one]."
)
@click.option("--nodes", type=click.IntRange(1, 100), default=None, help="Virtual nodes [default: 1].")
@click.option("--pretend-gpus", type=click.IntRange(0), default=0, help="GPUs a node says it has.")
@click.option("--node-label", "labels", multiple=True, metavar="K=V", help="Label every node carries.")
@click.option("--pod-range", default="", metavar="CIDR", help="Addresses of pods [default: free ones].")
@click.option(
    "--service-range", default="", metavar="CIDR", help="Addresses of Services [default: free ones]."
)
@click.option("--detach", "-d", is_flag=True, help="Run in the background.")
@pass_settings
def up(
    settings: Settings,
    port: int | None,
    nodes: int | None,
    pretend_gpus: int,
    labels: tuple[str, ...],
    pod_range: str,
    service_range: str,
    detach: bool,
) -> None:
    """Start the embedded cluster of the home; Ctrl-C ends it."""
    home = settings.home
    if detach:
        if clusters.state(home).running:
            click.echo(f"already running in {home}")
        else:
            clusters.start(home, arguments(port, nodes, pretend_gpus, labels, (pod_range, service_range)))
        identity = clusters.state(home).identity
        assert identity
        welcome(home, identity)
        return
    # The servers are imported only by the process that becomes them.
    from ..embedded.supervisor import Up, run
    from ..pipelines.listening import listen

    wanted = Up(port or 0, nodes or 0, pretend_gpus, pairs(labels), pod_range, service_range, listen)
    run(home, wanted, lambda identity: welcome(home, identity))


def arguments(
    port: int | None, nodes: int | None, gpus: int, labels: tuple[str, ...], ranges: tuple[str, str]
) -> list[str]:
    given: list[str] = []
    given += ["--port", str(port)] if port else []
    given += ["--nodes", str(nodes)] if nodes else []
    given += ["--pretend-gpus", str(gpus)] if gpus else []
    for label in labels:
        given += ["--node-label", label]
    for option, text in zip(("--pod-range", "--service-range"), ranges, strict=True):
        given += [option, text] if text else []
    return given


def pairs(labels: tuple[str, ...]) -> dict[str, str]:
    for label in labels:
        if "=" not in label:
            raise WrongUse(f"--node-label {label!r} is no KEY=VALUE")
    return dict(label.split("=", 1) for label in labels)


def welcome(home: Home, identity: Identity) -> None:
    option = "" if home.root == Home().root else f" --home {home}"
    click.echo(
        f"PaddleCloud is up in {home}\n"
        f"  API      {identity.server}\n"
        f"  gateway  {identity.gateway}\n"
        f"  kfp      {identity.pipelines}\n"
        f"  use it   pdc{option} get all    or    kubectl --kubeconfig {home.kubeconfig} get all\n"
        f"  stop it  pdc{option} down"
    )


@click.command()
@click.option("--leave-running", is_flag=True, help="Leave the pods to the next `pdc up`.")
@pass_settings
def down(settings: Settings, leave_running: bool) -> None:
    """Stop the embedded cluster and its pods; everything it knows is kept."""
    if clusters.stop(settings.home, leave_running):
        click.echo(f"stopped; {settings.home} keeps its objects and data")
        if leave_running and (left := clusters.left_running(settings.home)):
            click.echo(f"{left} containers run on; `pdc up` takes them back, `pdc down` ends them")
    else:
        click.echo(f"no cluster is running in {settings.home}")


@click.command()
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@pass_settings
def status(settings: Settings, output: str) -> None:
    """Tell whether the cluster runs, where it answers and what it holds."""
    report = gather(settings)
    if output == "json":
        click.echo(json.dumps(report, indent=2))
    else:
        for name, value in report.items():
            click.echo(f"{name:<10} {value}")
    if not report["running"]:
        raise Unreachable(f"no cluster is running in {settings.home}", next_step="start one with `pdc up`")


def gather(settings: Settings) -> dict[str, Any]:
    from ..api.core import Node, Pod

    state = clusters.state(settings.home)
    report: dict[str, Any] = {"home": str(settings.home), "running": state.running}
    if not state.running or state.identity is None:
        return report
    report |= {"process": state.pid, "api": state.identity.server, "gateway": state.identity.gateway}
    report["kfp"] = state.identity.pipelines
    try:
        with settings.connect() as client:
            nodes, pods = client.list(Node).items, client.list(Pod).items
    except PaddleCloudError as error:
        return report | {"problem": error.message}
    ready = sum(1 for n in nodes if clusters.ready(n))
    running = sum(1 for p in pods if p.phase == "Running")
    report |= {"nodes": f"{ready} of {len(nodes)} ready", "pods": f"{running} running of {len(pods)}"}
    found = levels.kept(settings.home.run / levels.FILE)
    return report | (levels.words(found) if found else {})


@click.command()
@pass_settings
def kubeconfig(settings: Settings) -> None:
    """Print the path of the kubeconfig of the embedded cluster."""
    if not settings.home.kubeconfig.exists():
        raise Unreachable(f"{settings.home} has no cluster yet", next_step="start one with `pdc up`")
    click.echo(settings.home.kubeconfig)

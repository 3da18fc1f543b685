"""`pdc controllers`: our controllers on a cluster, one leader among any number of replicas."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket

import click

from ..api.meta import Key
from ..errors import WrongUse
from .context import Settings, pass_settings


@click.command()
@click.option("--only", default="", help="Run only these controllers, separated by commas.")
@click.option(
    "--kubeflow", is_flag=True, help="Also do PaddleJobs of kubeflow.org; not where Kubeflow's operator runs."
)
@click.option("--namespace", "-n", default="", help="Only objects of this namespace [default: all].")
@click.option("--lease-namespace", default="paddle-system", show_default=True, help="Where the lease is.")
@click.option("--address", default="0.0.0.0", show_default=True, help="Where health and metrics answer.")
@click.option("--port", type=click.IntRange(0, 65535), default=8081, show_default=True)
@pass_settings
def controllers(
    settings: Settings,
    only: str,
    kubeflow: bool,
    namespace: str,
    lease_namespace: str,
    address: str,
    port: int,
) -> None:
    """Run the controllers on a Kubernetes cluster until told to end."""
    # Of what is loaded and read at the start next to nothing is garbage.
    gc.set_threshold(1_000_000, 50, 50)
    # Only this command needs them; all others start faster without.
    from ..controllers.all import ASKED_FOR, CONTROLLERS

    everybody = [c.name for c in CONTROLLERS if kubeflow or c.name not in ASKED_FOR]
    names = [n for n in only.split(",") if n] or everybody
    identity = f"{socket.gethostname()}-{os.getpid()}"
    # Half of a controller's time goes into TLS and sockets.
    import uvloop

    uvloop.run(work(settings, names, namespace, (Key(lease_namespace, LEASE), identity), (address, port)))


def few_looks_for_garbage() -> None:
    """What is kept so far is not looked through again; it still goes when nobody has it any more."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


LEASE = "paddlecloud-controllers"


async def work(
    settings: Settings, names: list[str], namespace: str, lease: tuple[Key, str], where: tuple[str, int]
) -> None:
    # Only this command needs the runtime; all others start faster without it.
    from ..cluster.client import Client
    from ..controllers.all import CONTROLLERS
    from ..controllers.health import Health
    from ..controllers.leadership import Candidate, lead
    from ..controllers.remembering import WITHOUT_A_SCHEDULER
    from ..controllers.reporting import reporting
    from ..controllers.runtime import Options, run

    wanted = [c for c in CONTROLLERS if c.name in names]
    if unknown := set(names) - {c.name for c in CONTROLLERS}:
        known = ", ".join(c.name for c in CONTROLLERS)
        raise WrongUse(f"no controller is named {', '.join(sorted(unknown))}; there are: {known}")
    # Thousands of objects are kept and few thrown away: to look through them all for garbage costs more than
    # everything else a controller does.
    gc.freeze()
    options = Options(namespace=namespace, remembered=WITHOUT_A_SCHEDULER, synced=few_looks_for_garbage)
    health = Health()
    key, me = lease
    async with (
        Client(settings.access()) as client,
        reporting(*where, health, options.metrics) as bound,
    ):
        click.echo(f"health and metrics on port {bound}; waits for the lease {key}")
        task = asyncio.ensure_future(
            lead(Candidate(client, key, me), lambda: run(wanted, client, options, health))
        )
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            click.echo("ended")

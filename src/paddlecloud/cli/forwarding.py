"""`pdc port-forward`: ports of a pod on this machine, until Ctrl-C."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import click

from ..api.core import Pod, Service
from ..api.meta import Key
from ..cluster.kubeconfig import Access
from ..cluster.portforward import Way, alone, forwarder
from ..errors import PaddleCloudError, WrongUse
from ..sdk.serviceways import port_number
from .context import Settings, namespace_option, pass_settings
from .podpicking import SERVICES, pods_meant


@dataclass(frozen=True)
class Pair:
    local: int
    """0: any that is free."""
    remote: str
    """A number, or the name of a port."""


@click.command("port-forward")
@click.argument("target")
@click.argument("ports", nargs=-1, required=True, metavar="[LOCAL:]REMOTE...")
@click.option("--address", default="127.0.0.1", show_default=True, help="Where to listen.")
@namespace_option
@pass_settings
def port_forward(
    settings: Settings, target: str, ports: tuple[str, ...], address: str, namespace: str
) -> None:
    """Make ports of a pod, or of a pod behind `svc/NAME`, reachable here."""
    pairs = [pair_of(text) for text in ports]
    with settings.connect() as client:
        pod = client.get(Pod, namespace, pods_meant(client, target, namespace)[0])
        typed, _, name = target.partition("/")
        service = client.get(Service, namespace, name) if typed in SERVICES else None
    chosen = [(pair.local, port_number(pod, service, pair.remote)) for pair in pairs]
    asyncio.run(forward(settings.access(), pod.key, chosen, address))


async def forward(access: Access, pod: Key, ports: list[tuple[int, int]], address: str) -> None:
    def complain(text: str) -> None:
        click.echo(text, err=True)

    # One that carries nothing: it says at once what speaks against the pod, and when the pod is lost.
    async with forwarder(access, pod, complain) as lifeline:
        servers = []
        for local, remote in ports:

            async def carry(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int = remote
            ) -> None:
                try:
                    await alone(access, pod, complain, Way(port, reader, writer))
                except PaddleCloudError as error:
                    complain(str(error))

            try:
                server = await asyncio.start_server(carry, address, local)
            except OSError as error:
                raise WrongUse(f"port {local} of {address} cannot be used: {error.strerror}") from error
            servers.append(server)
            bound = server.sockets[0].getsockname()[1]
            click.echo(f"Forwarding from {address}:{bound} -> {remote}")
        try:
            await lifeline.run()
        finally:
            for server in servers:
                server.close()


def pair_of(text: str) -> Pair:
    local, colon, remote = text.rpartition(":")
    if colon and local and not local.isdecimal():
        raise WrongUse(f"{text!r} is no [LOCAL:]REMOTE")
    if colon:
        return Pair(int(local or 0), remote)
    return Pair(int(text) if text.isdecimal() else 0, text)

"""`pdc predict`: one question to a service, and its answer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from ..api.meta import Key
from ..errors import Unreachable, WrongUse
from ..sdk.predicting import predict as ask
from . import clusters
from .context import Settings, namespace_option, pass_settings
from .serve import found


@click.command()
@click.argument("name")
@click.option("--file", "file", required=True, help="The question as JSON; - reads it from the input.")
@click.option("--path", default="", help="Where to send it [default: as the question is].")
@click.option("--gateway", default="", help="Address of the gateway [default: that of the cluster here].")
@namespace_option
@pass_settings
def predict(settings: Settings, /, name: str, file: str, path: str, gateway: str, namespace: str) -> None:
    """Ask the service NAME and print what it answers.

    The question is {"feed": [{"INPUT": [...]}], "fetch": ["OUTPUT"]}, as Paddle Serving has it (to
    /MODEL/prediction), or {"inputs": [...]}, as the Open Inference Protocol (to /v2/models/MODEL/infer).
    """
    body = question(file)
    with settings.connect() as client:
        service = found(client, Key(namespace, name))
    answer = ask(gateway or gateway_of(settings), service, body, path)
    click.echo(json.dumps(answer, indent=2, ensure_ascii=False))


def question(file: str) -> bytes:
    try:
        body = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        json.loads(body)
    except OSError as error:
        raise WrongUse(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise WrongUse(f"{file} is no JSON: {error}") from error
    return body


def gateway_of(settings: Settings) -> str:
    """The gateway of the cluster on this machine; any other one has to be named."""
    identity = clusters.state(settings.home).identity
    if settings.kubeconfig or identity is None:
        raise Unreachable(
            "the gateway of this cluster is not known",
            next_step="say where it is: --gateway http://HOST:PORT",
        )
    return identity.gateway

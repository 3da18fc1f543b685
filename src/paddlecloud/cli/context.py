"""What the options before the verb mean to every command: which home, which cluster, which namespace."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..cluster.kubeconfig import Access, choose
from ..settings import Home

if TYPE_CHECKING:
    from ..sdk.client import Client

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Settings:
    home: Home
    kubeconfig: str | None = None
    context: str | None = None

    def access(self) -> Access:
        return choose(self.kubeconfig, self.context, self.home, os.environ)

    def connect(self) -> Client:
        # Only commands that ask a cluster pay for the client and the models; `pdc up` is waited for.
        from ..sdk.client import Client

        return Client(self.access())


pass_settings = click.make_pass_decorator(Settings)


def namespace_option(command: F) -> F:
    option = click.option(
        "-n", "--namespace", default="default", show_default=True, help="Namespace to work in."
    )
    return option(command)


def output_option(command: F) -> F:
    return click.option(
        "-o",
        "--output",
        type=click.Choice(["table", "wide", "json", "yaml", "name"]),
        default="table",
        show_default=True,
        help="Form of the answer.",
    )(command)

"""`pdc create configmap` and `pdc create secret generic`: objects of files and texts, as kubectl does it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from ..api.core import ConfigMap, Secret
from ..api.meta import Metadata, Resource
from ..errors import AlreadyExists, WrongUse
from .context import Settings, namespace_option, pass_settings
from .data import show_object

F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def create() -> None:
    """Make a ConfigMap or a Secret of files and texts; other objects are made by `pdc apply -f`."""


def contents(command: F) -> F:
    for option in (
        click.option("--from-file", "files", multiple=True, metavar="[KEY=]FILE|FOLDER",
                     help="A file under its name or KEY; of a folder all files."),
        click.option("--from-literal", "literals", multiple=True, metavar="KEY=TEXT"),
        click.option("--dry-run", is_flag=True, help="Only print the object that would be made."),
    ):  # fmt: skip
        command = option(command)
    return namespace_option(command)


@create.command()
@click.argument("name")
@contents
@pass_settings
def configmap(settings: Settings, /, name: str, namespace: str, **given: Any) -> None:
    """Make a ConfigMap."""
    made(settings, config_map(name, namespace, collected(given["files"], given["literals"])), given)


@create.group("secret")
def secret() -> None:
    """Make a Secret."""


@secret.command()
@click.argument("name")
@contents
@click.option("--type", "kind", default="Opaque", show_default=True)
@pass_settings
def generic(settings: Settings, /, name: str, namespace: str, kind: str, **given: Any) -> None:
    """Make a Secret of files and texts."""
    found = collected(given["files"], given["literals"])
    data = {key: base64.b64encode(content).decode() for key, content in found.items()}
    made(
        settings,
        Secret(metadata=Metadata(name=name, namespace=namespace), data=data, type=kind),
        given,
    )


def config_map(name: str, namespace: str, found: Mapping[str, bytes]) -> ConfigMap:
    """What is no text goes to `binaryData`."""
    texts, binary = {}, {}
    for key, content in found.items():
        try:
            texts[key] = content.decode()
        except UnicodeDecodeError:
            binary[key] = base64.b64encode(content).decode()
    return ConfigMap(metadata=Metadata(name=name, namespace=namespace), data=texts, binary_data=binary)


def collected(files: tuple[str, ...], literals: tuple[str, ...]) -> dict[str, bytes]:
    """Raises `WrongUse` for what cannot be read, has no key, or the key of another."""
    found: dict[str, bytes] = {}
    for key, content in [pair for text in files for pair in read(text)] + [literal(t) for t in literals]:
        if key in found:
            raise WrongUse(f"two contents are to be called {key}", next_step="name one with KEY=FILE")
        found[key] = content
    return found


def read(text: str) -> list[tuple[str, bytes]]:
    key, equals, name = text.rpartition("=")
    path = Path(name)
    try:
        if path.is_dir() and not equals:
            return [(p.name, p.read_bytes()) for p in sorted(path.iterdir()) if p.is_file()]
        return [(key or path.name, path.read_bytes())]
    except OSError as error:
        raise WrongUse(f"{name} cannot be read: {error.strerror}") from error


def literal(text: str) -> tuple[str, bytes]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise WrongUse(f"--from-literal {text!r}: write KEY=TEXT")
    return key, value.encode()


def made(settings: Settings, obj: Resource, given: Mapping[str, Any]) -> None:
    if given["dry_run"]:
        show_object(obj, "yaml")
        return
    named = f"{obj.kind.lower()}/{obj.name}"
    with settings.connect() as client:
        try:
            client.create(obj)
        except AlreadyExists as error:
            raise AlreadyExists(
                f"{named} is there already", next_step=f"pdc delete {named} -n {obj.namespace}"
            ) from error
    click.echo(f"{named} created")

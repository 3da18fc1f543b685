"""Files as a user writes them: one or several documents, each of which names an object.

Nothing is sent before all files have been read: a mistake in the last one leaves the cluster as it was.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from ..api.meta import Key
from ..errors import NotFound, WrongUse
from ..sdk.discovery import Served

F = TypeVar("F", bound=Callable[..., Any])
Manifest = dict[str, Any]


def files_option(*, required: bool) -> Callable[[F], F]:
    return click.option(
        "-f", "--filename", "files", multiple=True, required=required, help="YAML or JSON file; - for stdin."
    )


def read(files: Iterable[str]) -> list[Manifest]:
    return [body for file in files for body in documents(file)]


def documents(file: str) -> list[Manifest]:
    try:
        content = sys.stdin.read() if file == "-" else Path(file).read_text()
        found = [d for d in yaml.safe_load_all(content) if d]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise WrongUse(f"{file} cannot be read: {reason}") from error
    except yaml.YAMLError as error:
        raise WrongUse(f"{file} is no YAML: {error}") from error
    for document in found:
        if not names_an_object(document):
            raise WrongUse(f"{file}: every document needs apiVersion, kind and metadata")
    return found


def names_an_object(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and {"apiVersion", "kind"} <= set(document)
        and isinstance(document.get("metadata"), dict)
    )


def exactly(kinds: Iterable[Served], body: Manifest) -> Served:
    """The kind a document is of; another version of it is another kind."""
    found = [k for k in kinds if (k.api_version, k.kind) == (body["apiVersion"], body["kind"])]
    if not found:
        raise NotFound(f"the cluster does not know {body['kind']} in {body['apiVersion']}")
    return found[0]


def key_of(kind: Served, body: Manifest, namespace: str) -> Key:
    """Where the object is: in the namespace it names itself, else in the given one."""
    inside = (body["metadata"].get("namespace") or namespace) if kind.namespaced else ""
    return Key(inside, body["metadata"].get("name") or "")

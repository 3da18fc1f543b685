"""`pdc apply`: objects become what files say, by server-side apply.

The cluster knows who has set which field. What the file says is set, what it said the last time and says no
more goes, and everything else stays. A field that somebody else has set to another value is not overwritten
unasked: it is told with the ways out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import click

from ..cluster import requests
from ..cluster.requests import PatchType, Request
from ..errors import ApiError, Conflict, Failed, Invalid, NotFound
from ..sdk.client import Client
from ..sdk.discovery import Served, served
from . import manifests
from .context import Settings, namespace_option, pass_settings
from .manifests import Manifest

ASIDE = ("managedFields", "resourceVersion", "generation")
"""What says that an object was written, not what it is."""
UNFIT = re.compile(r"failed to create typed patch object \(.*?; .*?\): ", re.DOTALL)
"""How a server begins when a file does not fit the kind's schema; the mistakes follow."""
UNKNOWN = re.compile(r"\.(\S+): field not declared in schema")


@click.command()
@manifests.files_option(required=True)
@namespace_option
@click.option(
    "--dry-run", is_flag=True, help="Only say what would be done; the cluster checks it all the same."
)
@click.option(
    "--force-conflicts", is_flag=True, help="Set also fields that others have set to another value."
)
@pass_settings
def apply(
    settings: Settings, files: tuple[str, ...], namespace: str, dry_run: bool, force_conflicts: bool
) -> None:
    """Make objects what files say; one that is refused does not keep the others from it.

    A field that a file said the last time and says no more goes; what others have set stays.
    """
    bodies = manifests.read(files)
    refused: list[ApiError] = []
    with settings.connect() as client:
        kinds = served(client)
        for body in bodies:
            try:
                click.echo(apply_one(client, kinds, body, namespace, options(dry_run, force_conflicts)))
            except ApiError as error:
                refused.append(error)
                if len(bodies) > 1:
                    click.echo(f"error: {error}", err=True)
    if len(bodies) == 1 and refused:
        raise refused[0]
    if refused:
        raise Failed(f"{len(refused)} of {len(bodies)} objects were refused; the others are as above")


Options = tuple[tuple[str, str], ...]


def options(dry_run: bool, force: bool) -> Options:
    # A misspelled field is an error, as with kubectl.
    asked = (("fieldValidation", "Strict"), ("force", "true" if force else "false"))
    return (*asked, ("dryRun", "All")) if dry_run else asked


def apply_one(
    client: Client, kinds: Iterable[Served], body: Manifest, namespace: str, wanted: Options
) -> str:
    """What became of one object, in a line."""
    kind = manifests.exactly(kinds, body)
    key = manifests.key_of(kind, body, namespace)
    remark = " (dry run)" if ("dryRun", "All") in wanted else ""
    if not key.name and body["metadata"].get("generateName"):
        # Who lets the cluster choose a name wants a new object each time.
        query = tuple(pair for pair in wanted if pair[0] != "force")
        made = client.request(extended(requests.creation(kind.place, key.namespace, body), query))
        return f"{kind.kind.lower()}/{made['metadata']['name']} created{remark}"
    shown = f"{kind.kind.lower()}/{key.name}"
    before = stored(client, requests.get(kind.place, key))
    patch = requests.patching(kind.place, key, body, form=PatchType.APPLY)
    try:
        after = client.request(extended(patch, wanted))
    except ApiError as error:
        raise plainly(error, shown) from error
    return f"{shown} {change(before, after)}{remark}"


def extended(request: Request, query: Options) -> Request:
    kept = tuple(pair for pair in request.query if pair[0] not in dict(query))
    return Request(request.method, request.path, (*kept, *query), request.headers, request.body)


def stored(client: Client, request: Request) -> Manifest | None:
    try:
        return client.request(request)
    except NotFound:
        return None


def plainly(error: ApiError, shown: str) -> ApiError:
    """The same error in words for who wrote the file, where the server's are for who wrote a server."""
    causes = error.details.get("causes") or ()
    # The other conflict is of two writers at the same moment.
    if any(cause.get("reason") == "FieldManagerConflict" for cause in causes):
        return Conflict(
            f"{shown} keeps what others have set: {error.message}",
            details=error.details,
            next_step="take these fields out of the file, or set them all the same with --force-conflicts",
        )
    if UNFIT.match(error.message):
        mistakes = UNKNOWN.sub(r'unknown field "\1"', UNFIT.sub("", error.message, count=1))
        return Invalid(f"{shown} does not fit its kind: {mistakes}", details=error.details)
    return error


def change(before: Manifest | None, after: Manifest) -> str:
    if before is None:
        return "created"
    return "unchanged" if content(before) == content(after) else "configured"


def content(body: Manifest) -> dict[str, Any]:
    """What a file can have changed; the status moves by itself between two looks."""
    metadata = {name: value for name, value in body["metadata"].items() if name not in ASIDE}
    return {**body, "metadata": metadata, "status": None}

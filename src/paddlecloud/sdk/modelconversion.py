"""Ask for another format of a version, and wait for what becomes of it."""

from __future__ import annotations

from ..api.model import Conversion, ModelPhase, ModelVersion
from ..controllers.modelconversions import ASKED, WAYS
from ..errors import Failed, WrongUse
from .client import Client
from .waiting import wait_for

FORMATS = {to for _, to in WAYS}


def convert_version(
    client: Client, version: ModelVersion, form: str, timeout: float | None
) -> Conversion | None:
    """The conversion as it was recorded; None without a *timeout*, when nobody waits for it.

    Raises `WrongUse` where there is no way to the format, `Failed` when it could not be made.
    """
    if version.status.phase is not ModelPhase.READY:
        raise WrongUse(f"{version.name} is {version.status.phase.value}: only a Ready version is converted")
    if (version.spec.format, form) not in WAYS:
        ways = sorted(to for given, to in WAYS if given == version.spec.format)
        raise WrongUse(
            f"{version.name} is of format {version.spec.format}: there is no way from there to {form}",
            next_step=f"choose among {', '.join(ways)}" if ways else "push the model it was made from",
        )
    if found := recorded(version, form):
        return checked(version, found)
    client.patch(ModelVersion, version.key, {"metadata": {"annotations": {ASKED + form: ""}}})
    if timeout is None:
        return None
    ended = wait_for(client, ModelVersion, version.key, lambda v: recorded(v, form) is not None, timeout)
    made = recorded(ended, form)
    assert made is not None, "it was waited for"
    return checked(ended, made)


def recorded(version: ModelVersion, form: str) -> Conversion | None:
    return next((c for c in version.status.conversions if c.format == form), None)


def checked(version: ModelVersion, made: Conversion) -> Conversion:
    if not made.exact:
        raise Failed(
            f"{version.name} is not offered as {made.format}: {made.message}",
            next_step=f"pdc model show {version.spec.model}@{version.name}",
        )
    return made

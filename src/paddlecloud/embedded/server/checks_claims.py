"""What a claim of a volume asks for: what it may not be; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .checks_scheduling import check_selector
from .checks_words import check_subdomain
from .complaints import forbidden, invalid, one_of, required
from .facts.scalars import amount
from .schema import Violation

Body = dict[str, Any]
MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def check_claim_spec(spec: Body, path: str) -> Iterator[Violation]:
    modes = spec.get("accessModes") or []
    if not modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from check_selector(spec.get("selector"), f"{path}.selector")
    yield from check_modes(modes, f"{path}.accessModes")
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if asked is None:
        yield required(f"{path}.resources[storage]")
    elif amount(asked) <= 0:
        yield invalid(f"{path}.resources[storage]", asked, "must be greater than zero")
    if name := spec.get("storageClassName"):
        yield from check_subdomain(name, f"{path}.storageClassName")
    if (mode := spec.get("volumeMode")) is not None:
        yield from one_of(mode, f"{path}.volumeMode", ("Block", "Filesystem"))


def check_modes(modes: list[str], path: str) -> Iterator[Violation]:
    for mode in modes:
        yield from one_of(mode, path, MODES)
    if len(modes) > 1 and "ReadWriteOncePod" in modes:
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")

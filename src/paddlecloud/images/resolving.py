"""Which of the places that could have an image is the one to take it from.

A suite first, then what was imported, then what was pulled, then the registry. A suite and an imported image
have no registry to be compared with, so they answer whatever the policy says; for a pulled one the policy
decides as on any node. Pure.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from . import names, words
from .failures import InvalidName, NeverPulled, NotPulled
from .layout import IMPORTED, Entry
from .names import Name


class Policy(StrEnum):
    ALWAYS = "Always"
    IF_NOT_PRESENT = "IfNotPresent"
    NEVER = "Never"


class Says(Protocol):
    @property
    def images(self) -> list[str]: ...
    @property
    def entrypoint(self) -> list[str]: ...
    @property
    def cmd(self) -> list[str]: ...
    @property
    def env(self) -> dict[str, str]: ...
    @property
    def at(self) -> str: ...


class Suite(Protocol):
    """As much of a suite as is needed here."""

    @property
    def name(self) -> str: ...
    @property
    def says(self) -> Says: ...


@dataclass(frozen=True)
class Known:
    """What there is on this machine."""

    suites: Mapping[str, Suite] = field(default_factory=dict)
    """By the place they answer to: registry and repository, in full."""
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class FromSuite:
    suite: Suite


@dataclass(frozen=True)
class FromStore:
    entry: Entry


@dataclass(frozen=True)
class FromRegistry:
    name: Name
    here: Entry | None = None
    """What is used without a download if the registry still has the same."""


Choice = FromSuite | FromStore | FromRegistry


def policy_of(image: str, said: str = "") -> Policy:
    """What a pod says, or what Kubernetes takes when it says nothing: newest things are asked for again."""
    if said:
        return Policy(said)
    name = names.parse(image)
    return Policy.ALWAYS if name.tag == names.DEFAULT_TAG and not name.digest else Policy.IF_NOT_PRESENT


def by_place(suites: Iterable[Suite]) -> dict[str, Suite]:
    """Suites by all that they answer to; the first of two wins."""
    found: dict[str, Suite] = {}
    for suite in suites:
        for image in suite.says.images:
            try:
                found.setdefault(names.parse(image).place, suite)
            except InvalidName:
                # A suite's own mistake must not keep the others from answering.
                continue
    return found


def choose(image: str, policy: Policy, known: Known) -> Choice:
    """Where *image* is taken from; raises `InvalidName`, or `NeverPulled` where nobody may be asked."""
    name = names.parse(image)
    if name.place in known.suites:
        return FromSuite(known.suites[name.place])
    here = present(name, known.entries)
    if here is not None and (here.source == IMPORTED or name.digest or policy is not Policy.ALWAYS):
        return FromStore(here)
    if policy is Policy.NEVER:
        raise NeverPulled(words.never(image), next_step=advice(name, known))
    return FromRegistry(name, here)


def present(name: Name, entries: Iterable[Entry]) -> Entry | None:
    for entry in entries:
        if name.digest and entry.name:
            if (names.parse(entry.name).place, entry.manifest.digest) == (name.place, name.digest):
                return entry
        elif entry.name == str(name):
            return entry
    return None


def failure(image: str, why: str, known: Known) -> NotPulled:
    """The sentence for an image that nobody handed over, with what comes near to its name."""
    return NotPulled(words.failed(image, why), next_step=advice(names.parse(image), known))


def advice(name: Name, known: Known) -> str:
    near = candidates(name, known)
    meant = f"did you mean {', '.join(near)}? " if near else ""
    return f"{meant}`pdc image ls` shows what is here, `pdc image import FILE` brings more"


def candidates(name: Name, known: Known) -> list[str]:
    """Names of this machine that come near, the nearest first."""
    there = {names.parse(place).short_place: names.parse(place) for place in known.suites}
    there |= {parsed.short: parsed for e in known.entries if e.name for parsed in (names.parse(e.name),)}
    bare = {parsed.short_place for parsed in there.values()}
    near = difflib.get_close_matches(name.short_place, sorted(bare), n=3, cutoff=0.6)
    # Another registry or tag of a name we do have is the commonest near miss.
    last = name.repository.rpartition("/")[2]
    same = [shown for shown, parsed in there.items() if parsed.repository.rpartition("/")[2] == last]
    alike = [shown for match in near for shown, parsed in there.items() if parsed.short_place == match]
    return list(dict.fromkeys([*same, *alike]))[:5]

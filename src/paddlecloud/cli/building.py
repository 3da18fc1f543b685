"""From a suite and a base to the plan of an image: what `pdc image build` does before it writes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from .. import settings
from ..embedded.node import suites
from ..embedded.node.environments import Environments
from ..embedded.node.suites import Suite
from ..errors import WrongUse
from ..images import archives, names, packages, resolving
from ..images.building import Base, Built, Plan, build
from ..images.items import Items, gathered
from ..images.layout import Store
from ..settings import Home


def build_suite(home: Home, wanted: str, to: Path, base: str | None, name: str | None) -> Built:
    """Raises `WrongUse` for an unknown suite or base."""
    suite = find(wanted)
    full = names.parse(name or suite.says.images[0])
    ground = base_image(home, base) if base else None
    code = gathered(suite.code, suite.says.at) if suite.code else {}
    click.echo(f"building {full.short} from suite {suite.name}", err=True)
    plan = Plan(
        str(full),
        packages_of(home, suite),
        code,
        tuple(suite.says.entrypoint),
        tuple(suite.says.cmd),
        suite.says.env,
        suite.says.at if suite.code else "",
        ground,
    )
    return build(plan, to)


def find(wanted: str) -> Suite:
    if (Path(wanted) / "suite.yaml").is_file():
        return suites.read(Path(wanted))
    known = suites.all_suites(suites.folders())
    found = next((s for s in known if s.name == wanted), None)
    if found is None:
        there = ", ".join(sorted({s.name for s in known}))
        raise WrongUse(f"there is no suite {wanted}; there are: {there}")
    return found


def packages_of(home: Home, suite: Suite) -> Items:
    items: Items = {}
    if suite.says.python == "environment":
        made = asyncio.run(
            Environments(home.environments).ensure(suite, lambda line: click.echo(line, err=True))
        )
        items |= packages.of_environment(made.bin.parent)
    elif suite.says.paddlecloud:
        items |= packages.of_distribution("paddlecloud")
    if suite.says.paddlecloud:
        ours = {"suites": settings.shipped("suites"), "crds": settings.shipped("deploy/crds")}
        items |= packages.of_paddlecloud(Path(settings.__file__).parent, ours)
    return items


def base_image(home: Home, base: str) -> Base:
    """An archive or folder is imported first, under a name of its own."""
    store = Store(home.images)
    if Path(base).exists():
        stem = "".join(c for c in Path(base).name.partition(".")[0].lower() if c.isalnum()) or "base"
        name = names.parse(f"localhost/bases/{stem}")
        archives.load(store, Path(base), name)
    else:
        name = names.parse(base)
    entry = resolving.present(name, store.entries())
    if entry is None:
        raise WrongUse(
            f"the base {base} is neither a file nor an image that is here",
            next_step=f"fetch it first: pdc image pull {base}",
        )
    manifest = store.manifest(entry.manifest.digest)
    return Base(store, manifest, store.config(manifest), name.short)

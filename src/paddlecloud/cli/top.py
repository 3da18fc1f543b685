"""`pdc top`: what nodes and pods use right now."""

from __future__ import annotations

from typing import Any

import click

from ..cluster.requests import Place, Scope, listing
from ..errors import NotFound
from .context import Settings, namespace_option, pass_settings
from .output import lay_out

Body = dict[str, Any]
GROUP = "metrics.k8s.io/v1beta1"


@click.command()
@click.argument("what", type=click.Choice(["node", "nodes", "pod", "pods"]))
@click.argument("name", required=False)
@click.option("-A", "--all-namespaces", is_flag=True, help="In all namespaces.")
@click.option("-l", "--selector", default="", help="Only objects with these labels.")
@click.option("--containers", is_flag=True, help="A line a container.")
@click.option("--sort-by", type=click.Choice(["cpu", "memory"]), default=None, help="Most first.")
@namespace_option
@pass_settings
def top(
    settings: Settings, what: str, name: str | None, all_namespaces: bool, selector: str, containers: bool,
    sort_by: str | None, namespace: str,
) -> None:  # fmt: skip
    """Show what nodes or pods use right now."""
    nodes = what.startswith("node")
    place = Place(GROUP, "nodes" if nodes else "pods", not nodes)
    scope = Scope("" if nodes or all_namespaces else namespace, labels=selector)
    with settings.connect() as client:
        items = client.request(listing(place, scope, limit=0))["items"]
    found = [item for item in items if not name or item["metadata"]["name"] == name]
    if not found:
        raise NotFound(f"nothing is measured for {what} {name or ''}".rstrip())
    rows = [row for item in found for row in rows_of(item, containers)]
    if sort_by:
        rows.sort(key=lambda row: row[2] if sort_by == "cpu" else row[3], reverse=True)
    table = [["NAMESPACE", "NAME", "CPU(cores)", "MEMORY(bytes)"]]
    table += [[row[0], row[1], cores(row[2]), mebibytes(row[3])] for row in rows]
    lay_out(table if all_namespaces and not nodes else [line[1:] for line in table])


def rows_of(item: Body, apart: bool) -> list[tuple[str, str, float, float]]:
    """Namespace, name, cores and bytes; of each container *apart*, or together."""
    metadata = item["metadata"]
    namespace, name = str(metadata.get("namespace") or ""), str(metadata["name"])
    parts = [(name, item["usage"])] if "usage" in item else [
        (f"{name}/{c['name']}", c["usage"]) for c in item["containers"]
    ]  # fmt: skip
    rows = [(namespace, part, amount(used["cpu"]), amount(used["memory"])) for part, used in parts]
    if apart or "usage" in item:
        return rows
    return [(namespace, name, sum(row[2] for row in rows), sum(row[3] for row in rows))]


def amount(quantity: str) -> float:
    for unit, factor in (("n", 1e-9), ("u", 1e-6), ("m", 1e-3), ("Ki", 2**10), ("Mi", 2**20), ("Gi", 2**30)):
        if quantity.endswith(unit):
            return float(quantity.removesuffix(unit)) * factor
    return float(quantity)


def cores(number: float) -> str:
    return f"{round(number * 1000)}m"


def mebibytes(number: float) -> str:
    return f"{round(number / 2**20)}Mi"

"""Two versions side by side: files, signature, metrics, conversions, lineage; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..api.model import ModelVersion, TensorSpec


class Difference(NamedTuple):
    part: str
    """file, input, output, metric, lineage, conversion or format."""
    name: str
    left: str
    """Empty where this side has none."""
    right: str


def compare(a: ModelVersion, b: ModelVersion) -> list[Difference]:
    """What differs, and every metric of either, since those are looked at side by side."""
    found: list[Difference] = []
    for part, both in (
        ("format", [{"": v.spec.format} for v in (a, b)]),
        ("file", [{f.path: f"{f.sha256[:12]} {f.size} B" for f in v.status.files} for v in (a, b)]),
        ("input", [tensors(v, "inputs") for v in (a, b)]),
        ("output", [tensors(v, "outputs") for v in (a, b)]),
        ("metric", [metrics(v) for v in (a, b)]),
        ("conversion", [conversions(v) for v in (a, b)]),
        ("lineage", [lineage(v) for v in (a, b)]),
    ):
        found += rows(part, both[0], both[1], same=part == "metric")
    return found


def rows(part: str, left: Mapping[str, str], right: Mapping[str, str], *, same: bool) -> list[Difference]:
    names = [*left, *(name for name in right if name not in left)]
    every = [Difference(part, name, left.get(name, ""), right.get(name, "")) for name in names]
    return [row for row in every if same or row.left != row.right]


def tensors(version: ModelVersion, side: str) -> dict[str, str]:
    signature = version.status.signature
    found: list[TensorSpec] = getattr(signature, side) if signature else []
    return {t.name: f"{t.dtype}{t.shape}" for t in found}


def metrics(version: ModelVersion) -> dict[str, str]:
    return {name: f"{value:g}" for name, value in sorted(version.spec.metrics.items())}


def conversions(version: ModelVersion) -> dict[str, str]:
    return {c.format: "exact" if c.exact else c.message or "not exact" for c in version.status.conversions}


def lineage(version: ModelVersion) -> dict[str, str]:
    return {name: str(value) for name, value in version.spec.lineage.wire().items() if value}


def as_wire(a: ModelVersion, b: ModelVersion) -> dict[str, Any]:
    """The same for programs."""
    found = [row._asdict() for row in compare(a, b)]
    return {"left": a.name, "right": b.name, "differences": found}

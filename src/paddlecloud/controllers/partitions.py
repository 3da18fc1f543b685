"""What the partitions of a SampleSet hold, from what their runtimes say; and the labels of their nodes; pure.

A runtime is believed, but nothing else that answers in its place: what does not read like one is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import Field, ValidationError

from ..api.core import Node, Pod
from ..api.forecast import Outcome, Speeds
from ..api.meta import Progress, Value
from ..api.sampleset import CacheStatus, PartitionStatus, RuntimeStatus, SampleSet
from ..sizes import count, size
from .contract import Update

FAILED, SYNCED, IDLE = "Failed", "Synced", "Idle"


class Report(Value):
    """What a runtime says of itself; sizes in bytes."""

    phase: str = ""
    message: str = ""
    total_size: int = Field(0, ge=0)
    total_files: int = Field(0, ge=0)
    cached_size: int = Field(0, ge=0)
    disk_size: int = Field(0, ge=0)
    disk_used: int = Field(0, ge=0)
    disk_avail: int = Field(0, ge=0)
    error_massage: str = ""
    revision: str = ""
    source_state: str = ""
    """How the source was when it was last listed: Same, Changed or Unreachable; empty before."""
    source_message: str = ""
    progress: Progress | None = None


class Result(Value):
    """What a runtime says of one operation."""

    status: str
    """queued, running, success, fail or cancelled."""
    message: str = ""
    progress: Progress | None = None
    stats: Outcome = Outcome()
    measured: Speeds | None = None

    @property
    def ended_badly(self) -> bool:
        return self.status in ("fail", "cancelled")


def report_of(body: Any) -> Report | None:
    """None where something else than a runtime answered."""
    try:
        return Report.model_validate(body)
    except ValidationError:
        return None


def result_of(body: Any) -> Result | None:
    try:
        return Result.model_validate(body)
    except ValidationError:
        return None


def cache_of(data: SampleSet, pods: dict[int, Pod], reports: dict[int, Report]) -> CacheStatus | None:
    """Sums over the partitions that answer; what nobody tells now stays as it was told."""
    before = data.status.cache_status
    if not reports:
        return before
    told = list(reports.values())
    total = next((r.total_size for r in told if r.total_size), 0)
    disk = sum(r.disk_size for r in told)
    used = sum(r.disk_used for r in told)
    return CacheStatus(
        total_size=size(total),
        total_files=count(next((r.total_files for r in told if r.total_files), 0)),
        cached_size=size(min(total, sum(r.cached_size for r in told))),
        disk_size=size(disk),
        disk_used=size(used),
        disk_avail=size(sum(r.disk_avail for r in told)),
        disk_usage_rate=f"{100 * used / disk:.1f}%" if disk else "0.0%",
        error_massage="; ".join(dict.fromkeys(r.error_massage for r in told if r.error_massage)),
        partitions=[partition_of(pods[i], reports.get(i)) for i in sorted(pods) if i < data.spec.partitions],
    )


def partition_of(pod: Pod, report: Report | None) -> PartitionStatus:
    if report is None:
        return PartitionStatus(
            name=pod.name, node=pod.node, message=f"does not answer; its pod is {pod.phase}"
        )
    return PartitionStatus(
        name=pod.name,
        node=pod.node,
        phase=report.phase,
        total_size=size(report.total_size),
        total_files=count(report.total_files),
        cached_size=size(report.cached_size),
        disk_size=size(report.disk_size),
        disk_used=size(report.disk_used),
        disk_avail=size(report.disk_avail),
        revision=report.revision,
        message=report.message,
    )


def runtime_of(data: SampleSet, pods: dict[int, Pod], reports: dict[int, Report]) -> RuntimeStatus:
    """How many runtimes are at work: one that has answered is, even if its node has not asked it yet."""
    wanted = data.spec.partitions
    ready = sum(1 for i, p in pods.items() if (p.ready or i in reports) and i < wanted)
    return RuntimeStatus(spec_replicas=wanted, ready_replicas=ready, runtime_ready=f"{ready}/{wanted}")


def progress_of(old: Progress | None, told: Iterable[Progress | None], now: Any) -> Progress | None:
    """That of all partitions together; one that stands still is no reason to write."""
    given = [p for p in told if p is not None]
    if not given:
        return None
    done, total = sum(p.done for p in given), sum(p.total for p in given)
    if old is not None and (old.done, old.total) == (done, total):
        return old
    etas = [p.eta_seconds for p in given if p.eta_seconds is not None]
    return Progress(
        done=done,
        total=total,
        unit=given[0].unit,
        rate=sum(p.rate for p in given),
        message=given[0].message,
        updated_at=now,
        **({"eta_seconds": max(etas)} if etas else {}),
    )


def node_label(namespace: str, name: str) -> str:
    """The label of nodes that hold a partition of a set; its value is the runtime there."""
    return f"{namespace}.sampleset.paddlepaddle.org/{name}"


def relabelled(data: SampleSet, pods: Iterable[Pod], nodes: Iterable[Node]) -> tuple[Update, ...]:
    """The nodes with these runtimes say so, and no others."""
    key = node_label(data.namespace, data.name)
    there = {p.node: p.name for p in pods if p.node and p.phase == "Running"}
    found = []
    for node in nodes:
        wanted, have = there.get(node.name), node.metadata.labels.get(key)
        if wanted != have:
            found.append(Update(node, {"metadata": {"labels": {key: wanted}}}))
    return tuple(found)

"""Where the steps of a run are kept: in its status, or past a hundred of them in StepRecords; pure.

A record stays in the object it was first laid into while there is room. What moves is written to its new
place before it leaves the old one, and of two places the later counts: nothing is lost between two writes.
A run is never told to have ended, or to have been begun again, before its records say so: the status waits
until they were seen as decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import orjson

from ..api.meta import Metadata
from ..api.workflowrun import StepRecords, StepRecordsSpec, StepStatus, WorkflowRun, WorkflowRunStatus
from .contract import Update
from .statuses import difference
from .workflowpods import RUN_LABEL

MOST, LARGEST = 100, 256 * 1024
"""Steps, and bytes of them, in one object: what one step may hand over fits beside others."""
AROUND = 256
"""Bytes of a step beside what it was given, handed over and said."""

Nodes = Mapping[str, StepStatus]


class Kept(NamedTuple):
    """What a decision has to do so that the steps are kept."""

    status: WorkflowRunStatus
    children: tuple[StepRecords, ...] = ()
    changes: tuple[Update, ...] = ()


def gathered(run: WorkflowRun, records: Iterable[StepRecords]) -> WorkflowRun:
    """The run with all its steps in the status, wherever they are kept."""
    nodes = dict(run.status.nodes)
    for place in sorted(records, key=number):
        nodes |= place.spec.nodes
    return run if nodes == run.status.nodes else run.but(status=run.status.but(nodes=nodes))


def kept(run: WorkflowRun, status: WorkflowRunStatus, records: Iterable[StepRecords]) -> Kept:
    """How *status*, which has all steps, is kept; *run* is as it is stored."""
    there = sorted(records, key=number)
    places = laid_out(status.nodes, [r.spec.nodes for r in there])
    if not places:
        return Kept(status)
    made = tuple(a_record(run, n, nodes) for n, nodes in enumerate(places[len(there) :], len(there)))
    changes = tuple(u for r, nodes in zip(there, places, strict=False) if (u := change(r, nodes)))
    told = status.but(nodes={}, records=len(places))
    if made or changes:
        told = held_back(run.status, told)
    return Kept(told, (*there, *made), changes)


def held_back(stored: WorkflowRunStatus, decided: WorkflowRunStatus) -> WorkflowRunStatus:
    """What may be told before the records are written: how far it is, not that it is over."""
    told = decided.but(nodes=stored.nodes, retries=stored.retries)
    if not decided.phase.final:
        return told
    return told.but(phase=stored.phase, completion_time=stored.completion_time, conditions=stored.conditions)


def laid_out(nodes: Nodes, there: Sequence[Nodes]) -> list[dict[str, StepStatus]]:
    """The steps by their places; none while all of them fit into the status."""
    sizes = {path: len(path) + size_of(node) for path, node in nodes.items()}
    if not there and len(nodes) <= MOST and sum(sizes.values()) <= LARGEST:
        return []
    before = {path: n for n, place in enumerate(there) for path in place}
    places: list[dict[str, StepStatus]] = [{} for _ in there]
    filled = [0] * len(places)

    def room(n: int, path: str) -> bool:
        return not places[n] or (len(places[n]) < MOST and filled[n] + sizes[path] <= LARGEST)

    def lay(n: int, path: str) -> None:
        places[n][path] = nodes[path]
        filled[n] += sizes[path]

    moving = []
    # The largest move, so that few do.
    for path in sorted(before.keys() & nodes.keys(), key=lambda path: (sizes[path], path)):
        if room(before[path], path):
            lay(before[path], path)
        else:
            moving.append(path)
    for path in (*moving, *(path for path in nodes if path not in before)):
        # Only further on: of two places the later counts.
        first = before.get(path, -1) + 1
        n = next((n for n in range(first, len(places)) if room(n, path)), len(places))
        if n == len(places):
            places.append({})
            filled.append(0)
        lay(n, path)
    return places


def size_of(node: StepStatus) -> int:
    """About as many bytes as it has: only what steps bring with them differs much."""
    brought = orjson.dumps((node.inputs, node.outputs, node.artifacts, node.message))
    return AROUND + len(brought)


def change(record: StepRecords, nodes: Nodes) -> Update | None:
    stored = record.spec.nodes
    moved = {path for path, node in stored.items() if node is not nodes.get(path)}
    patch = difference(
        {path: stored[path].wire() for path in moved},
        {path: node.wire() for path, node in nodes.items() if path in moved or path not in stored},
    )
    return Update(record, {"spec": {"nodes": patch}}) if patch else None


def a_record(run: WorkflowRun, n: int, nodes: dict[str, StepStatus]) -> StepRecords:
    return StepRecords(
        metadata=Metadata(
            name=f"{run.name}-steps-{n}", namespace=run.namespace, labels={RUN_LABEL: run.name}
        ),
        spec=StepRecordsSpec(nodes=nodes),
    )


def number(record: StepRecords) -> int:
    return int(record.name.rpartition("-")[2])

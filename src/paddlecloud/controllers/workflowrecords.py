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

MOST, LARGEST = 25, 256 * 1024
"""Steps, and bytes of them, in one object: each change of one of them is written, sent and read with the
others, and what one step may hand over fits beside them."""
AROUND = 256
"""Bytes of a step beside what it was given, handed over and said."""

Nodes = Mapping[str, StepStatus]


class Kept(NamedTuple):
    """What a decision has to do so that the steps are kept."""

    status: WorkflowRunStatus
    children: tuple[StepRecords, ...] = ()
    changes: tuple[Update, ...] = ()
    patient: bool = False
    """The status has nothing new but how far the run is, which its records tell as well."""


def gathered(run: WorkflowRun, records: Iterable[StepRecords]) -> WorkflowRun:
    """The run with all its steps in the status, wherever they are kept."""
    records = tuple(records)
    if not records:
        return run
    nodes = dict(run.status.nodes)
    for place in sorted(records, key=number):
        nodes |= place.spec.nodes
    return run if nodes == run.status.nodes else run.but(status=run.status.but(nodes=nodes))


def kept(run: WorkflowRun, status: WorkflowRunStatus, records: Iterable[StepRecords]) -> Kept:
    """How *status*, which has all steps, is kept; *run* is as it is stored."""
    there = sorted(records, key=number)
    before = [r.spec.nodes for r in there]
    places = in_place(status.nodes, before) or laid_out(status.nodes, before)
    if not places:
        return Kept(status)
    made = tuple(a_record(run, n, nodes) for n, nodes in enumerate(places[len(there) :], len(there)))
    changes = tuple(u for r, nodes in zip(there, places, strict=False) if (u := change(r, nodes)))
    told = status.but(nodes={}, records=len(places))
    if made or changes:
        told = held_back(run.status, told)
    return Kept(told, (*there, *made), changes, only_further(run.status, told))


def only_further(stored: WorkflowRunStatus, decided: WorkflowRunStatus) -> bool:
    """Whether nothing differs but the progress and the words of conditions."""
    same = decided.but(progress=stored.progress, conditions=stored.conditions) == stored
    return same and said(stored) == said(decided)


def said(status: WorkflowRunStatus) -> list[tuple[str, str, str]]:
    return [(c.type, c.status, c.reason) for c in status.conditions]


def held_back(stored: WorkflowRunStatus, decided: WorkflowRunStatus) -> WorkflowRunStatus:
    """What may be told before the records are written: how far it is, not that it is over."""
    told = decided.but(nodes=stored.nodes, retries=stored.retries)
    if not decided.phase.final:
        return told
    return told.but(phase=stored.phase, completion_time=stored.completion_time, conditions=stored.conditions)


def in_place(nodes: Nodes, there: Sequence[Nodes]) -> list[Nodes]:
    """The steps where they were, if all of them are still there and fit: at nearly every look.

    What is the very same is not measured again.
    """
    if not there or sum(map(len, there)) != len(nodes):
        return []
    places: list[Nodes] = []
    for place in there:
        if not place.keys() <= nodes.keys():
            return []
        now = {path: nodes[path] for path in place}
        if any(now[path] is not node for path, node in place.items()):
            if len(now) > 1 and sum(len(path) + size_of(node) for path, node in now.items()) > LARGEST:
                return []
            places.append(now)
        else:
            places.append(place)
    return places


def laid_out(nodes: Nodes, there: Sequence[Nodes]) -> Sequence[Nodes]:
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
    if nodes is stored:
        return None
    moved = {path for path, node in stored.items() if node is not nodes.get(path)}
    patch = difference(
        {path: stored[path].wire() for path in moved},
        {path: node.wire() for path, node in nodes.items() if path in moved or path not in stored},
    )
    return Update(record, {"spec": {"nodes": patch}}) if patch else None


def a_record(run: WorkflowRun, n: int, nodes: Nodes) -> StepRecords:
    return StepRecords(
        metadata=Metadata(
            name=f"{run.name}-steps-{n}", namespace=run.namespace, labels={RUN_LABEL: run.name}
        ),
        spec=StepRecordsSpec(nodes=dict(nodes)),
    )


def number(record: StepRecords) -> int:
    return int(record.name.rpartition("-")[2])

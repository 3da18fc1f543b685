"""Where the steps of a run are kept: all of them once, each where it was, none beyond what an API takes."""

from __future__ import annotations

import pytest
from tests.decisions.builders import a_run

from paddlecloud.api.meta import Progress
from paddlecloud.api.workflowgraph import Graph
from paddlecloud.api.workflowrun import (
    RunPhase,
    StepPhase,
    StepStatus,
    WorkflowRunStatus,
)
from paddlecloud.controllers.workflowrecords import LARGEST, MOST, gathered, kept, laid_out

GRAPH = Graph.model_validate({"name": "g", "steps": []})


def steps(count: int, size: int = 0, first: int = 0) -> dict[str, StepStatus]:
    done = StepStatus(phase=StepPhase.SUCCEEDED, outputs={"said": "x" * size} if size else {})
    return {f"s{n}": done for n in range(first, first + count)}


@pytest.mark.parametrize(
    "count, size, places",
    [(1, 0, 0), (MOST, 0, 0), (MOST + 1, 0, 2), (3 * MOST, 0, 3), (2, LARGEST // 2, 2), (1, LARGEST, 1)],
)
def test_many_steps_and_large_ones_are_laid_into_several_places(count: int, size: int, places: int) -> None:
    laid = laid_out(steps(count, size), [])

    assert len(laid) == places
    assert not laid or {path for place in laid for path in place} == set(steps(count))


def test_a_step_stays_where_it_was_while_there_is_room() -> None:
    half = MOST // 2
    before = laid_out(steps(MOST + half), [])
    after = laid_out({**steps(MOST, first=MOST + half), **steps(MOST + half)}, before)

    assert set(after[0]) == set(before[0]) and set(before[1]) <= set(after[1]) and len(after) == 3


def test_a_step_that_grew_moves_on_and_is_written_there_before_it_leaves() -> None:
    run = a_run(GRAPH)
    first = kept(run, a_status(steps(MOST + 1)), ()).children
    grown = {**steps(MOST + 1), **steps(2, size=LARGEST - 1000)}
    laid = kept(run, a_status(grown), first)

    made = [r for r in laid.children if r not in first]
    assert [list(r.spec.nodes) for r in made] == [["s1"]]
    [change] = [u for u in laid.changes if u.patch["spec"]["nodes"].get("s1", 0) is None]
    assert change.observed.name.endswith("-steps-0")
    # Between the two writes it is in both places: the later one counts.
    assert gathered(run, (*first, *made)).status.nodes["s1"] == grown["s1"]


def test_an_end_is_not_told_before_the_records_say_so() -> None:
    run = a_run(GRAPH).but(status=WorkflowRunStatus(phase=RunPhase.RUNNING))
    over = a_status(steps(MOST + 1)).but(phase=RunPhase.SUCCEEDED, retries=1)
    first = kept(run, over, ())
    second = kept(run, over, first.children)

    assert (first.status.phase, first.status.retries, bool(first.children)) == ("Running", 0, True)
    assert (second.status.phase, second.status.retries, second.changes) == ("Succeeded", 1, ())
    assert second.status.nodes == {} and second.status.records == 2


def test_what_was_kept_is_gathered_again() -> None:
    run = a_run(GRAPH)
    laid = kept(run, a_status(steps(250)), ())

    assert gathered(run.but(status=laid.status), laid.children).status.nodes == steps(250)


def test_a_change_of_one_step_rewrites_one_place_and_the_status_may_wait() -> None:
    run = a_run(GRAPH)
    first = kept(run, a_status(steps(4 * MOST)), ())
    run = run.but(status=first.status.but(nodes={}))
    nodes = {**gathered(run, first.children).status.nodes, "s1": StepStatus(phase=StepPhase.FAILED)}
    further = a_status(nodes).but(records=4, progress=Progress(done=1, total=4))
    laid = kept(run, further, first.children)

    assert [(u.observed.name, [*u.patch["spec"]["nodes"]]) for u in laid.changes] == [("run-steps-0", ["s1"])]
    unchanged = a_status(steps(4 * MOST)).but(records=4, phase=RunPhase.FAILED)
    assert laid.patient and not kept(run, unchanged, first.children).patient


def a_status(nodes: dict[str, StepStatus]) -> WorkflowRunStatus:
    return WorkflowRunStatus(phase=RunPhase.RUNNING, nodes=nodes)

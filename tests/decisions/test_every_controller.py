"""What every controller must hold, whatever it sees: it settles, survives any crash, and destroys no data.

The worlds are generated; each is looked at until nothing is left to write.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.decisions.generated import AROUND, PRECIOUS, worlds

from paddlecloud.api.meta import Resource
from paddlecloud.controllers.all import CONTROLLERS, EMBEDDED_ONLY
from paddlecloud.controllers.contract import Controller, Decision, identity, plan
from paddlecloud.controllers.remembering import WITHOUT_A_SCHEDULER
from paddlecloud.embedded.workloads.run import WORKLOADS

EVERY = (*CONTROLLERS, *EMBEDDED_ONLY, *WORKLOADS)
# A look sees what the one before it made: the end of a job is told before its pods are cleaned up, and
# every pod of a Job is told, let go and counted one after the other.
ROUNDS = 12
QUICK = settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

each_controller = pytest.mark.parametrize("controller", EVERY, ids=lambda c: c.name)


def test_every_controller_has_its_worlds() -> None:
    assert {c.name for c in EVERY} == set(AROUND)


@each_controller
@QUICK
@given(data=st.data())
def test_it_settles_and_then_writes_nothing_however_long_one_looks(controller: Controller, data: Any) -> None:
    settled = data.draw(worlds(controller)).settled(ROUNDS)

    assert settled.writes() == []
    assert replace(settled, now=settled.now + timedelta(hours=1)).writes() == []


@each_controller
@QUICK
@given(data=st.data())
def test_a_crash_after_any_write_changes_nothing_about_the_end(controller: Controller, data: Any) -> None:
    world = data.draw(worlds(controller))
    expected = world.settled(ROUNDS).state()
    for _ in range(ROUNDS):
        writes = world.writes()
        for write in writes[: data.draw(st.integers(0, len(writes)))]:
            world = write(world)

    assert world.settled(ROUNDS).state() == expected


@each_controller
@QUICK
@given(data=st.data())
def test_what_holds_data_is_never_deleted_for_being_left_out(controller: Controller, data: Any) -> None:
    world = data.draw(worlds(controller))
    settled = world.settled(ROUNDS)

    holding = {key for key, child in world.children.items() if child.holds_data}
    assert {identity(c) for c in PRECIOUS} <= holding
    assert holding <= set(settled.children)


@each_controller
@QUICK
@given(data=st.data())
def test_a_decision_follows_from_its_arguments_alone(controller: Controller, data: Any) -> None:
    world = data.draw(worlds(controller))
    before = world.state()

    assert world.decide() == world.decide()
    assert world.state() == before  # and changes none of them


@pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda c: c.name)
@QUICK
@given(data=st.data())
def test_what_a_cache_leaves_out_decides_nothing(controller: Controller, data: Any) -> None:
    world = data.draw(worlds(controller))
    for _ in range(data.draw(st.integers(0, 3))):
        for write in world.writes():
            world = write(world)
    children = {key: remembered(child) for key, child in world.children.items()}
    less = replace(world, children=children, related=tuple(map(remembered, world.related)))
    there, decided = world.decide(), less.decide()

    assert (decided.status, decided.notes, decided.check_again) == (
        there.status,
        there.notes,
        there.check_again,
    )
    assert doing(less.children.values(), decided) == doing(world.children.values(), there)


def remembered(child: Resource) -> Resource:
    keep = WITHOUT_A_SCHEDULER.get(type(child))
    return keep(child) if keep else child


def doing(children: Iterable[Resource], decision: Decision) -> tuple[Any, ...]:
    todo = plan(children, decision)
    patches = [(identity(u.observed), u.patch) for u in (*todo.update, *decision.changes)]
    return [c.wire() for c in todo.create], patches, [identity(c) for c in todo.delete]

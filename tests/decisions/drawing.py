"""What every generated snapshot is drawn from: pods in any state, fields with a value or without."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st
from tests.decisions.builders import a_pod

from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Resource

Draw = Any
Drawn = tuple[dict[str, Any], list[Resource], list[Resource]]  # an object, its children, its relations
PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
WAITING = st.sampled_from(["ContainerCreating", "ErrImagePull", "CrashLoopBackOff", "PodInitializing"])
STATES = st.one_of(
    st.just({}),
    st.just({"running": {"startedAt": "2024-06-01T11:00:00Z"}}),
    st.builds(lambda reason: {"waiting": {"reason": reason, "message": "m"}}, WAITING),
    st.builds(
        lambda code, message: {"terminated": {"exitCode": code, "message": message}},
        st.sampled_from([0, 1, 137]),
        st.sampled_from(["", "not json", '{"outputs": {"o": "1"}}', "[]"]),
    ),
)


@st.composite
def pod_named(draw: Draw, name: str, labels: dict[str, str] | None = None) -> Pod:
    """A pod of that name in any state."""
    containers = draw(st.lists(st.builds(lambda s: {"name": "main", "state": s}, STATES), max_size=2))
    status = {"containerStatuses": containers} if containers else {}
    if draw(st.booleans()):
        status["conditions"] = [
            {"type": t, "status": draw(st.sampled_from(["True", "False"])), "message": "m"}
            for t in ("PodScheduled", "Ready", "ContainersReady")
        ]
    ip = draw(st.sampled_from(["", "127.64.0.9"]))
    return a_pod(name, draw(st.sampled_from(PHASES)), ip=ip, labels=labels or {}, status=status)


@st.composite
def some_of(draw: Draw, strategies: Iterable[Any]) -> list[Any]:
    return [draw(s) for s in strategies if draw(st.booleans())]


def optional(name: str, values: Iterable[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """The field with one of these values, or without it."""
    return st.one_of(st.just({}), st.sampled_from(list(values)).map(lambda v: {name: v}))


def merged(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda found: {k: v for part in found for k, v in part.items()})

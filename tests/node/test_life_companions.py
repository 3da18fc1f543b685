"""Which tasks there should be beside a container, from how far it is."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node.attempts import Attempt, Notes, State
from paddlecloud.embedded.node.companions import wanted
from paddlecloud.embedded.node.sight import Sight, Stop

PROBED: dict[str, Any] = {
    "startupProbe": {"tcpSocket": {"port": 1}},
    "livenessProbe": {"tcpSocket": {"port": 1}},
    "readinessProbe": {"tcpSocket": {"port": 1}},
}
HOOKED: dict[str, Any] = {"lifecycle": {"postStart": {"sleep": {}}, "preStop": {"sleep": {}}}}
UP = Notes(started=True, hooked=True)


def a_pod(container: dict[str, Any]) -> Pod:
    return Pod.read({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", **container}]}})


@pytest.mark.parametrize(
    "container, notes, stop, roles",
    [
        pytest.param({}, Notes(), None, "end", id="every run is waited for"),
        pytest.param(PROBED, Notes(), None, "end startup", id="the startup probe keeps the others back"),
        pytest.param(PROBED, UP, None, "end liveness readiness", id="and is asked no more when it succeeded"),
        pytest.param(HOOKED | PROBED, Notes(), None, "end postStart", id="the postStart hook comes first"),
        pytest.param(HOOKED | PROBED, Notes(hooked=True), None, "end startup", id="then the startup probe"),
        pytest.param(
            PROBED,
            Notes(started=True, condemned="why"),
            None,
            "end readiness",
            id="the condemned are not judged",
        ),
        pytest.param(
            PROBED, Notes(condemned="why"), None, "end", id="the condemned that never started are left alone"
        ),
        pytest.param(
            HOOKED | PROBED,
            UP,
            Stop(0, 1.0),
            "end preStop readiness",
            id="the preStop hook of a run that is to end",
        ),
        pytest.param(
            HOOKED | PROBED, UP, Stop(0, 1.0, asked=2.0), "end readiness", id="is given up with the signal"
        ),
        pytest.param(
            HOOKED, UP, Stop(7, 1.0), "end", id="the stop of an older run says nothing about this one"
        ),
    ],
)
def test_which_companions_a_run_has(
    container: dict[str, Any], notes: Notes, stop: Stop | None, roles: str
) -> None:
    attempt = Attempt(0, State.RUNNING, pid=7, notes=notes)
    seen = Sight(0.0, {"c": (attempt,)}, stops={"c": stop} if stop else {})
    assert sorted(companion.role for companion in wanted(a_pod(container), seen)) == sorted(roles.split())


@pytest.mark.parametrize("state", [State.PREPARED, State.FINISHED, State.VANISHED])
def test_who_does_not_run_has_none(state: State) -> None:
    assert list(wanted(a_pod(PROBED), Sight(0.0, {"c": (Attempt(0, state),)}))) == []

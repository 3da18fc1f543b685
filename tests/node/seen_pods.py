"""Pods as the decision sees them: a spec, some runs, a clock."""

from __future__ import annotations

from typing import Any

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node.attempts import Attempt, State
from paddlecloud.embedded.node.podstatus import Addresses
from paddlecloud.embedded.node.sight import Sight, Stop

NOW = 1_000_000.0
ADDRESSES = Addresses("127.7.0.1", "127.0.0.1")


def a_pod(
    policy: str = "Always",
    *,
    init: int = 0,
    main: int = 1,
    metadata: dict[str, Any] | None = None,
    **more: Any,
) -> Pod:
    spec = {
        "restartPolicy": policy,
        "nodeName": "one",
        "initContainers": [{"name": f"init{i}", "image": "tried"} for i in range(init)],
        "containers": [{"name": f"main{i}", "image": "tried"} | more for i in range(main)],
    }
    return Pod.read(
        {"metadata": {"name": "p", "namespace": "d", "uid": "u"} | (metadata or {}), "spec": spec}
    )


def running(number: int = 0) -> Attempt:
    return Attempt(number, State.RUNNING, started_at=NOW - 10, pid=7)


def over(code: int, *, number: int = 0, ago: float = 0.0, lasted: float = 5.0, crashes: int = 0) -> Attempt:
    end = NOW - ago
    return Attempt(number, State.FINISHED, crashes, end - lasted, end, code)


def sight(prepared: bool = True, **attempts: Attempt) -> Sight:
    return Sight(NOW, {name: (attempt,) for name, attempt in attempts.items()}, prepared=prepared)


def leaving(seconds_left: float, *stops: tuple[str, Stop], **attempts: Attempt) -> Sight:
    """A pod that is to go, seen at 1000 by the steady clock."""
    seen = {name: (attempt,) for name, attempt in attempts.items()}
    return Sight(NOW, seen, steady=1000.0, leave_by=1000.0 + seconds_left, stops=dict(stops))


def beside(pod: Pod, *numbers: int) -> Pod:
    """The pod with some of its init containers as sidecars."""
    first = [
        {**c, "restartPolicy": "Always"} if place in numbers else c
        for place, c in enumerate(pod.spec["initContainers"])
    ]
    return pod.but(spec={**pod.spec, "initContainers": first})

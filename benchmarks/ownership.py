"""What keeping the owners of fields costs a write, in milliseconds; no server, no store.

python benchmarks/ownership.py
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

from paddlecloud.embedded.server import facts, tracking
from paddlecloud.embedded.server.apply import applied
from paddlecloud.embedded.server.casting import cast
from paddlecloud.embedded.server.outlines import outline_of
from paddlecloud.embedded.server.ownership import Writer

NOW = "2026-01-01T00:00:00Z"
ROUNDS = 2000


def a_pod() -> dict[str, Any]:
    """About two kilobytes, as a trainer has them."""
    containers = [
        {
            "name": name,
            "image": "example/image:1",
            "env": [{"name": f"VARIABLE_{i}", "value": "value"} for i in range(8)],
            "ports": [{"containerPort": 8080, "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        }
        for name in ("main", "side")
    ]
    spec = {"containers": containers, "volumes": [{"name": "data", "emptyDir": {}}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "b"}}, "spec": spec}


def main() -> None:
    [kind] = [k for k in facts.kinds() if k.resource == "/pods"]
    pod, _ = cast(kind, a_pod())
    outline, said = outline_of(kind), tracking.said_in_spec(pod)
    old = copy.deepcopy(pod)
    tracking.put(old, tracking.created(kind, pod, said, "maker", NOW))
    running = {**old, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    writer, ignored = Writer("applier", "v1", "", "Apply"), outline.ignored(kind, "")
    measure("create", lambda: tracking.created(kind, pod, said, "maker", NOW))
    measure("status", lambda: tracking.changed(kind, old, running, running, "node", "status", NOW))
    measure("nothing", lambda: tracking.changed(kind, old, old, old, "node", "", NOW))
    measure("apply", lambda: applied(old, a_pod(), writer, True, outline, ignored, NOW))


def measure(name: str, work: Callable[[], object]) -> None:
    work()
    began = time.perf_counter()
    for _ in range(ROUNDS):
        work()
    print(f"{name:8} {(time.perf_counter() - began) / ROUNDS * 1000:.3f} ms")


if __name__ == "__main__":
    main()

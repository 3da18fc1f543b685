"""What the controllers count: looks, how long they took, writes and errors, in Prometheus' form.

A registry of their own: a second runtime in one process, or a test, starts from zero.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

BOUNDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._looks = Counter(
            "paddlecloud_looks", "Looks at objects.", ["controller", "result"], registry=self.registry
        )
        self._seconds = Histogram(
            "paddlecloud_look_seconds",
            "Time a look took, writes included.",
            ["controller"],
            buckets=BOUNDS,
            registry=self.registry,
        )
        self._waiting = Gauge(
            "paddlecloud_queue_length",
            "Objects that will be looked at.",
            ["controller"],
            registry=self.registry,
        )

    def looked(self, controller: str, seconds: float, *, failed: bool) -> None:
        self._looks.labels(controller, "error" if failed else "ok").inc()
        self._seconds.labels(controller).observe(seconds)

    def waiting(self, controller: str, count: int) -> None:
        self._waiting.labels(controller).set(count)

    def text(self) -> bytes:
        return generate_latest(self.registry)

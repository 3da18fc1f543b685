"""Counts and times of requests, in the text form Prometheus reads.

Only ever counted up, and only from the event loop: a scrape sees whole numbers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import accumulate

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Metrics:
    """The requests one model has answered."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.answers: Counter[int] = Counter()
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def count(self, status: int, seconds: float) -> None:
        self.answers[status] += 1
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def text(self) -> str:
        model = f'model="{escaped(self.model)}"'
        name = "paddlecloud_request_seconds"
        below = accumulate(self.buckets)
        lines = [
            "# HELP paddlecloud_requests_total Predictions answered, by HTTP status.",
            "# TYPE paddlecloud_requests_total counter",
            *(
                f'paddlecloud_requests_total{{{model},code="{c}"}} {n}'
                for c, n in sorted(self.answers.items())
            ),
            f"# HELP {name} Time from a request's last byte to its answer.",
            f"# TYPE {name} histogram",
            *(
                f'{name}_bucket{{{model},le="{b}"}} {n}'
                for b, n in zip((*BOUNDS, "+Inf"), below, strict=True)
            ),
            f"{name}_sum{{{model}}} {self.seconds:.6f}",
            f"{name}_count{{{model}}} {sum(self.buckets)}",
        ]
        return "\n".join(lines) + "\n"


def escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

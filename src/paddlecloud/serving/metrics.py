"""Counts and times of requests and batches, in the text form Prometheus reads.

Only ever counted up, and only from the event loop: a scrape sees whole numbers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
CLIENT_GONE = 499
"""The status under which a request is counted whose client did not wait for the answer."""
ROWS = (1, 2, 4, 8, 16, 32, 64)


class Histogram:
    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.buckets = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        self.buckets[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def lines(self, name: str, labels: str) -> list[str]:
        below = accumulate(self.buckets)
        marks = zip((*self.bounds, "+Inf"), below, strict=True)
        return [
            *(f'{name}_bucket{{{labels},le="{bound}"}} {count}' for bound, count in marks),
            f"{name}_sum{{{labels}}} {self.sum:.6f}",
            f"{name}_count{{{labels}}} {sum(self.buckets)}",
        ]


class Metrics:
    """The requests one model has answered."""

    def __init__(self, model: str) -> None:
        self.labels = f'model="{escaped(model)}"'
        self.answers: Counter[tuple[str, int]] = Counter()
        self.seconds = Histogram(SECONDS)
        self.batches = Histogram(ROWS)

    def count(self, protocol: str, status: int, seconds: float) -> None:
        self.answers[protocol, status] += 1
        self.seconds.add(seconds)

    def batch(self, rows: int) -> None:
        self.batches.add(rows)


def text(measured: Iterable[tuple[Metrics, int]]) -> str:
    """The metrics of all models, each with the length of its queue."""
    models = list(measured)
    seconds, batches = "paddlecloud_request_seconds", "paddlecloud_batch_rows"
    lines = [
        "# HELP paddlecloud_requests_total Predictions answered, by HTTP status and protocol.",
        "# TYPE paddlecloud_requests_total counter",
    ]
    for metrics, _ in models:
        lines += [
            f'paddlecloud_requests_total{{{metrics.labels},code="{code}",protocol="{protocol}"}} {count}'
            for (protocol, code), count in sorted(metrics.answers.items())
        ]
    lines += [
        f"# HELP {seconds} Time from a request's last byte to its answer.",
        f"# TYPE {seconds} histogram",
    ]
    for metrics, _ in models:
        lines += metrics.seconds.lines(seconds, metrics.labels)
    lines += [
        f"# HELP {batches} Samples that were computed together.",
        f"# TYPE {batches} histogram",
    ]
    for metrics, _ in models:
        lines += metrics.batches.lines(batches, metrics.labels)
    lines += [
        "# HELP paddlecloud_queue_length Requests that wait for the engine.",
        "# TYPE paddlecloud_queue_length gauge",
        *(f"paddlecloud_queue_length{{{metrics.labels}}} {length}" for metrics, length in models),
    ]
    return "\n".join(lines) + "\n"


def escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

"""Many questions to a service: so many at a time, each as soon as the one before was answered.

What is measured is what a client sees, the way through the gateway included.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import urllib3

PATIENCE = 60.0


@dataclass
class Report:
    seconds: float
    times: list[float] = field(default_factory=list)
    """Of the answers with status 200, in seconds."""
    failures: Counter[str] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds if self.seconds else 0.0

    def within(self, share: float) -> float:
        """The seconds in which that share of the answers came."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


@dataclass(frozen=True)
class Question:
    url: str
    headers: dict[str, str]
    body: bytes


def load(
    question: Question, clients: int, seconds: float, tell: Callable[[int], None] = lambda _: None
) -> Report:
    """Ask for *seconds*; *tell* hears now and then how many answers there are. The first does not count."""
    with urllib3.PoolManager(maxsize=clients, block=True) as pool:
        ask(pool, question)  # a service at rest wakes up
        report, began = Report(seconds), time.perf_counter()
        end = began + seconds
        threads = [
            threading.Thread(target=client, args=(pool, question, report, end)) for _ in range(clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.5)
                tell(len(report.times))
    report.seconds = time.perf_counter() - began
    return report


def client(pool: urllib3.PoolManager, question: Question, report: Report, end: float) -> None:
    while (began := time.perf_counter()) < end:
        failure = ask(pool, question)
        if failure:
            report.failures[failure] += 1
        else:
            report.times.append(time.perf_counter() - began)


def ask(pool: urllib3.PoolManager, question: Question) -> str:
    """Empty for an answer, else what went wrong."""
    try:
        said = pool.request(
            "POST",
            question.url,
            body=question.body,
            headers=question.headers,
            retries=False,
            timeout=PATIENCE,
        )
    except (urllib3.exceptions.HTTPError, OSError) as error:
        return type(error).__name__
    return "" if said.status == 200 else f"{said.status} {said.data[:80].decode(errors='replace')}"

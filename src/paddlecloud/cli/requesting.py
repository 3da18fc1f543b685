"""Asking a served model: real requests through the gateway, and how often it is right."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlsplit

import urllib3

from ..api.paddleservice import PaddleService
from ..errors import Failed
from .courses import Question

AT_ONCE = 4


@dataclass(frozen=True)
class Score:
    requests: int
    right: int
    median: float
    """Milliseconds."""

    @property
    def accuracy(self) -> float:
        return self.right / self.requests


def ask_gateway(
    gateway: str, service: PaddleService, questions: Iterable[Question], answer: Callable[[list[float]], int]
) -> Score:
    """One request a question, in Paddle Serving's form; *answer* says what the scores of one mean."""
    host = urlsplit(service.status.url).hostname or ""
    pool = urllib3.PoolManager(maxsize=AT_ONCE)

    def ask(question: Question) -> tuple[bool, float]:
        fed, label = question
        body = {"feed": [fed], "fetch": []}
        began = time.perf_counter()
        said = pool.request(
            "POST",
            f"{gateway}/{service.name}/prediction",
            body=json.dumps(body),
            headers={"Host": host, "Content-Type": "application/json"},
            retries=False,
        )
        took = (time.perf_counter() - began) * 1000
        if said.status != 200:
            raise Failed(f"the service answered {said.status}: {said.data[:300].decode(errors='replace')}")
        [scores] = next(iter(said.json()["result"].values()))
        return answer(scores) == label, took

    with ThreadPoolExecutor(AT_ONCE) as threads:
        answers = list(threads.map(ask, questions))
    return Score(len(answers), sum(r for r, _ in answers), statistics.median(t for _, t in answers))

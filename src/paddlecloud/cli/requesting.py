"""Asking a served model: real requests through the gateway, and how often it is right."""

from __future__ import annotations

import json
import statistics
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import urllib3

from ..api.paddleservice import PaddleService
from ..errors import Failed

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


def ask_gateway(gateway: str, service: PaddleService, source: Path) -> Score:
    """One request an image of the test split, in Paddle Serving's form."""
    host = urlsplit(service.status.url).hostname or ""
    pool = urllib3.PoolManager(maxsize=AT_ONCE)

    def ask(sample: tuple[Path, int]) -> tuple[bool, float]:
        path, label = sample
        body = {"feed": [{"image": [pixels(path)]}], "fetch": []}
        began = time.perf_counter()
        answer = pool.request(
            "POST",
            f"{gateway}/{service.name}/prediction",
            body=json.dumps(body),
            headers={"Host": host, "Content-Type": "application/json"},
            retries=False,
        )
        took = (time.perf_counter() - began) * 1000
        if answer.status != 200:
            raise Failed(
                f"the service answered {answer.status}: {answer.data[:300].decode(errors='replace')}"
            )
        [scores] = next(iter(answer.json()["result"].values()))
        return scores.index(max(scores)) == label, took

    with ThreadPoolExecutor(AT_ONCE) as threads:
        answers = list(threads.map(ask, samples(source)))
    return Score(len(answers), sum(r for r, _ in answers), statistics.median(t for _, t in answers))


def samples(source: Path) -> Iterator[tuple[Path, int]]:
    for line in (source / "test_list.txt").read_text().splitlines():
        path, _, label = line.rpartition(" ")
        yield source / path, int(label)


def pixels(path: Path) -> list[list[int]]:
    """The rows of an 8-bit gray PNG without filters, which is what the generated data is made of."""
    content = path.read_bytes()
    width, height = (int.from_bytes(content[i : i + 4], "big") for i in (16, 20))
    data, position = b"", 8
    while position < len(content):
        size = int.from_bytes(content[position : position + 4], "big")
        if content[position + 4 : position + 8] == b"IDAT":
            data += content[position + 8 : position + 8 + size]
        position += size + 12
    rows = zlib.decompress(data)
    return [list(rows[y * (width + 1) + 1 : (y + 1) * (width + 1)]) for y in range(height)]

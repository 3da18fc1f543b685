"""The watchers of both servers in turns: what else the machine does in a minute disturbs both alike.

    .venv/bin/python -m benchmarks.turns [--rounds 5] [--events 300]

Both are up all the time; each round asks one after the other, and the next round the other way round. Prints
the median of each number over the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import uvloop

from benchmarks.api import at, watches
from benchmarks.peers import Peer, kubernetes, ours
from benchmarks.wire import load

WRITERS = {1: 1, 16: 4}  # connections that write, and how many times as many events they make
Seen = tuple[float, float, float, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--events", type=int, default=300)
    options = parser.parse_args()
    seen: dict[tuple[int, str], list[Seen]] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        peers = [
            stack.enter_context(start(Path(folder) / name))
            for name, start in (("ours", ours), ("kubernetes", kubernetes))
        ]
        for number in range(options.rounds):
            for writers, times in WRITERS.items():
                for peer in peers if number % 2 else peers[::-1]:
                    found = uvloop.run(turn(peer, writers, options.events * times))
                    seen.setdefault((writers, peer.name), []).append(found)
                    print(f"{peer.name}, {writers} writing: {shown(found)}", flush=True)
    for writers in WRITERS:
        mine, theirs = (medians(seen[writers, peer.name]) for peer in peers)
        print(f"{writers} writing: {shown(mine)} against {shown(theirs)}: {mine[0] / theirs[0]:.2f}")


async def turn(peer: Peer, writers: int, events: int) -> Seen:
    """Changes heard a second, p50 and p99 in ms, CPU µs of the server for each."""
    watched, cost = await watches(peer, writers, events)

    def deletions() -> Iterator[bytes]:
        for i in range(events):
            yield peer.target.request("DELETE", at("configmaps", f"fan-{writers}-{i}"))

    await load(peer.target, deletions(), 4, lambda status: status == 200)
    return watched.rate, watched.percentile(0.5), watched.percentile(0.99), cost * 1000


def medians(found: list[Seen]) -> Seen:
    rate, p50, p99, cost = (statistics.median(column) for column in zip(*found, strict=True))
    return rate, p50, p99, cost


def shown(found: Seen) -> str:
    rate, p50, p99, cost = found
    return f"{rate:,.0f}/s ({p50:.1f}/{p99:.1f} ms; {cost:.1f} µs)"


if __name__ == "__main__":
    main()

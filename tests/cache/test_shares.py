"""Shares of partitions, against the sampler of Paddle itself."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cache.juicefs_stage import client_or_skip, mounted
from tests.cache.runs import Quiet
from tests.suites.environments import python, variables

from paddlecloud.cache.deeds import Deeds
from paddlecloud.cache.engine import SyncWish
from paddlecloud.cache.juicefs import filesystem
from paddlecloud.cache.juicefs.engine import JuicefsEngine
from paddlecloud.cache.local.engine import LocalEngine
from paddlecloud.cache.shares import Strategy, share, shuffle

CASES = [
    (files, ranks, batch, epoch, shuffled)
    for files, ranks, batch in (
        (1, 1, 1),
        (10, 2, 1),
        (10, 3, 2),
        (7, 4, 3),
        (2, 5, 2),
        (100, 3, 8),
        (1000, 4, 16),
    )
    for epoch, shuffled in ((0, False), (0, True), (1, True), (17, True))
]
FILES, RANKS, BATCH, EPOCHS = 80, 2, 4, (3, 4, 5)
PROGRAM = """
import json, sys
from paddle.io import DistributedBatchSampler
answers = []
for files, ranks, batch, epoch, shuffled in json.load(sys.stdin):
    samplers = [DistributedBatchSampler(range(files), batch, ranks, rank, shuffled) for rank in range(ranks)]
    for sampler in samplers:
        sampler.set_epoch(epoch)
    answers.append([[i for one in sampler for i in one] for sampler in samplers])
print(json.dumps(answers))
"""


READS = [(FILES, RANKS, BATCH, epoch, True) for epoch in EPOCHS]


@pytest.fixture(scope="module")
def told() -> list[list[list[int]]]:
    """What Paddle's sampler gives to each rank in each case."""
    done = subprocess.run(
        [python("paddle"), "-c", PROGRAM],
        env=variables("paddle"),
        input=json.dumps(CASES + READS),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answers: list[list[list[int]]] = json.loads(done.stdout)
    return answers


def test_each_partition_gets_what_paddles_sampler_gives_to_its_rank(told: list[list[list[int]]]) -> None:
    for (files, ranks, batch, epoch, shuffled), expected in zip(CASES, told, strict=False):
        names = [str(number) for number in range(files)]
        strategy: Strategy = "random" if shuffled else "sequence"
        found = [[int(f) for f in share(names, r, ranks, strategy, batch, epoch)] for r in range(ranks)]
        assert found == expected, (files, ranks, batch, epoch, shuffled)


def test_what_paddle_reads_in_the_warmed_epoch_is_near_and_in_another_half_of_it(
    told: list[list[list[int]]], tmp_path: Path
) -> None:
    """Two nodes that hold copies, of which all were dropped and the share of one epoch came back."""
    names = a_source(tmp_path / "source")
    nodes = []
    for rank in range(RANKS):
        engine = LocalEngine(tmp_path / str(rank) / "data", tmp_path / str(rank) / "index")
        engine.sync(SyncWish((tmp_path / "source").as_uri()), Quiet())
        engine.clear([], Quiet())
        nodes.append(Deeds(engine, engine.data, engine.files, lambda _: None, rank))

    def near(node: Deeds, reads: list[int]) -> float:
        return sum((node.data / names[number]).exists() for number in reads) / len(reads)

    warm_one_after_the_other(told, nodes, near)


def test_the_client_finds_in_its_cache_what_paddle_reads_in_the_warmed_epoch(
    told: list[list[list[int]]], tmp_path: Path
) -> None:
    """Two nodes that mount one file system with a cache each; hits and misses are those the client counts."""
    client = client_or_skip()
    names = a_source(tmp_path / "source")
    with mounted(client, tmp_path / "one") as first:
        system = filesystem.in_folder("tried", tmp_path / "one" / "store")
        at, cache = tmp_path / "two" / "at", tmp_path / "two" / "cache"
        options = (f"--cache-dir={cache}", "--metrics=127.0.0.1:0", "--free-space-ratio=0.01")
        filesystem.mount(client, system, at, tmp_path / "log", options)
        try:
            first.sync(SyncWish((tmp_path / "source").as_uri()), Quiet())
            engines = [first, JuicefsEngine(client, at, tmp_path / "two" / "state", [cache])]
            nodes = [
                Deeds(e, e.data, lambda: names, lambda _: None, rank, whole=False)
                for rank, e in enumerate(engines)
            ]
            for engine in engines:
                engine.clear([], Quiet())

            def near(node: Deeds, reads: list[int]) -> float:
                hits, misses = counted(node.data)
                for number in reads:
                    with (node.data / names[number]).open("rb", buffering=0) as file:
                        # What the kernel still has would never be asked of the client.
                        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                        file.read()
                now = counted(node.data)
                return (now[0] - hits) / (now[0] - hits + now[1] - misses)

            warm_one_after_the_other(told, nodes, near)
        finally:
            filesystem.unmount(client, at)


def warm_one_after_the_other(
    told: list[list[list[int]]], nodes: list[Deeds], near: Callable[[Deeds, list[int]], float]
) -> None:
    warmed, another, ahead = told[len(CASES) :]
    options = {"strategyName": "random", "batchSize": BATCH, "partitions": RANKS, "shareOnly": True}
    for rank, node in enumerate(nodes):
        node.carried_out("warmup", {**options, "epoch": EPOCHS[0]}, Quiet())
        assert near(node, warmed[rank]) >= 0.99
        assert near(node, another[rank]) == pytest.approx(1 / RANKS, abs=0.2)
        node.carried_out("warmup", {**options, "epoch": EPOCHS[2]}, Quiet())
        assert near(node, ahead[rank]) >= 0.99


def a_source(folder: Path) -> list[str]:
    names = [f"{number // 20}/{number:03}.bin" for number in range(FILES)]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode() * 100)
    return names


def counted(data: Path) -> tuple[int, int]:
    """What was found in the cache of a mount, and what was not."""
    lines = (data / ".stats").read_text().splitlines()
    said = dict(line.split(" ", 1) for line in lines if line.startswith("juicefs_blockcache_"))
    return int(float(said["juicefs_blockcache_hits"])), int(float(said["juicefs_blockcache_miss"]))


def test_the_shuffle_is_the_one_of_numpy() -> None:
    order = list(range(10))
    shuffle(order, 0)
    assert order == [2, 8, 4, 9, 1, 6, 7, 3, 0, 5]


@pytest.mark.parametrize("strategy", ["random", "sequence"])
def test_no_files_are_no_share_and_together_the_shares_are_everything(strategy: Strategy) -> None:
    assert share([], 0, 3, strategy) == []
    names = [f"{number}.png" for number in range(50)]
    assert {f for r in range(3) for f in share(names, r, 3, strategy, 4, 5)} == {*names}

"""A PaddleJob of all three roles with Paddle itself: servers, workers, heterogeneous workers behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pytest
from tests.scenarios.pdc_home import PdcHome, fresh_home

from paddlecloud.api.meta import Key
from paddlecloud.api.paddlejob import PaddleJob, Phase
from paddlecloud.sdk.waiting import wait_for

pytestmark = pytest.mark.long

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "heter" / "wide_and_deep_heter.yaml"
JOB = "wide-and-deep-heter"
LIMIT = 240.0


@pytest.fixture(scope="module")
def ended() -> Iterator[tuple[PdcHome, PaddleJob]]:
    with fresh_home() as home:
        home.ok("up", "-d")
        home.ok("apply", "-f", str(EXAMPLE))
        with home.client() as client:
            key = Key("default", JOB)
            yield home, wait_for(client, PaddleJob, key, lambda job: job.status.phase.final, LIMIT)


def test_it_completes_when_its_workers_have(ended: tuple[PdcHome, PaddleJob]) -> None:
    home, job = ended

    assert job.status.phase is Phase.COMPLETED, home.ok("logs", f"job/{JOB}")[-3000:]
    assert job.status.attempt == 0


def test_both_stages_learn(ended: tuple[PdcHome, PaddleJob]) -> None:
    """The second stage tells the loss; it falls only if rows and weights reach the servers and come back."""
    home, _ = ended
    said = home.ok("logs", f"job/{JOB}")

    losses = [float(loss) for loss in re.findall(r"^\[heter-0\] .*loss\[1\]:\[([\d.]+)", said, re.M)]
    assert len(losses) >= 12, said[-3000:]
    third = len(losses) // 3
    assert mean(losses[-third:]) < 0.8 * mean(losses[:third]), losses
    assert set(re.findall(r"^\[worker-(\d)\] epoch 3/3", said, re.M)) == {"0", "1"}, said[-3000:]

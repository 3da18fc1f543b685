"""A job that prints nothing of its progress and writes it down with VisualDL, on clusters of each kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.pdc_home import PdcHome, fresh_home, variables
from tests.visualdl.environment import IMAGE

SCRIPT = """
from visualdl import LogWriter

with LogWriter("runs/fit") as writer:
    for step in range(1, 41):
        writer.add_scalar("train/loss", 1 / step, step)
        writer.add_scalar("Train/epoch", 1 + step // 21, step)
    writer.add_scalar("eval/acc", 0.875, 2)
print("done")
"""


@pytest.fixture(params=["auto", "plain"])
def home(request: pytest.FixtureRequest) -> Iterator[PdcHome]:
    settings = {"ISOLATION": request.param, "REGISTRIES": "local"}
    environ = {**variables(), **{f"PADDLECLOUD_{name}": value for name, value in settings.items()}}
    with fresh_home(environ=environ) as made:
        made.ok("up", "--detach")
        yield made


def test_records_are_the_progress_of_a_job_that_prints_none(home: PdcHome, tmp_path: Path) -> None:
    script = tmp_path / "fit.py"
    script.write_text(SCRIPT)
    home.ok("train", str(script), "--name", "recorded", "--image", IMAGE, "--workers", "2", "--follow")

    progress = json.loads(home.ok("get", "job/recorded", "-o", "json"))["status"]["progress"]
    assert progress["metrics"] == {"loss": 0.025, "epoch": 2, "acc": 0.875}
    assert (progress["done"], progress["total"], progress["unit"]) == (40, 0, "steps")
    described = home.ok("describe", "job/recorded")
    assert "Progress:     from VisualDL  40 steps  loss 0.0250  acc 0.8750" in described

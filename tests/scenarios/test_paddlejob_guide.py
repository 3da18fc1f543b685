"""The guide to PaddleJob: its files are written down and its commands typed, in the order of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.scenarios.guidepages import DOCS, play
from tests.scenarios.pdc_home import PdcHome


@pytest.mark.long
def test_every_command_of_the_guide_does_what_it_says(cluster: PdcHome, tmp_path: Path) -> None:
    said = play(DOCS / "paddlejob.md", cluster, tmp_path)

    assert "100%  epoch 1 of 1  50/50 steps  loss 0.0" in said and "job fit is Completed" in said
    assert re.search(r"hello +Completed +PS +\S+ +0/2", said)
    assert "[ps-0] serving at" in said and "[worker-1] PADDLE_TRAINER_ID=1" in said
    assert re.search(r"\[worker-0\] PADDLE_PSERVERS_IP_PORT_LIST=[\d.]+:2\d{4}", said)
    assert said.count("[worker-0] step 1/1 loss 0.5") == 4 and "job hello is gone" in said
    assert "[worker-0] 0 of 2" in said and "[worker-1] 1 of 2" in said
    assert re.search(r"^Completed 0\.0\d+$", said, re.MULTILINE)
    assert "['[worker-0] step 1/1 loss 0.5', '[worker-1] step 1/1 loss 0.5']" in said

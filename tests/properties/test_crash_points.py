"""A controller that is killed after any of its writes ends up where it would have come to anyhow."""

from __future__ import annotations

import pytest
import uvloop
from tests.properties.disturbed import crashes, faults_of
from tests.properties.plays import Scenario
from tests.properties.scenarios import SCENARIOS

from paddlecloud.cluster.kubeconfig import Access


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_a_crash_after_any_write_changes_nothing_in_the_end(access: Access, scenario: Scenario) -> None:
    assert uvloop.run(faults_of(access, scenario, crashes)) == []

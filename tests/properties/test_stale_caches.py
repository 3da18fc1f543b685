"""A controller whose watches lag or lose events makes nothing twice and deletes nothing wrongly."""

from __future__ import annotations

import pytest
import uvloop
from tests.properties.disturbed import faults_of, stale_caches
from tests.properties.plays import Scenario
from tests.properties.scenarios import SCENARIOS

from paddlecloud.cluster.kubeconfig import Access


@pytest.mark.long
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_what_a_watch_holds_back_or_loses_changes_nothing(access: Access, scenario: Scenario) -> None:
    assert uvloop.run(faults_of(access, scenario, stale_caches)) == []

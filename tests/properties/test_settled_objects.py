"""What has settled costs no write, whether its controller starts again or something stirs beside it."""

from __future__ import annotations

import pytest
from tests.properties.plays import Scenario, stage
from tests.properties.scenarios import SCENARIOS

from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_settled_objects_cost_no_write(access: Access, scenario: Scenario) -> None:
    async with Client(access) as client, stage(client, scenario) as s:
        for act in scenario.acts:
            await act(s)
            await s.settled()
        before = list(s.witness.writes)

        s.witness.crashed.set()
        await s.settled()
        assert s.witness.writes[len(before) :] == [], "after a start of the controller"

        await s.stir()
        await s.settled()
        assert s.witness.writes[len(before) :] == [], "after changes that mean nothing"

"""Recurring runs through the service: what is refused, and what one generation made the other sees."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from tests.pipelines.calling import call, everything
from tests.pipelines.playing import PACKAGES
from tests.properties.plays import new_namespace

from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.errors import BadRequest, NotFound
from paddlecloud.pipelines.service.shelf import Shelf

SPEC = yaml.safe_load((PACKAGES / "second-chain.yaml").read_text())
CRON = {"cron_schedule": {"cron": "0 0 3 * * *"}}


def nightly(**more: Any) -> dict[str, Any]:
    return {"display_name": "nightly", "mode": "ENABLE", "pipeline_spec": SPEC, "trigger": CRON} | more


async def test_what_one_generation_made_the_other_sees_enables_and_deletes(access: Access) -> None:
    async with Client(access) as client:
        shelf = Shelf(client, await new_namespace(client))
        made = await call(shelf, "POST", "v2beta1/recurringruns", nightly(max_concurrency="2"))
        id = made["recurring_run_id"]
        await call(shelf, "POST", f"v1beta1/jobs/{id}/disable")
        seen = await call(shelf, "GET", f"v1beta1/jobs/{id}")
        await call(shelf, "POST", f"v2beta1/recurringruns/{id}:enable")
        again = await call(shelf, "GET", f"v2beta1/recurringruns/{id}")
        await call(shelf, "DELETE", f"v1beta1/jobs/{id}")

        assert (seen["enabled"], seen["trigger"], seen["max_concurrency"]) == (False, CRON, "2")
        assert (again["status"], again["mode"], again["pipeline_spec"]) == ("ENABLED", "ENABLE", SPEC)
        assert (await call(shelf, "GET", "v2beta1/recurringruns"))["recurringRuns"] == []
        with pytest.raises(NotFound, match="there is no recurring run"):
            await call(shelf, "GET", f"v2beta1/recurringruns/{id}")


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"display_name": ""}, "needs a name"),
        ({"trigger": None}, "either cron or an interval"),
        ({"trigger": {"cron_schedule": {"cron": "0 3 * * *"}}}, "the second first, found 5"),
        ({"trigger": {"periodic_schedule": {"interval_second": "soon"}}}, "no whole number"),
        ({"trigger": {"periodic_schedule": {"interval_second": -5}}}, "at least 0"),
        ({"trigger": {"cron_schedule": {"cron": "@daily", "start_time": "tomorrow"}}}, "is no time such as"),
        ({"max_concurrency": 11}, "from 1 to 10"),
        ({"runtime_config": {"parameters": {"nobody": 1}}}, "has no parameter 'nobody'"),
    ],
)
async def test_what_could_never_run_is_refused_and_nothing_is_kept(
    access: Access, changes: dict[str, Any], sentence: str
) -> None:
    async with Client(access) as client:
        shelf = Shelf(client, await new_namespace(client))
        with pytest.raises(BadRequest, match=sentence):
            await call(shelf, "POST", "v2beta1/recurringruns", nightly(**changes))

        assert await everything(shelf) == []

"""Who leads: the rule as a table, and two candidates on a real API."""

import asyncio
import time
from datetime import UTC, datetime

import pytest

from paddlecloud.api.lease import Lease, LeaseSpec
from paddlecloud.api.meta import Key, Metadata
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.controllers.leadership import Candidate, Move, decide, held, lead
from paddlecloud.errors import Failed

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def a_lease(holder: str, seconds: int = 15) -> Lease:
    spec = LeaseSpec(holder_identity=holder, lease_duration_seconds=seconds, lease_transitions=3)
    return Lease(metadata=Metadata(name="leader"), spec=spec)


@pytest.mark.parametrize(
    "lease, unchanged_for, move",
    [
        (None, 0.0, Move.TAKE),
        (a_lease(""), 0.0, Move.TAKE),
        (a_lease("me"), 0.0, Move.RENEW),
        (a_lease("me"), 99.0, Move.RENEW),
        (a_lease("other"), 0.0, Move.WAIT),
        (a_lease("other"), 14.9, Move.WAIT),
        (a_lease("other"), 15.0, Move.TAKE),
    ],
)
def test_a_lease_is_taken_only_when_nobody_holds_it(lease: Lease, unchanged_for: float, move: Move) -> None:
    assert decide(lease, "me", unchanged_for) is move


@pytest.mark.parametrize(
    "lease, transitions", [(None, 0), (a_lease("me"), 3), (a_lease("other"), 4), (a_lease(""), 4)]
)
def test_every_change_of_hands_is_counted(lease: Lease | None, transitions: int) -> None:
    assert held(lease, "me", NOON).lease_transitions == transitions


async def test_the_second_candidate_leads_when_the_first_lets_go(access: Access, namespace: str) -> None:
    order: list[str] = []
    looks = 0

    def counting() -> float:
        nonlocal looks
        looks += 1
        return time.monotonic()

    async def first_work() -> None:
        order.append("first")
        while looks < 10:  # the other one has looked several times
            await asyncio.sleep(0.01)
        assert order == ["first"], "two led at the same time"

    async def second_work() -> None:
        order.append("second")

    async with Client(access) as client:
        key = Key(namespace, "leader")
        first = asyncio.create_task(lead(Candidate(client, key, "a", pause=0.05), first_work))
        while not order:
            await asyncio.sleep(0.01)
        other = Candidate(client, key, "b", clock=counting, pause=0.05)
        second = asyncio.create_task(lead(other, second_work))
        async with asyncio.timeout(30):
            await asyncio.gather(first, second)
    assert order == ["first", "second"]


async def test_a_leader_whose_lease_was_taken_stops_working(access: Access, namespace: str) -> None:
    stopped = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with Client(access) as client:
        key = Key(namespace, "leader")
        leading = asyncio.create_task(lead(Candidate(client, key, "a", renew_every=0.05), work))
        while await client.find(Lease, *key) is None:
            await asyncio.sleep(0.01)
        await client.patch(Lease, key, {"spec": {"holderIdentity": "b"}})
        with pytest.raises(Failed, match="taken over"):
            async with asyncio.timeout(30):
                await leading
    assert stopped.is_set()

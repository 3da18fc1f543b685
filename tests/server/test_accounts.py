"""How long a token of a service account is believed, and what it can be tied to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from paddlecloud.embedded.certificates import ensure
from paddlecloud.embedded.server.accounts import Accounts
from paddlecloud.embedded.server.tokenkeys import TokenKey
from paddlecloud.embedded.store import Place, Store
from paddlecloud.errors import ApiError, BadRequest, Unauthorized

ACCOUNT: dict[str, Any] = {"metadata": {"name": "robot", "namespace": "ml", "uid": "u1"}}
POD = Place("/pods", "ml", "step")


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = Store(tmp_path / "store.db")
    await made.put(Place("/serviceaccounts", "ml", "robot"), {"metadata": dict(ACCOUNT["metadata"])}, 0)
    pod = {
        "metadata": {"name": "step", "uid": "p1"},
        "spec": {"serviceAccountName": "robot", "nodeName": "n"},
    }
    await made.put(POD, pod, 0)
    await made.put(Place("/nodes", "", "n"), {"metadata": {"name": "n", "uid": "n1"}}, 0)
    await made.put(Place("/secrets", "ml", "key"), {"metadata": {"name": "key", "uid": "s1"}}, 0)
    yield made
    await made.close()


@pytest.fixture
def accounts(store: Store, clock: Clock, tmp_path: Path) -> Accounts:
    (tmp_path / "pki").mkdir()
    ensure(tmp_path / "pki")
    return Accounts(TokenKey(tmp_path / "pki" / "tokens.key"), store, clock)


def token(accounts: Accounts, **spec: Any) -> str:
    return str(accounts.issue(ACCOUNT, {"spec": spec})["status"]["token"])


def to(kind: str, name: str) -> dict[str, str]:
    return {"apiVersion": "v1", "kind": kind, "name": name}


async def remove(store: Store, place: Place) -> None:
    entry = store.get(place)
    assert entry is not None
    await store.delete(place, entry.load(), entry.revision)


async def test_a_token_that_was_good_expires(accounts: Accounts, clock: Clock) -> None:
    text = token(accounts, expirationSeconds=600)
    clock.now += 599
    assert accounts.user_of(text)[0].name == "system:serviceaccount:ml:robot"
    clock.now += 1
    with pytest.raises(Unauthorized):
        accounts.user_of(text)


@pytest.mark.parametrize("back, good", [(30, True), (120, False)])
async def test_a_token_from_the_future_is_refused_but_for_clocks_that_differ(
    accounts: Accounts, clock: Clock, back: int, good: bool
) -> None:
    text = token(accounts)
    clock.now -= back
    if good:
        accounts.user_of(text)
    else:
        with pytest.raises(Unauthorized):
            accounts.user_of(text)


@pytest.mark.parametrize(
    "kind, place",
    [("Pod", POD), ("Secret", Place("/secrets", "ml", "key")), ("Node", Place("/nodes", "", "n"))],
)
async def test_a_bound_token_dies_at_once(accounts: Accounts, store: Store, kind: str, place: Place) -> None:
    text = token(accounts, boundObjectRef=to(kind, place.name))
    accounts.user_of(text)
    await remove(store, place)
    with pytest.raises(Unauthorized, match="invalidated"):
        accounts.user_of(text)


async def test_a_token_of_a_pod_outlives_changes_of_the_pod_and_its_node(
    accounts: Accounts, store: Store
) -> None:
    text = token(accounts, boundObjectRef=to("Pod", "step"))
    entry = store.get(POD)
    assert entry is not None
    await store.put(POD, entry.load() | {"status": {"phase": "Running"}}, entry.revision)
    await remove(store, Place("/nodes", "", "n"))
    extra = dict(accounts.user_of(text)[0].extra)
    assert extra["authentication.kubernetes.io/node-name"] == ("n",)
    assert extra["authentication.kubernetes.io/pod-uid"] == ("p1",)


async def test_a_token_is_not_bound_to_a_pod_of_another_account(accounts: Accounts, store: Store) -> None:
    other = {"metadata": {"name": "other", "uid": "p2"}, "spec": {"serviceAccountName": "somebody"}}
    await store.put(Place("/pods", "ml", "other"), other, 0)
    with pytest.raises(BadRequest, match="different serviceaccount"):
        token(accounts, boundObjectRef=to("Pod", "other"))


@pytest.mark.parametrize("seconds", ["600", 599, True, 1.5, -1, 2**32 + 1])
async def test_a_time_that_cannot_be_is_refused(accounts: Accounts, seconds: Any) -> None:
    with pytest.raises(ApiError) as refused:
        token(accounts, expirationSeconds=seconds)
    assert refused.value.status in (400, 422)


async def test_the_signature_is_checked_once_and_the_rest_every_time(
    accounts: Accounts, store: Store
) -> None:
    text = token(accounts)
    first, _ = accounts.user_of(text)
    assert accounts.user_of(text)[0] is first
    await remove(store, Place("/serviceaccounts", "ml", "robot"))
    with pytest.raises(Unauthorized):
        accounts.user_of(text)

"""Whose token it is: ours, a service account's, or nobody's."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.embedded.stores import at, opened

from paddlecloud.embedded.identity import establish
from paddlecloud.embedded.server.access import Access
from paddlecloud.embedded.server.accounts import ISSUER, LONGEST
from paddlecloud.embedded.store import Store
from paddlecloud.errors import Unauthorized
from paddlecloud.settings import Home

ACCOUNTS = "/serviceaccounts"
ACCOUNT: dict[str, Any] = {"metadata": {"name": "robot", "namespace": "ml", "uid": "u1"}}
KEY = ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = Home(tmp_path_factory.mktemp("home"))
    establish(home)
    return home.pki


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with opened(tmp_path / "store.db") as made:
        await made.put(at("robot", resource=ACCOUNTS), {"metadata": dict(ACCOUNT["metadata"])}, 0)
        yield made


@pytest.fixture
def access(pki: Path, store: Store) -> Access:
    return Access(pki, store)


def own_key(pki: Path) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key((pki / "tokens.key").read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    about = {"namespace": "ml", "serviceaccount": {"name": "robot", "uid": "u1"}}
    given = {
        "iss": ISSUER, "aud": [ISSUER], "sub": "system:serviceaccount:ml:robot",
        "iat": now, "nbf": now, "exp": now + 600, "kubernetes.io": about,
    }  # fmt: skip
    return {k: v for k, v in {**given, **changes}.items() if v is not None}


def token_of(access: Access, **spec: Any) -> str:
    return str(access.accounts.issue(ACCOUNT, {"spec": spec})["status"]["token"])


async def test_a_token_that_was_issued_is_believed(access: Access) -> None:
    user, _ = access.holder(token_of(access))

    assert (user.name, user.uid) == ("system:serviceaccount:ml:robot", "u1")
    assert {"system:serviceaccounts", "system:serviceaccounts:ml", "system:authenticated"} <= set(user.groups)


async def test_the_tokens_of_our_processes_are_known(access: Access, pki: Path) -> None:
    for entry in json.loads((pki / "tokens.json").read_text()).values():
        user, _ = access.holder(entry["token"])
        assert user.name == entry["user"] and set(entry["groups"]) <= set(user.groups)


async def test_what_we_sign_ourselves_is_believed(access: Access, pki: Path) -> None:
    # Or the refusals below would show nothing.
    assert access.holder(jwt.encode(claims(), own_key(pki), "ES256"))[0].uid == "u1"


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": int(time.time()) - 1},
        {"exp": None},
        {"iss": "https://elsewhere"},
        {"aud": ["somebody else"]},
        {"kubernetes.io": None},
        {"kubernetes.io": "text"},
        {"kubernetes.io": {"namespace": "ml", "serviceaccount": {"name": "nobody", "uid": "u1"}}},
        {"kubernetes.io": {"namespace": "other", "serviceaccount": {"name": "robot", "uid": "u1"}}},
        {"kubernetes.io": {"namespace": "ml", "serviceaccount": {"name": "robot", "uid": "u2"}}},
    ],
)
async def test_a_token_that_is_not_good_is_refused(
    access: Access, pki: Path, changes: dict[str, Any]
) -> None:
    with pytest.raises(Unauthorized):
        access.holder(jwt.encode(claims(**changes), own_key(pki), "ES256"))


@pytest.mark.parametrize(
    "token",
    [
        jwt.encode(claims(), KEY, "ES256"),  # signed by somebody else
        jwt.encode(claims(), "a secret that is long enough for HS256", "HS256"),
        jwt.encode(claims(), "", "none"),
        "", "x", "a.b.c", "\udcff", "ü", "x" * 100_000,
    ],
    ids=["foreign", "symmetric", "unsigned", "empty", "short", "dotted", "surrogate", "umlaut", "long"],
)  # fmt: skip
async def test_a_foreign_token_is_refused(access: Access, token: str) -> None:
    with pytest.raises(Unauthorized):
        access.holder(token)


async def test_a_token_dies_with_its_account_also_when_the_name_comes_back(
    access: Access, store: Store
) -> None:
    token = token_of(access)
    access.holder(token)
    place = at("robot", resource=ACCOUNTS)
    entry = store.get(place)
    assert entry is not None
    await store.delete(place, entry.load(), entry.revision)
    with pytest.raises(Unauthorized):
        access.holder(token)

    await store.put(place, {"metadata": {**ACCOUNT["metadata"], "uid": "u2"}}, 0)
    with pytest.raises(Unauthorized):
        access.holder(token)


async def test_a_token_lives_no_longer_than_it_may(access: Access) -> None:
    token = token_of(access, expirationSeconds=10 * LONGEST)
    claimed = jwt.decode(token, options={"verify_signature": False})

    assert claimed["exp"] - claimed["iat"] == LONGEST

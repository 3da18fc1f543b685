"""A certificate is believed if our authority signed it, for clients, and for now."""

from __future__ import annotations

import shutil
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.cluster.requests import write
from paddlecloud.embedded import certificates
from paddlecloud.embedded.identity import Identity, establish
from paddlecloud.embedded.server.serve import serving
from paddlecloud.settings import Home

NOW = datetime.now(UTC)
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[tuple[Home, Identity]]:
    home = Home(tmp_path / "home")
    identity = establish(home)
    async with serving(home, identity):
        yield home, identity


async def who(running: tuple[Home, Identity], name: str, token: str = "") -> tuple[int, dict[str, Any]]:
    """The answer to whoever shows the certificate *name*.crt, or none, and a token."""
    home, identity = running
    context = ssl.create_default_context(cafile=home.pki / "ca.crt")
    if name:
        context.load_cert_chain(home.pki / f"{name}.crt", home.pki / f"{name}.key")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(identity.server + WHO, json={}, ssl=context) as answer,
    ):
        return answer.status, await answer.json()


async def test_the_owner_has_a_certificate(running: tuple[Home, Identity]) -> None:
    home, _ = running
    access = from_kubeconfig(home.kubeconfig)
    assert access.client_certificate and not access.token
    async with Client(access) as client:
        answer = await client.request(write("POST", WHO, {}))
    info = answer["status"]["userInfo"]
    assert info == {"username": "paddlecloud-admin", "groups": ["system:masters", "system:authenticated"]}


async def test_a_certificate_names_the_user_and_the_group(running: tuple[Home, Identity]) -> None:
    certificates.make_client(running[0].pki, "alice", ("alice", "devs"), NOW)
    status, body = await who(running, "alice")
    info = body["status"]["userInfo"]
    assert (status, info) == (201, {"username": "alice", "groups": ["devs", "system:authenticated"]})


async def test_a_certificate_wins_over_a_token(running: tuple[Home, Identity]) -> None:
    certificates.make_client(running[0].pki, "alice", ("alice", "devs"), NOW)
    _, body = await who(running, "alice", token="not-a-token")
    assert body["status"]["userInfo"]["username"] == "alice"


async def test_without_a_certificate_and_a_token_one_is_nobody(running: tuple[Home, Identity]) -> None:
    status, body = await who(running, "")
    assert status == 403 and 'User "system:anonymous"' in body["message"]


async def test_a_certificate_without_a_name_is_nobodys(running: tuple[Home, Identity]) -> None:
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters")])
    purpose = (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]),)
    certificates.make_leaf(running[0].pki, "nameless", name, purpose, NOW)
    assert (await who(running, "nameless"))[0] == 401


def expired(pki: Path) -> None:
    certificates.make_client(pki, "bad", ("alice", "system:masters"), NOW - timedelta(days=500))


def not_yet(pki: Path) -> None:
    certificates.make_client(pki, "bad", ("alice", "system:masters"), NOW + timedelta(days=2))


def for_servers(pki: Path) -> None:
    for part in ("crt", "key"):
        shutil.copy(pki / f"server.{part}", pki / f"bad.{part}")


def of_another_authority(pki: Path) -> None:
    other = pki / "other"
    other.mkdir()
    certificates.ensure(other, NOW)
    for part in ("crt", "key"):
        shutil.copy(other / f"admin.{part}", pki / f"bad.{part}")


@pytest.mark.parametrize("make", [expired, not_yet, for_servers, of_another_authority])
async def test_a_certificate_that_is_not_good_ends_the_connection(
    running: tuple[Home, Identity], make: Any
) -> None:
    make(running[0].pki)
    with pytest.raises((aiohttp.ClientError, OSError)):
        await who(running, "bad")


@pytest.mark.parametrize("days, renewed", [(300, False), (368, True)])
def test_the_certificate_of_the_owner_is_renewed_in_time(tmp_path: Path, days: int, renewed: bool) -> None:
    certificates.ensure(tmp_path, NOW)
    before = (tmp_path / "admin.crt").read_bytes()
    certificates.ensure(tmp_path, NOW + timedelta(days=days))
    assert ((tmp_path / "admin.crt").read_bytes() != before) is renewed

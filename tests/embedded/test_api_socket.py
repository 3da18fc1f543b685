"""The door of the platform's own processes: no TLS, the same rights, closed to other users, at any depth."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.embedded.lone_api import lone_api

from paddlecloud.api.core import Namespace
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access, from_kubeconfig
from paddlecloud.errors import Forbidden
from paddlecloud.settings import Home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    deep = tmp_path_factory.mktemp("deep") / ("folder" * 10) / ("below" * 10) / "home"
    deep.parent.mkdir(parents=True)
    with lone_api(deep):
        yield Home(deep)


@pytest.fixture
def access(home: Home) -> Access:
    told = from_kubeconfig(home.run / "controllers.kubeconfig")
    # Nobody listens there: what is asked comes by the socket or not at all.
    return replace(told, server="https://127.0.0.1:1", socket=home.api_socket)


async def test_who_has_a_token_is_known_by_it(access: Access) -> None:
    async with Client(access) as client:
        listed = await client.list(Namespace)

    assert "default" in {item.name for item in listed.items}


async def test_who_has_none_is_nobody(access: Access) -> None:
    async with Client(replace(access, token="", token_file=None)) as client:
        with pytest.raises(Forbidden, match="system:anonymous"):
            await client.list(Namespace)


def test_other_users_cannot_reach_it(home: Home) -> None:
    path: Path = home.api_socket

    assert len(str(path)) > 107
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700

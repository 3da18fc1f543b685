"""The pipelines service works for the owner, and for pods as far as their account may; for nobody else."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from tests.cluster.widgets import running
from tests.properties.plays import new_namespace

from paddlecloud.cluster import requests
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.errors import Unauthorized
from paddlecloud.localsockets import on_port
from paddlecloud.pipelines.callers import foreign, in_hex, on_behalf, trusted, user_of
from paddlecloud.pipelines.listening import listen
from paddlecloud.pipelines.service.shelf import NAMESPACE

HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
ROWS = """\
   0: 0100007F:22B8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1
   1: 0100007F:22B8 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 12 1
   2: 0100007F:9C40 0100007F:22B8 01 00000000:00000000 00:00000000 00000000  1001        0 13 1"""
NOBODY = 65534
ASK_AS_ANOTHER = """
import os, socket, sys
os.setuid(int(sys.argv[1]))
asking = socket.socket()
asking.connect(("127.0.0.1", int(sys.argv[2])))
asking.sendall(b"GET /apis/v2beta1/healthz HTTP/1.0\\r\\n\\r\\n")
sys.stdout.buffer.write(asking.makefile("rb").read())
"""


@pytest.mark.skipif(sys.byteorder != "little", reason="the rows are of a little-endian machine")
@pytest.mark.parametrize(
    "caller, user",
    [(("127.0.0.1", 40000), 1001), (("127.0.0.1", 40001), None), (("127.0.0.2", 40000), None)],
)
def test_the_kernel_names_the_user_at_the_other_end(caller: tuple[str, int], user: int | None) -> None:
    assert user_of([HEADER, *ROWS.splitlines()], caller, ("127.0.0.1", 8888)) == user


def test_addresses_are_written_as_the_kernel_does() -> None:
    assert in_hex(("127.0.0.1", 8888)) == ("0100007F" if sys.byteorder == "little" else "7F000001") + ":22B8"


@pytest.mark.parametrize("user, may", [(1000, True), (0, True), (1001, False), (None, False)])
def test_owner_and_root_are_served(user: int | None, may: bool) -> None:
    assert trusted(user, (1000, 0)) is may


@pytest.mark.parametrize(
    "origin, refused",
    [("", False), ("http://127.0.0.1:8888", False), ("http://example.com", True), ("null", True)],
)
def test_pages_of_elsewhere_are_refused(origin: str, refused: bool) -> None:
    assert foreign(origin, "127.0.0.1:8888") is refused


@asynccontextmanager
async def service(access: Access, *, for_pods: bool = False) -> AsyncIterator[str]:
    with on_port(0) as owner, on_port(0) as pods:
        port = (pods if for_pods else owner).getsockname()[1]
        async with running(listen(access, owner, pods)):
            yield f"http://127.0.0.1:{port}/apis/v2beta1/healthz"


async def test_the_owner_is_answered_and_a_page_is_not(access: Access) -> None:
    async with service(access) as url, aiohttp.ClientSession() as session:
        async with session.get(url) as answer:
            assert answer.status == 200
        async with session.get(url, headers={"Origin": "http://example.com"}) as answer:
            assert answer.status == 403 and "may not use" in (await answer.json())["message"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user to ask as one")
async def test_another_user_of_the_machine_is_refused(access: Access) -> None:
    async with service(access) as url:
        words = [sys.executable, "-I", "-c", ASK_AS_ANOTHER, str(NOBODY), str(urlsplit(url).port)]
        asking = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
        said, _ = await asking.communicate()
    assert b" 403 Forbidden" in said and b"this is the user 65534" in said


async def token(access: Access, namespace: str) -> str:
    """Of the account that pods there have."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
    async with Client(access) as client:
        answer = await client.request(requests.write("POST", path, {"spec": {}}))
    return str(answer["status"]["token"])


async def test_a_pod_may_do_what_its_account_may_and_nothing_without_it(access: Access) -> None:
    async with Client(access) as client:
        elsewhere = await new_namespace(client)
    async with service(access, for_pods=True) as url, aiohttp.ClientSession() as session:
        experiments = url.replace("healthz", "experiments")

        async def asked(key: str) -> tuple[int, str]:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            async with session.get(experiments, headers=headers) as answer:
                return answer.status, str((await answer.json()).get("message"))

        own, other = await token(access, NAMESPACE), await token(access, elsewhere)
        assert (await asked(own))[0] == 200
        assert (await asked(""))[0] == 401 and "token of their account" in (await asked(""))[1]
        assert (await asked("made.up"))[0] == 401
        code, said = await asked(other)
        assert code == 403 and f"system:serviceaccount:{elsewhere}:default" in said


@pytest.mark.parametrize("header", ["", "Basic YTpi", "Bearer", "Bearer ", "Bearer a b", "Bearer a\r\nX: y"])
def test_what_is_no_token_is_refused(header: str) -> None:
    with pytest.raises(Unauthorized, match="existing_token"):
        on_behalf(Access("https://127.0.0.1:1", "here", token="ours"), header)


def test_the_access_of_a_caller_has_nothing_of_ours() -> None:
    ours = Access(
        "https://127.0.0.1:1", "here", ca="ca", token="ours", token_file=Path("/ours"), client_key="ours"
    )
    theirs = on_behalf(ours, "Bearer theirs")

    assert theirs == Access("https://127.0.0.1:1", "here", ca="ca", token="theirs")

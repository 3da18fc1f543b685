"""Commands and terminals in containers that run, at each level of isolation."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from tests.node.conversations import Conversations, code_of, conversations, heard
from tests.node.isolation_levels import LEVELS, levels_or_skip

from paddlecloud.embedded.node import procfs

SLEEP = ("sleep", "1000")


@pytest.fixture(params=LEVELS)
async def pods(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Conversations]:
    async with conversations(tmp_path, levels_or_skip(request.param)) as it:
        yield it


@pytest.fixture
async def plain(tmp_path: Path) -> AsyncIterator[Conversations]:
    async with conversations(tmp_path) as it:
        yield it


def marked(mark: str) -> list[int]:
    """Processes of the machine that have *mark* among their arguments."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and mark.encode() in Path("/proc", entry, "cmdline").read_bytes():
                found.append(int(entry))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


@pytest.mark.parametrize(
    "argv, stdin, code, out, err",
    [
        (("echo", "a b", "*"), None, 0, "a b *\n", ""),
        (("sh", "-c", "echo out; echo err >&2; exit 3"), None, 3, "out\n", "err\n"),
        (("sh", "-c", "kill -TERM $$"), None, 143, "", ""),
        (("cat",), b"in\n", 0, "in\n", ""),
        (("cat",), b"", 0, "", ""),
        (("no-such-program",), None, 127, "", "no-such-program: not found\n"),
        (("sh", "-c", "cat; echo $COLOUR"), None, 0, "red\n", ""),
    ],
)
async def test_a_command_runs_beside_the_container(
    pods: Conversations, argv: tuple[str, ...], stdin: bytes | None, code: int, out: str, err: str
) -> None:
    await pods.running(*SLEEP)
    assert await pods.run(*argv, stdin=stdin) == (code, out, err)


async def test_a_command_sees_what_the_container_sees(pods: Conversations) -> None:
    await pods.running(
        "sh", "-c", "echo kept > /in/it/file; exec sleep 1000",
        volumes=[{"name": "v", "emptyDir": {}}],
        container={"volumeMounts": [{"name": "v", "mountPath": "/in/it"}]},
    )  # fmt: skip
    assert await pods.run("cat", "/in/it/file") == (0, "kept\n", "")
    assert await pods.run("cat", "greeting.txt") == (0, "hello from the suite\n", "")


async def test_ten_megabytes_go_in_and_come_out(pods: Conversations) -> None:
    await pods.running(*SLEEP)
    data = os.urandom(5_000_000).hex().encode()
    code, out, _ = await pods.run("cat", stdin=data)
    assert (code, out.encode()) == (0, data)


async def test_a_terminal_has_a_size_that_changes(pods: Conversations) -> None:
    await pods.running(*SLEEP)
    query = [("command", w) for w in ("sh", "-c", "tty; read x; stty size; echo $TERM; exit 7")]
    query += [("stdin", "true"), ("stdout", "true"), ("tty", "true")]
    async with pods.talk(pods.url("exec", query)) as socket:
        first = await socket.receive_bytes()
        await socket.send_bytes(b"\4" + json.dumps({"Width": 91, "Height": 33}).encode())
        await socket.send_bytes(b"\0go\n")
        code, out, _ = await heard(socket)
    assert first.startswith(b"\1/dev/pts/")
    assert (code, out.splitlines()[-2:]) == (7, ["33 91", "xterm"])


@pytest.mark.parametrize("tty", [False, True])
async def test_a_command_ends_with_its_client(pods: Conversations, tty: bool) -> None:
    await pods.running(*SLEEP)
    mark = f"7{os.getpid()}{int(tty)}.25"
    query = [("command", w) for w in ("sh", "-c", f"trap '' HUP; echo up; sleep {mark}; sleep {mark}")]
    query += [("stdout", "true"), ("tty", str(tty).lower())]
    async with pods.talk(pods.url("exec", query)) as socket:
        assert (await socket.receive_bytes()).startswith(b"\1up")
        await pods.yard.until(lambda: marked(mark))
    await pods.yard.until(lambda: not marked(mark))
    assert (await pods.run("true"))[0] == 0


async def test_what_a_command_leaves_running_ends_with_the_container(pods: Conversations) -> None:
    await pods.running(*SLEEP)
    mark = f"8{os.getpid()}.25"
    code, out, _ = await pods.run("sh", "-c", f"sleep {mark} >/dev/null 2>&1 & echo left")
    assert (code, out) == (0, "left\n")
    assert marked(mark)
    pods.yard.shelf.delete(pods.yard.now())
    await pods.yard.until(lambda: not marked(mark))


@pytest.mark.parametrize(
    "protocol, status",
    [
        ("v4.channel.k8s.io", True),
        ("v4.base64.channel.k8s.io", True),
        ("channel.k8s.io", False),
        ("base64.channel.k8s.io", False),
        ("", False),
    ],
)
async def test_every_dialect_is_spoken(plain: Conversations, protocol: str, status: bool) -> None:
    await plain.running(*SLEEP)
    query = [("command", w) for w in ("sh", "-c", "read x; echo $x; exit 3")]
    query += [("stdin", "true"), ("stdout", "true"), ("stderr", "true")]
    said: dict[int, bytes] = {1: b"", 3: b""}
    async with plain.talk(plain.url("exec", query), protocol) as socket:
        assert (socket.protocol or "") == protocol
        if "base64" in protocol:
            await socket.send_str("0" + base64.b64encode(b"hello\n").decode())
        else:
            await socket.send_bytes(b"\0hello\n")
        async for message in socket:
            if message.type is aiohttp.WSMsgType.TEXT:
                said[int(message.data[0])] += base64.b64decode(message.data[1:])
            else:
                said[message.data[0]] += message.data[1:]
    assert said[1] == b"hello\n"
    if status:
        assert code_of(said[3]) == 3
    else:
        assert said[3] == b"command terminated with non-zero exit code: exit status 3"


@pytest.mark.parametrize(
    "verb, pod, inside, query, protocol, status, complaint",
    [
        ("exec", "q", "/main", "command=ls", "", 404, "pod d/q is not on this node"),
        ("exec", "p", "/side", "command=ls", "", 404, "has no container side"),
        ("exec", "p", "/main", "", "", 400, "you must specify at least 1 command"),
        ("exec", "p", "/main", "command=ls", "v9.channel.k8s.io", 400, "none of v9.channel.k8s.io is spoken"),
        ("exec", "p", "/main", "command=ls", None, 400, "Upgrade request required"),
        ("exec", "over", "/main", "command=ls", "", 500, 'container not found ("main")'),
        ("attach", "over", "/main", "", "", 500, 'container not found ("main")'),
        ("portForward", "q", "", "", "", 404, "pod d/q is not on this node"),
        ("portForward", "p", "", "ports=0", "", 400, "unable to parse '0' as a port"),
        ("portForward", "p", "", "", "", 400, "query parameter ports is required"),
    ],
)
async def test_what_cannot_be_done_is_said_in_a_sentence(
    plain: Conversations, verb: str, pod: str, inside: str, query: str, protocol: str | None, status: int,
    complaint: str,
) -> None:  # fmt: skip
    await plain.running(*SLEEP)
    plain.yard.run("true", name="over")
    await plain.yard.finished("over")
    upgrade = {} if protocol is None else {"Upgrade": "websocket", "Connection": "Upgrade"}
    if protocol:
        upgrade["Sec-WebSocket-Protocol"] = protocol
    url = plain.url(verb, pod=pod, inside=inside) + query
    async with asyncio.timeout(20), plain.session.get(url, headers=upgrade) as answer:
        assert (answer.status, complaint in await answer.text()) == (status, True)


async def test_many_commands_leave_nothing_behind(pods: Conversations) -> None:
    await pods.running(*SLEEP)
    await pods.run("true")
    folder = pods.yard.roster.find("d", "p")
    assert folder is not None
    zygote = int((pods.yard.home.run / "zygote.lock").read_text())

    execs = folder.run_folder("main", 0) / "execs"

    def held() -> tuple[int, int, list[str]]:
        return len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{zygote}/fd")), os.listdir(execs)

    # The command before may still be tidied up after.
    await pods.yard.until(lambda: not os.listdir(execs))
    before, processes = held(), len(procfs.children(zygote))
    began = time.monotonic()
    for _ in range(100):
        assert (await pods.run("true"))[0] == 0
    took = (time.monotonic() - began) / 100
    await pods.yard.until(lambda: held() == before)
    await pods.yard.until(lambda: len(procfs.children(zygote)) <= processes)
    assert took < 0.3


async def test_a_reader_that_does_not_read_holds_up_the_command_and_nothing_else(
    plain: Conversations,
) -> None:
    await plain.running(*SLEEP)
    query = [("command", w) for w in ("sh", "-c", "echo $$; exec yes")] + [("stdout", "true")]
    async with plain.talk(plain.url("exec", query)) as socket:
        pid = int((await socket.receive_bytes())[1:].split()[0])

        def blocked() -> bool:
            return "pipe" in Path(f"/proc/{pid}/wchan").read_text() or procfs.stat_fields(pid)[0] == "S"

        await plain.yard.until(blocked)
        assert (await plain.run("echo", "still"))[1] == "still\n"
    await plain.yard.until(lambda: not Path(f"/proc/{pid}").exists())

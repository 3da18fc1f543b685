"""Pods on the machine's network whose calls are looked at: real programs, at every level."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from socket import AF_INET, AF_INET6, inet_aton, inet_pton

import pytest
from tests.node.isolation_levels import LEVELS, levels_or_skip, probed
from tests.node.pod_yard import NODE, RANGES, Yard
from tests.node.test_network_routing import a_service

from paddlecloud.embedded.node.network.names import world
from paddlecloud.embedded.node.network.nameserver import PORTS, Nameserver
from paddlecloud.embedded.node.network.standing import Standing
from paddlecloud.embedded.node.notify import Watch
from paddlecloud.embedded.node.roster import Roster

DNS = RANGES.names


class WatchedYard(Yard):
    """A node that tells its pods of a DNS and looks at their calls."""

    standing = Standing(DNS, 0, watched=True)

    def start(self) -> Roster:
        super().start()
        self.shop = replace(self.shop, standing=self.standing)
        self.roster = Roster([NODE], RANGES, self.shop)
        self.shelf.watcher = self.roster.changed
        return self.roster


@pytest.fixture(params=LEVELS)
async def yard(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[WatchedYard]:
    levels = levels_or_skip(request.param)
    if why := probed()["network"]["notify"]:
        pytest.skip(f"this kernel passes no calls on: {why}")
    it = WatchedYard(tmp_path, levels)
    yield it
    await it.close()


def python(program: str) -> tuple[str, str, str]:
    return sys.executable, "-c", program


LISTEN = """
import socket, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("0.0.0.0", 9292)); s.listen(); print("at", s.getsockname()[0], flush=True)
while True:
    c, _ = s.accept(); c.sendall(NAME.encode()); c.close()
"""


async def said(address: str, port: int) -> bytes:
    async with asyncio.timeout(20):
        reader, writer = await asyncio.open_connection(address, port)
        text = await reader.read()
        writer.close()
        return text


async def test_two_pods_listen_on_all_addresses_at_one_port(yard: WatchedYard) -> None:
    for name in ("one", "two"):
        yard.run(*python(LISTEN.replace("NAME", repr(name))), name=name)
    await yard.until(lambda: all("at" in yard.log(name) for name in ("one", "two")))
    addresses = {name: yard.log(name).split()[1] for name in ("one", "two")}
    assert all(address.startswith("127.213.") for address in addresses.values())
    assert {name: await said(a, 9292) for name, a in addresses.items()} == {"one": b"one", "two": b"two"}


async def test_a_pod_reaches_itself_at_localhost(yard: WatchedYard) -> None:
    program = """
import asyncio, urllib.request, http.server, threading
server = http.server.ThreadingHTTPServer(("", 9393), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://localhost:9393/").status)
"""
    yard.run(*python(program))
    assert (await yard.finished()).phase == "Succeeded", yard.log()
    assert "200" in yard.log()


async def test_a_server_on_both_families_starts_and_answers(yard: WatchedYard) -> None:
    program = """
import asyncio
async def main():
    async def serve(r, w): w.write(b"hello"); w.close()
    server = await asyncio.start_server(serve, None, 9494)
    print(sorted({s.getsockname()[0] for s in server.sockets}))
    r, w = await asyncio.open_connection("localhost", 9494)
    print(await r.read())
asyncio.run(main())
"""
    yard.run(*python(program))
    assert (await yard.finished()).phase == "Succeeded", yard.log()
    assert "b'hello'" in yard.log()


GO = """package main
import ("fmt"; "io"; "net"; "os")
func main() {
  l, err := net.Listen("tcp", ":9595"); if err != nil { fmt.Println(err); os.Exit(1) }
  fmt.Println("at", l.Addr())
  go func() { c, _ := l.Accept(); c.Write([]byte("hi")); c.Close() }()
  c, err := net.Dial("tcp", "127.0.0.1:9595"); if err != nil { fmt.Println(err); os.Exit(1) }
  b, _ := io.ReadAll(c); fmt.Println(string(b))
}
"""


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once, in Go's own cache: without it a build compiles Go's library first."""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not Path(go).exists():
        pytest.skip("no Go here to make a static program with")
    folder = tmp_path_factory.mktemp("listener")
    (folder / "main.go").write_text(GO)
    env = {**os.environ, "CGO_ENABLED": "0", "GO111MODULE": "off"}
    subprocess.run([go, "build", "-o", "listener", "main.go"], cwd=folder, env=env, check=True, timeout=300)
    return folder / "listener"


async def test_a_static_program_of_another_language_is_no_exception(
    yard: WatchedYard, listener: Path
) -> None:
    shutil.copy(listener, yard.suites / "tried" / "code" / "listener")
    yard.run("/workspace/listener")
    assert (await yard.finished()).phase == "Succeeded", yard.log()
    assert "127.213." in yard.log() and "hi" in yard.log()


@pytest.mark.parametrize("ports", [PORTS, PORTS[1:]], ids=["usual port", "unprivileged port"])
async def test_the_machines_resolver_functions_find_services(
    yard: WatchedYard, ports: tuple[int, ...]
) -> None:
    server = Nameserver()
    server.world = world([a_service("s", clusterIP="127.9.0.7")], [])
    try:
        port = await server.listen(DNS, ports)
        assert port in ports
        yard.standing = Standing(DNS, port, watched=True)
        await yard.restart()
        program = """
import json, socket
def look(name):
    try: return sorted({a[4][0] for a in socket.getaddrinfo(name, 80, socket.AF_INET)})
    except socket.gaierror as error: return error.errno
print(json.dumps([look(n) for n in ("s", "s.d", "s.d.svc", "s.d.svc.cluster.local", "nobody")]))
"""
        yard.run(*python(program))
        assert (await yard.finished()).phase == "Succeeded", yard.log()
        assert json.loads(yard.log()) == [["127.9.0.7"]] * 4 + [-2]
    finally:
        server.close()


def v4(host: str, port: int) -> bytes:
    return struct.pack("=H", AF_INET) + struct.pack(">H", port) + inet_aton(host) + bytes(8)


def v6(host: str, port: int) -> bytes:
    return (
        struct.pack("=H", AF_INET6)
        + struct.pack(">H", port)
        + bytes(4)
        + inet_pton(AF_INET6, host)
        + bytes(4)
    )


OWN, FREE = "127.8.0.1", 9
"""A port where nobody listens."""


@pytest.mark.parametrize(
    "given, binds, alone, expected",
    [
        (v4("0.0.0.0", 80), True, False, v4(OWN, 80)),
        (v4("127.0.0.1", 80), True, False, v4(OWN, 80)),
        (v4("127.8.0.2", 80), True, False, v4("127.8.0.2", 80)),
        (v6("::", 80), True, False, v6(f"::ffff:{OWN}", 80)),
        (v6("::1", 80), True, False, v6(f"::ffff:{OWN}", 80)),
        (v6("::", 80), True, True, v6("::1", 0)),
        (v4("127.0.0.1", FREE), False, False, v4("127.0.0.1", FREE)),
        (v4("192.0.2.1", 53), False, False, v4(DNS, 10053)),
        (v4("192.0.2.1", 443), False, False, v4("192.0.2.1", 443)),
        (b"\1\0/run/x", True, False, b"\1\0/run/x"),
        (b"", True, False, b""),
    ],
)
def test_where_a_call_goes(given: bytes, binds: bool, alone: bool, expected: bytes) -> None:
    watch = Watch(-1, {"address": OWN, "dns": [DNS, 10053]})
    assert watch.target(given, binds, alone) == expected


BIND = "import socket; s = socket.socket(); s.bind(('0.0.0.0', 0)); print(s.getsockname()[0])"


async def test_one_more_command_in_a_plain_pod_has_the_address_of_the_pod(tmp_path: Path) -> None:
    if why := probed()["network"]["notify"]:
        pytest.skip(f"this kernel passes no calls on: {why}")
    yard = WatchedYard(tmp_path, levels_or_skip("plain"))
    try:
        yard.run("sh", "-c", "echo up; exec sleep 600")
        await yard.until(lambda: "up" in yard.log())
        run = yard.home.pods(NODE) / "uid-p" / "containers" / "main" / "0"
        with open(tmp_path / "output", "w+b") as file, open(os.devnull, "rb") as nothing:
            streams = (nothing.fileno(), file.fileno(), file.fileno())
            async with asyncio.timeout(20):
                assert await yard.shop.launcher.execute(run, python(BIND), streams) == 0
        await yard.until(lambda: yard.now().ip)
        assert (tmp_path / "output").read_text() == f"{yard.now().ip}\n"
    finally:
        await yard.close()

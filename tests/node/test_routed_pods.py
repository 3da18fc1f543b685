"""Pods with a network of their own: real namespaces, links and routes, as root and as an ordinary user."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.node.isolation_levels import SANDBOXED
from tests.node.pod_yard import NODE
from tests.node.routed_yard import RoutedYard, routed_yard

from paddlecloud.embedded.node.dialing import Door, Ways, dial
from paddlecloud.embedded.node.launcher import Launcher
from paddlecloud.embedded.node.network.datagrams import DatagramRelay
from paddlecloud.embedded.node.network.names import world
from paddlecloud.embedded.node.network.nameserver import Nameserver
from paddlecloud.embedded.node.network.proxy import Proxy
from paddlecloud.embedded.node.network.reach import connected
from paddlecloud.embedded.node.network.routing import Behind, Endpoint, Front
from paddlecloud.embedded.node.podfolder import every_pod
from paddlecloud.embedded.node.routed import switch
from paddlecloud.embedded.node.routed.network import link_of
from paddlecloud.embedded.node.routed.opening import Doors, Through
from paddlecloud.embedded.node.routed.outside import open_outside
from paddlecloud.embedded.node.routed.rtnetlink import Netlink
from paddlecloud.embedded.node.routed.wiring import outside_name
from paddlecloud.embedded.node.sandbox import holding

PORT = 9292
GREETING = """
import os, socket
listener = socket.create_server(("", 9292))
while True:
    connection, (host, _) = listener.accept()
    connection.sendall(f"{os.environ['POD_NAME']} to {host}".encode())
    connection.close()
"""
ASKING = """
import socket, sys, time
for place in sys.argv[1:]:
    host, _, port = place.partition(":")
    began = time.monotonic()
    try:
        with socket.create_connection((host, int(port)), 5) as connection:
            print(connection.recv(100).decode())
    except OSError as error:
        print("soon" if time.monotonic() - began < 0.5 else "late", error.errno)
"""


@pytest.fixture(params=SANDBOXED)
async def yard(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RoutedYard]:
    async with routed_yard(request.param, tmp_path) as it:
        yield it


async def greets(yard: RoutedYard, name: str) -> str:
    """The address of a new pod that greets whoever calls."""
    yard.run("python3", "-c", GREETING, name=name)
    await yard.until(lambda: yard.now(name).phase == "Running")
    address = str(yard.now(name).ip)
    async with asyncio.timeout(20):
        while True:
            try:
                await yard.answer(address, PORT)
                return address
            except ConnectionRefusedError:
                await asyncio.sleep(0.01)


class NoLauncher(Launcher):
    """Nobody forks."""

    def __init__(self) -> None: ...

    async def connect(self) -> socket.socket:
        raise AssertionError("a process was asked for")


LONELY = """
import socket
listener = socket.create_server(("127.0.0.1", 9292))
print("up", flush=True)
while True:
    connection, _ = listener.accept()
    connection.sendall(b"lonely")
    connection.close()
"""


async def test_a_port_is_dialled_without_a_process_of_its_own(yard: RoutedYard) -> None:
    await greets(yard, "a")
    [folder] = every_pod(yard.home)
    record = folder.record()
    assert record is not None
    door = Door(folder, record, PORT)
    with await dial(door, Ways(NoLauncher(), yard.network.reach)) as connection:
        assert await asyncio.get_running_loop().sock_recv(connection, 100)


async def test_who_listens_on_the_loopback_of_its_pod_is_found(yard: RoutedYard) -> None:
    yard.run("python3", "-c", LONELY, name="a")
    await yard.until(lambda: "up" in yard.log("a"))
    [folder] = every_pod(yard.home)
    record = folder.record()
    assert record is not None
    with await dial(Door(folder, record, PORT), Ways(yard.shop.launcher, yard.network.reach)) as connection:
        assert await asyncio.get_running_loop().sock_recv(connection, 100) == b"lonely"


async def asked(yard: RoutedYard, *places: str) -> list[str]:
    """What a pod is told at *places*."""
    yard.run("python3", "-c", ASKING, *places, name="asking")
    await yard.finished("asking")
    lines = yard.log("asking").splitlines()
    yard.shelf.delete(yard.now("asking"))
    return lines


async def test_pods_listen_at_one_port_and_reach_each_other_services_and_nobody_else(
    yard: RoutedYard,
) -> None:
    one, two = await greets(yard, "one"), await greets(yard, "two")
    assert await yard.answer(two, PORT) == f"two to {yard.ranges.gateway}".encode()
    service, nobody = str(yard.ranges.services[7]), str(yard.ranges.pods[1000])
    proxy = Proxy(yard.network.reach)
    await proxy.follow({Front(service, 80): Behind((Endpoint(two, PORT),))})
    try:
        heard = await asked(
            yard, f"{one}:{PORT}", f"{two}:{PORT}", f"{service}:80", f"{service}:81", f"{nobody}:80",
            "192.0.2.77:80",
        )  # fmt: skip
    finally:
        await proxy.close()
    own = str(yard.ranges.pods[5])
    assert heard == [
        f"one to {own}",
        f"two to {own}",
        f"two to {yard.ranges.gateway}",
        f"soon {errno.ECONNREFUSED}",
        f"soon {errno.EHOSTUNREACH}",
        f"soon {errno.ENETUNREACH}",
    ]


PIECES = """
import socket, sys
with socket.create_connection((sys.argv[1], 9292), 5) as connection:
    connection.recv(100)
    print(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG))
"""


async def test_what_pods_say_to_each_other_goes_in_pieces_as_large_as_on_loopback(yard: RoutedYard) -> None:
    # Workers tell each other all gradients at every step.
    one = await greets(yard, "one")
    yard.run("python3", "-c", PIECES, one, name="asking")
    await yard.finished("asking")

    assert int(yard.log("asking")) > 32_000


async def test_names_are_served_at_the_usual_address_and_datagrams_reach_pods(yard: RoutedYard) -> None:
    server = Nameserver(reach=yard.network.reach)
    server.world = world((), ())
    assert await server.listen(yard.ranges.names, (53,)) == 53
    echo = "import socket\ns = socket.socket(type=socket.SOCK_DGRAM)\ns.bind(('', 53))\n"
    echo += "data, caller = s.recvfrom(99)\ns.sendto(data[::-1], caller)\n"
    yard.run("python3", "-c", echo, name="echo")
    await yard.until(lambda: yard.now("echo").phase == "Running")
    loop = asyncio.get_running_loop()
    front, behind = str(yard.ranges.services[7]), Endpoint(str(yard.now("echo").ip), 53)
    listener = yard.network.reach.make(front, socket.SOCK_DGRAM)
    listener.bind((front, 99))
    _, relay = await loop.create_datagram_endpoint(
        lambda: DatagramRelay(lambda _: [behind], yard.network.reach), sock=listener
    )
    ask = (
        "import socket, sys\ns = socket.socket(type=socket.SOCK_DGRAM)\ns.settimeout(0.2)\n"
        "s.connect((sys.argv[1], 99))\n"
        "for _ in range(60):\n"
        "    s.send(b'abc')\n"
        "    try:\n        print(s.recv(99).decode()); break\n"
        "    except OSError:\n        continue\n"
        "try:\n    socket.getaddrinfo('no-such.default.svc.cluster.local', 1)\n"
        "except socket.gaierror as error:\n    print(error.errno == socket.EAI_NONAME)\n"
        "print(open('/etc/resolv.conf').readline().strip())\n"
    )
    try:
        yard.run("python3", "-c", ask, front, name="asking")
        await yard.finished("asking")
    finally:
        relay.close()
        server.close()
    assert yard.log("asking").splitlines() == ["cba", "True", f"nameserver {yard.ranges.names}"]


async def test_a_dead_pod_is_unreachable_at_once_and_leaves_no_link(yard: RoutedYard) -> None:
    address = await greets(yard, "one")
    holder = holding.pid_of(yard.home.pods(NODE) / yard.now("one").uid)
    namespace = os.readlink(f"/proc/{holder}/ns/net")
    assert namespace != os.readlink("/proc/self/ns/net")
    yard.shelf.delete(yard.now("one"))
    await yard.until(lambda: not (yard.home.pods(NODE) / "uid-one").exists())
    began = time.monotonic()
    with pytest.raises(OSError) as refused:
        await yard.answer(address, PORT)
    assert refused.value.errno == errno.EHOSTUNREACH and time.monotonic() - began < 1
    # The kernel clears namespaces away in the background.
    await yard.until(lambda: outside_name(address) not in links(yard))


async def test_pods_keep_their_connections_when_the_node_is_killed_and_their_addresses_with_a_new_switch(
    yard: RoutedYard,
) -> None:
    address = await greets(yard, "one")
    before = links(yard)
    await yard.open()
    assert links(yard) == before
    assert await yard.answer(address, PORT) == f"one to {yard.ranges.gateway}".encode()
    # Another process of the platform, the gateway say, with sockets in stock.
    beside = Through(yard.ranges, Doors(yard.home.run))
    beside.make(address, socket.SOCK_STREAM).close()
    keeper = switch.found(str(yard.home.run))
    os.kill(keeper, signal.SIGKILL)
    await yard.until(lambda: not switch.found(str(yard.home.run)))
    await yard.open()
    assert switch.found(str(yard.home.run)) not in (0, keeper)
    assert await yard.answer(address, PORT) == f"one to {yard.ranges.gateway}".encode()
    assert await asked(yard, f"{address}:{PORT}") == [f"one to {yard.ranges.pods[4]}"]
    (await connected(beside, Endpoint(address, PORT))).close()
    beside.doors.close()


async def test_connections_of_pods_to_the_world_outside_go_through_the_node(yard: RoutedYard) -> None:
    async def welcome(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"welcome outside")
        writer.close()

    world_outside = await asyncio.start_server(welcome, "127.0.0.1", 0)
    meant: list[Endpoint] = []

    def way(destination: Endpoint) -> list[Endpoint]:
        meant.append(destination)
        return [Endpoint(*world_outside.sockets[0].getsockname())]

    server = await open_outside(yard.ranges, yard.network.doors, way)
    if server is None:
        pytest.skip("this kernel has no packet filter for our own namespaces")
    try:
        address = await greets(yard, "one")
        nobody = f"{yard.ranges.pods[1000]}:80"
        heard = await asked(yard, "198.51.100.7:4321", nobody, f"{address}:{PORT}")
    finally:
        server.close()
        world_outside.close()
    assert heard[:2] == ["welcome outside", f"soon {errno.EHOSTUNREACH}"] and heard[2].startswith("one to")
    assert meant == [Endpoint("198.51.100.7", 4321)]


async def test_who_is_on_the_machines_network_stays_there(yard: RoutedYard) -> None:
    text = "readlink /proc/self/ns/net; echo $KUBERNETES_SERVICE_HOST $GLOO_SOCKET_IFNAME"
    yard.run("sh", "-c", text, name="on-host", hostNetwork=True)
    yard.run("sh", "-c", text, name="apart")
    for name in ("on-host", "apart"):
        await yard.finished(name)
    on_host, apart = yard.log("on-host").splitlines(), yard.log("apart").splitlines()
    assert on_host == [os.readlink("/proc/self/ns/net"), "127.0.0.1 lo"]
    assert apart[0] != on_host[0] and apart[1] == f"{yard.ranges.api} eth0"
    assert yard.now("on-host").ip == "127.0.0.1"


async def test_the_machine_has_routes_to_the_pods_as_root_and_none_after_the_end(tmp_path: Path) -> None:
    async with routed_yard("root", tmp_path) as yard:
        address = await greets(yard, "one")
        with socket.create_connection((address, PORT), 5) as plain:
            assert plain.recv(100) == f"one to {yard.ranges.machine}".encode()
        with pytest.raises(OSError) as refused:
            socket.create_connection((str(yard.ranges.pods[1000]), PORT), 5)
        assert refused.value.errno == errno.EHOSTUNREACH
        link = link_of(yard.home)
    with Netlink() as machine:
        assert link not in machine.links()
        assert all(to != str(yard.ranges.pods.network_address) for (to, _), _ in machine.routes())


def links(yard: RoutedYard) -> dict[str, int]:
    with Netlink(yard.network.doors.make("routes")) as netlink:
        return netlink.links()

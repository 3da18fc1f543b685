"""A home that had another network before: what has an address of it gets one of the new."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from tests.node.pod_yard import NODE, RANGES, Yard

from paddlecloud.embedded.node.podfolder import PodFolder
from paddlecloud.embedded.node.roster import Roster
from paddlecloud.embedded.ranges import on_loopback, read
from paddlecloud.embedded.server.addresses import ServiceAddresses
from paddlecloud.embedded.store import Place, Store

NOW = read("10.80.0.0/16", "10.81.0.0/24")


@pytest.mark.parametrize(
    "before, moves",
    [("127.214.0.9", True), ("10.81.0.9", False), ("None", False), ("", False)],
)
async def test_a_service_keeps_its_address_unless_the_range_is_another(
    before: str, moves: bool, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store.db")
    spec: dict[str, Any] = {"ports": [], "type": "ClusterIP"}
    spec |= {"clusterIP": before, "clusterIPs": [before]} if before else {"type": "ExternalName"}
    place = Place("/services", "d", "s")
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "d", "uid": "1"}}
    await store.put(place, body | {"spec": spec}, 0)
    await ServiceAddresses(store, NOW).settle()
    found = store.get(place)
    assert found is not None
    after = found.load()["spec"]
    await store.close()
    if moves:
        assert ip_address(after["clusterIP"]) in NOW.services and after["clusterIPs"] == [after["clusterIP"]]
    else:
        assert after == spec


async def test_no_service_gets_the_address_of_the_api_or_of_the_names(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.db")
    addresses = ServiceAddresses(store, NOW)
    given = []
    for number in range(20):
        service: dict[str, Any] = {"metadata": {"uid": str(number)}, "spec": {"type": "ClusterIP"}}
        addresses.allocate(service)
        given.append(service["spec"]["clusterIP"])
    await store.close()
    assert len(set(given)) == 20 and not {NOW.api, NOW.names} & {*given}


async def test_clusters_of_one_machine_do_not_give_the_same_ports(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.db")
    given: list[int] = []
    for number in range(10):
        addresses = ServiceAddresses(store, read("10.80.0.0/16", f"10.81.{16 * number}.0/20"))
        spec: dict[str, Any] = {"type": "NodePort", "ports": [{"port": 80, "protocol": "TCP"} for _ in "ab"]}
        addresses.allocate({"metadata": {"uid": "1"}, "spec": spec})
        given += [port["nodePort"] for port in spec["ports"]]
    await store.close()
    assert len(set(given)) == 20 and all(30000 <= port <= 32767 for port in given)


async def test_a_pod_that_runs_keeps_its_address_and_one_that_does_not_is_moved(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    try:
        yard.run("sleep", "100", name="runs")
        yard.run("false", name="rests", restartPolicy="OnFailure")
        await yard.until(lambda: yard.now("runs").phase == "Running" and yard.log("rests") == "")
        await yard.until(lambda: "CrashLoopBackOff" in str(yard.now("rests").status))
        await yard.roster.close()
        elsewhere = on_loopback(99)
        yard.roster = Roster([NODE], elsewhere, replace(yard.shop))
        for pod in list(yard.shelf.pods.values()):
            yard.roster.changed(None, pod)
        addresses = {}
        for name in ("runs", "rests"):
            record = PodFolder(yard.home.pods(NODE) / f"uid-{name}").record()
            assert record is not None
            addresses[name] = ip_address(record.address)
        assert addresses["runs"] in RANGES.pods and addresses["rests"] in elsewhere.pods
    finally:
        await yard.close()

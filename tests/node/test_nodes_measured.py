"""What a node says it has, what it gives out, and when it is short of something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paddlecloud.api.core import Node
from paddlecloud.embedded.node import confines, devices, machine, nodestatus, pressure
from paddlecloud.embedded.node.confines import Confines
from paddlecloud.embedded.node.devices import Gpu
from paddlecloud.embedded.node.machine import Declared, Machine
from paddlecloud.embedded.node.nodestatus import Outlook
from paddlecloud.embedded.node.pressure import Reading

SECOND = "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
FIRST = (
    "31 24 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
    "32 24 0:28 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n"
    "33 24 0:29 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n"
)
CGROUP = "/sys/fs/cgroup"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, Confines()),
        ({"mountinfo": SECOND, "cgroup": "0::/"}, Confines()),
        (
            {
                "mountinfo": SECOND,
                "cgroup": "0::/a/b",
                f"{CGROUP}/a/b/memory.max": "max\n",
                f"{CGROUP}/a/memory.max": "1000\n",
                f"{CGROUP}/a/memory.current": "400\n",
                f"{CGROUP}/a/b/cpu.max": "150000 100000\n",
                f"{CGROUP}/a/cpu.max": "max 100000\n",
                f"{CGROUP}/a/b/pids.max": "50\n",
                f"{CGROUP}/a/b/pids.current": "8\n",
            },
            Confines(1.5, 1000, 600, 50, 42),
        ),
        (
            {
                "mountinfo": FIRST,
                "cgroup": "3:pids:/docker/abc\n2:cpu,cpuacct:/docker/abc\n1:memory:/docker/abc\n",
                f"{CGROUP}/memory/memory.limit_in_bytes": "2000\n",
                f"{CGROUP}/memory/memory.usage_in_bytes": "2500\n",
                f"{CGROUP}/cpu/cpu.cfs_quota_us": "-1\n",
                f"{CGROUP}/cpu/cpu.cfs_period_us": "100000\n",
                f"{CGROUP}/pids/pids.max": "max\n",
            },
            Confines(None, 2000, 0),
        ),
        (
            {
                "mountinfo": FIRST,
                "cgroup": "1:memory:/docker/abc\n",
                f"{CGROUP}/memory/memory.limit_in_bytes": "9223372036854771712\n",
            },
            Confines(),
        ),
    ],
    ids=["nothing", "no limit", "second version", "first version", "first without"],
)
def test_a_container_of_somebody_else_is_smaller_than_its_machine(
    files: dict[str, str], expected: Confines
) -> None:
    short = {"mountinfo": "/proc/self/mountinfo", "cgroup": "/proc/self/cgroup"}
    known = {short.get(name, name): text for name, text in files.items()}
    assert confines.confines(lambda path: known.get(path, "")) == expected


@pytest.mark.parametrize(
    ("cpus", "nodes", "cpu", "memory"),
    [
        ("8", 1, "8", 999_900),
        ("8", 3, "2666m", 333_300),
        ("2", 3, "1", 333_300),
        ("500m", 2, "500m", 499_950),
    ],
)
def test_nodes_of_one_machine_share_what_it_has(cpus: str, nodes: int, cpu: str, memory: int) -> None:
    capacity = {
        "cpu": cpus,
        "memory": f"{999_900 + machine.RESERVE}Ki",
        "ephemeral-storage": "1000Ki",
        "pods": "250",
    }
    assert machine.shared(capacity, nodes) == {
        "cpu": cpu,
        "memory": f"{memory}Ki",
        "ephemeral-storage": f"{900 // nodes}Ki",
        "pods": "250",
    }


def test_a_limited_container_has_the_capacity_of_its_limits(tmp_path: Path) -> None:
    found = machine.amounts(Confines(cpus=0.5, memory=64 << 20), 1 << 40, tmp_path)
    assert (found["cpu"], found["memory"]) == ("500m", f"{64 << 10}Ki")
    assert machine.amounts(Confines(), 1 << 30, tmp_path)["memory"] == f"{1 << 20}Ki"


ANSWER = "GPU-1, NVIDIA A100-SXM4-40GB, 40960\nGPU-2, NVIDIA A100-SXM4-40GB, [N/A]\n\n"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (f"printf '%s' '{ANSWER}'", ("GPU-1", "GPU-2")),
        ("echo 'NVIDIA-SMI has failed because it could not communicate with the driver'; exit 9", ()),
        ("echo 'No devices were found'", ()),
        (None, ()),
    ],
    ids=["two", "no driver", "none", "no program"],
)
def test_gpus_are_those_the_driver_tells(
    script: str | None, expected: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script is not None:
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin" if script else str(tmp_path))
    assert tuple(gpu.uuid for gpu in devices.gpus()) == expected


def test_no_gpu_is_counted_twice() -> None:
    found = [Gpu(f"GPU-{i}", "x") for i in range(4)]
    shares = [devices.share(found, 3, index) for index in range(3)]
    assert [len(share) for share in shares] == [2, 1, 1]
    assert sorted(gpu.uuid for share in shares for gpu in share) == [gpu.uuid for gpu in found]


WELL = Reading(8 << 30, 50 << 30, 100 << 30, 900, 1000, 30_000, 32_768)


@pytest.mark.parametrize(
    ("found", "short"),
    [
        (WELL, set()),
        (replace(WELL, memory=99 << 20), {"MemoryPressure"}),
        (replace(WELL, disk=1 << 30), {"DiskPressure"}),
        (replace(WELL, disk=5 << 30), set()),  # a twentieth of the disk, and enough
        (replace(WELL, disk=1 << 30, disk_total=4 << 30), set()),  # a small disk that is nearly empty
        (replace(WELL, inodes=40), {"DiskPressure"}),
        (replace(WELL, inodes=0, inodes_total=0), set()),  # a file system that does not count them
        (replace(WELL, pids=1000), {"PIDPressure"}),
    ],
)
def test_when_a_machine_is_short_of_something(found: Reading, short: set[str]) -> None:
    assert set(pressure.shortages(found)) == short


def test_a_shortage_is_over_when_it_was_not_seen_for_a_while() -> None:
    short = {"MemoryPressure": "3 MiB are available"}
    last = pressure.seen_last({}, short, 1000.0)
    assert pressure.seen_last(last, {}, 1299.0) == last
    assert pressure.seen_last(last, {}, 1301.0) == {}
    said = {c["type"]: (c["status"], c["message"]) for c in pressure.conditions(last, short)}
    assert said["MemoryPressure"][0] == "True" and "3 MiB" in said["MemoryPressure"][1]
    assert said["DiskPressure"] == ("False", "kubelet has no disk pressure")


def test_this_machine_can_be_read(tmp_path: Path) -> None:
    found = pressure.read(tmp_path)
    assert found.memory > 0 and 0 < found.disk <= found.disk_total and 0 < found.pids <= found.pids_total


MACHINE = Machine(
    {"cpu": "2", "memory": "8Ki", "ephemeral-storage": "1Ki", "pods": "9"},
    {"architecture": "amd64", "operatingSystem": "linux"},
    {"filesystem": "own root"},
    gpus=(Gpu("GPU-1", "x"),),
)
OUTLOOK = Outlook(("n1", "n2"), MACHINE, Declared(labels={"zone": "a"}), pressure.conditions({}, {}))


def made(outlook: Outlook = OUTLOOK, now: float = 1000.0, **more: Any) -> Node:
    node = nodestatus.wanted("n1", outlook, None, now)
    return node.but(**more)


def test_a_settled_node_is_written_once_in_five_minutes() -> None:
    known = made()
    for now, written in ((1010.0, False), (1299.0, False), (1300.0, True)):
        again = nodestatus.wanted("n1", OUTLOOK, known, now)
        patch = nodestatus.patch_of(known, again, now)
        assert bool(patch) == written
    kept = {c["type"]: c["lastTransitionTime"] for c in patch["status"]["conditions"]}
    assert set(kept.values()) == {"1970-01-01T00:16:40Z"}, "nothing changed but the time of the last word"


def test_a_change_is_written_at_once_and_told() -> None:
    known = made()
    short = {"DiskPressure": "1 MiB is free"}
    pressed = replace(OUTLOOK, pressures=pressure.conditions({"DiskPressure": 1.0}, short))
    node = nodestatus.wanted("n1", pressed, known, 1010.0)
    assert nodestatus.patch_of(known, node, 1010.0)["status"]["conditions"] == node.status["conditions"]
    assert nodestatus.news(known, node) == ["NodeHasDiskPressure"]
    [told] = [c for c in node.status["conditions"] if c["type"] == "DiskPressure"]
    assert told["lastTransitionTime"] == "1970-01-01T00:16:50Z"


def test_what_others_say_of_a_node_stays_and_what_they_doubt_is_put_right() -> None:
    doubted = [{**c, "status": "Unknown"} if c["type"] == "Ready" else c for c in made().status["conditions"]]
    others = {"type": "Cooled", "status": "True"}
    known = made(status={**made().status, "conditions": [others, *doubted]})
    node = nodestatus.wanted("n1", OUTLOOK, known, 1010.0)
    assert nodestatus.patch_of(known, node, 1010.0)
    assert {"Cooled": "True", "Ready": "True"}.items() <= {
        c["type"]: c["status"] for c in node.status["conditions"]
    }.items()
    assert nodestatus.news(known, node) == ["NodeReady"]


def test_what_is_no_longer_declared_goes_and_what_others_put_there_stays() -> None:
    known = made(replace(OUTLOOK, declared=Declared(2, {"zone": "a", "rack": "7"})))
    known.metadata.labels["mine"] = "too"
    assert known.status["capacity"]["nvidia.com/gpu"] == "2"
    later = replace(OUTLOOK, machine=replace(MACHINE, gpus=()))
    patch = nodestatus.patch_of(known, nodestatus.wanted("n1", later, known, 1010.0), 1010.0)
    assert patch["metadata"]["labels"] == {"rack": None}
    assert patch["metadata"]["annotations"] == {nodestatus.DECLARED_LABELS: "zone"}
    assert patch["status"]["capacity"]["nvidia.com/gpu"] is None
    assert "PretendedDevices" not in {c["type"] for c in patch["status"]["conditions"]}


def test_pretended_gpus_are_said_to_be_pretended() -> None:
    node = made(replace(OUTLOOK, declared=Declared(3)))
    assert node.status["allocatable"]["nvidia.com/gpu"] == "3"
    [said] = [c for c in node.status["conditions"] if c["type"] == "PretendedDevices"]
    assert said["status"] == "True" and "not there" in said["message"]
    assert made().status["capacity"]["nvidia.com/gpu"] == "1", "the real one is counted without that"

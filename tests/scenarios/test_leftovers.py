"""However a pod dies, nothing of it is left but its log: no process, mount, control group, link or file."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.manifests import Body, pod
from tests.scenarios.pdc_home import PdcHome, all_pids, fresh_home, proc_file

from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Key
from paddlecloud.cluster import requests
from paddlecloud.embedded.node.sandbox import levels
from paddlecloud.embedded.node.sandbox.survey import group_bases
from paddlecloud.embedded.node.volumes import memory
from paddlecloud.sdk.client import Client

STAYS = "trap 'exit 0' TERM; sleep 600 & wait"
DEAF = "trap '' TERM HUP INT; while :; do sleep 600 & wait; done"
DAEMON = "(setsid sh -c \"trap '' TERM; sleep 600\" &) ; "
MEMORY_VOLUME: Body = {
    "volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}, {"name": "d", "emptyDir": {}}],
    "container": {
        "volumeMounts": [{"name": "v", "mountPath": "/in/memory"}, {"name": "d", "mountPath": "/in/folder"}]
    },
}


def probed(script: str) -> Body:
    probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}
    return pod("", script, container={"livenessProbe": probe}, terminationGracePeriodSeconds=1)


def with_init(script: str, **more: Any) -> Body:
    made = pod("", STAYS)
    first = {**made["spec"]["containers"][0], "name": "first", "command": ["sh", "-c", script], **more}
    made["spec"]["initContainers"] = [first]
    return made


ENDS: dict[str, Body] = {
    "well": pod("", "true"),
    "badly": pod("", "exit 3"),
    "by-signal": pod("", "kill -9 $$"),
    "unknown-command": pod("", "", container={"command": ["/no/such/program"]}),
    "out-of-memory": pod("", "tail /dev/zero", container={"resources": {"limits": {"memory": "32Mi"}}}),
    "too-late": pod("", DEAF, activeDeadlineSeconds=1, terminationGracePeriodSeconds=1),
    "failed-probe": probed(STAYS),
    "failed-first": with_init("exit 4"),
    "with-daemon": pod("", DAEMON + "exit 0"),
    "with-volumes": pod("", "echo x > /in/memory/x; mkdir -m 0 /in/folder/closed", **MEMORY_VOLUME),
}
"""Pods that come to an end by themselves."""
STAY: dict[str, Body] = {
    "asked": pod("", STAYS),
    "deaf": pod("", DEAF, terminationGracePeriodSeconds=1),
    "forced": pod("", DEAF),
    "evicted": pod("", STAYS),
    "daemon": pod("", DAEMON + STAYS),
    "limited": pod("", STAYS, container={"resources": {"limits": {"memory": "64Mi", "cpu": "1"}}}),
    "volumes": pod("", STAYS, **MEMORY_VOLUME),
    "sidecar": with_init(STAYS, restartPolicy="Always"),
    "crashing": pod("", "exit 1", restartPolicy="Always"),
    "no-image": pod("", STAYS, container={"image": "nobody/knows:1"}),
    "headless": pod("", STAYS),
}
"""Pods that somebody has to end; *headless* loses its shim."""


@pytest.fixture
def home() -> Iterator[PdcHome]:
    with fresh_home() as made:
        made.ok("up", "--detach")
        yield made


def test_nothing_is_left_of_pods_that_died_in_every_way_even_of_a_killed_platform(home: PdcHome) -> None:
    with home.client() as client:
        make(client, {"first": pod("", "true")})
        until(lambda: phases(client) == {"first": "Succeeded"}, what="the first pod", limit=60)
        end(client, "first")
        until(lambda: not phases(client) and not traces(home)["folders"], what="its end", limit=60)
        clean = traces(home)

        uids = make(client, {**ENDS, **STAY})
        until(lambda: all(finished(client, name) for name in ENDS), what="the ends of pods", limit=120)
        running = STAY.keys() - {"crashing", "no-image"}
        until(lambda: all(phases(client)[n] == "Running" for n in running), what="running pods", limit=60)
        os.kill(shim_of(home, client.get(Pod, "default", "headless")), signal.SIGKILL)
        until(lambda: finished(client, "headless"), what="the end of a pod without its shim", limit=60)

        names = sorted(phases(client))
        for name in names[::2]:
            end(client, name)
        for victim in (home.pid("node"), home.supervisor):
            os.kill(victim, signal.SIGKILL)
    home.ok("up", "--detach")
    with home.client() as client:
        for name in names[1::2]:
            end(client, name)
        until(lambda: not phases(client), what="the end of all pods", limit=120)
    try:
        until(lambda: not difference(home, clean), what="no trace of pods", limit=30)
    except TimeoutError as error:
        raise TimeoutError(f"{error}: {difference(home, clean)}") from None
    assert not [p for p in all_pids() if any(uid in proc_file(p, "environ") for uid in uids)]

    home.ok("down")
    home.wait_until_empty()
    assert not groups(home), "the control groups of the cluster itself"
    assert not memory.path_of(home.home.root, memory.SHARED).exists()


def make(client: Client, bodies: dict[str, Body]) -> list[bytes]:
    """The uids of the pods, as they stand in the environment of each of their processes."""
    uids = []
    for name, body in bodies.items():
        metadata = {**body["metadata"], "name": name, "namespace": "default"}
        uids.append(client.create(Pod.read({**body, "metadata": metadata})).uid.encode())
    return uids


def end(client: Client, name: str) -> None:
    if name == "evicted":
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        path = requests.path_of(Pod, Key("default", name), "eviction")
        client.request(requests.write("POST", path, eviction))
        return
    client.delete(Pod, Key("default", name), grace=0 if name == "forced" else None)


def phases(client: Client) -> dict[str, str]:
    return {found.name: found.phase for found in client.list(Pod, "default").items}


def finished(client: Client, name: str) -> bool:
    return phases(client)[name] in ("Succeeded", "Failed")


def shim_of(home: PdcHome, found: Pod) -> int:
    run = home.home.pods(found.node) / found.uid / "containers" / "main" / "0"
    return int(json.loads((run / "state.json").read_text())["shim"])


def traces(home: PdcHome) -> dict[str, Any]:
    """What pods leave traces in; names of processes, because the platform may have been started anew."""
    folders = [path for node in (home.home.root / "nodes").iterdir() for path in node.glob("pods/*")]
    shared = memory.path_of(home.home.root, memory.SHARED)
    links = home.home.root / "links.json"
    return {
        "processes": len(home.processes()),
        "mounts": [line for line in mounts() if str(home.home.root) in line],
        "groups": groups(home),
        "folders": folders,
        "memory": sorted(shared.iterdir()) if shared.is_dir() else [],
        "links": json.loads(links.read_text()) if links.exists() else {},
    }


def difference(home: PdcHome, clean: dict[str, Any]) -> dict[str, Any]:
    return {key: found for key, found in traces(home).items() if found != clean[key]}


def mounts() -> list[str]:
    return Path("/proc/self/mountinfo").read_text().splitlines()


def groups(home: PdcHome) -> list[str]:
    """The control groups below those of the home."""
    found = levels.kept(home.home.run / levels.FILE)
    bases = group_bases(found, home.home).values() if found else ()
    return sorted(str(path) for base in set(bases) for path in Path(base).glob("*/"))

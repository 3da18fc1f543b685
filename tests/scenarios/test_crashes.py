"""Any process of the platform may be killed at any moment: what was promised stays, what runs goes on."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.manifests import job, pod
from tests.scenarios.pdc_home import PdcHome, fresh_home, is_alive, parent, proc_file

from paddlecloud.api.core import ConfigMap, Pod
from paddlecloud.api.meta import Metadata
from paddlecloud.api.workflowrun import WorkflowRun
from paddlecloud.controllers.workflowrun import RUN_LABEL
from paddlecloud.errors import PaddleCloudError
from paddlecloud.sdk.client import Client

PARTS = ("api", "controllers", "node", "gateway")
STEPS = 8
COUNTER = "trap 'exit 0' TERM; i=0; while :; do i=$((i+1)); echo line $i; sleep 0.05; done"


@pytest.fixture(scope="module")
def platform() -> Iterator[PdcHome]:
    """A cluster of its own: nobody else should see it die."""
    with fresh_home() as home:
        home.ok("up", "--detach")
        yield home


def container_pid(home: PdcHome, name: str) -> int:
    """The first process of the pod's container, from its environment."""
    marks = f"POD_NAME={name}\0".encode()
    found = [p for p in home.processes() if marks in proc_file(p, "environ")]
    # Not the smallest number: those begin anew when the kernel has used them all.
    return next(p for p in found if parent(p) not in (0, *found))


def kill_and_wait(home: PdcHome, *parts: str) -> None:
    """Kill the parts at once and wait until the supervisor has replaced each."""
    before = {part: home.pid(part) for part in parts}
    for pid in before.values():
        os.kill(pid, signal.SIGKILL)

    def replaced() -> bool:
        return all(home.pid(part) not in (0, pid) for part, pid in before.items())

    until(replaced, what=f"new processes for {', '.join(parts)}")
    until(lambda: home.pdc("get", "nodes").code == 0, what="an API that answers")


def counted(home: PdcHome, name: str) -> list[int]:
    """The numbers in the log of a counting pod."""
    return [int(line.split()[1]) for line in home.ok("logs", name).splitlines()]


def start_counter(home: PdcHome, name: str) -> int:
    home.apply(pod(name, COUNTER))
    home.ok("wait", f"pod/{name}", "--for", "Running", "--timeout", "120")
    return container_pid(home, name)


@pytest.mark.parametrize("parts", [*((p,) for p in PARTS), PARTS], ids=[*PARTS, "all"])
def test_a_killed_part_is_replaced_and_pods_do_not_notice(
    platform: PdcHome, name: str, parts: tuple[str, ...]
) -> None:
    pid = start_counter(platform, name)
    platform.apply(job(name, "sleep 1; echo done"))

    kill_and_wait(platform, *parts)

    platform.ok("wait", f"job/{name}", "--for", "Completed", "--timeout", "120")
    assert is_alive(pid) and container_pid(platform, name) == pid
    seen = counted(platform, name)
    assert seen == list(range(1, len(seen) + 1)), "the log has a hole"
    platform.ok("delete", f"pod/{name}")
    until(lambda: not is_alive(pid), what="the end of the container")


def test_nothing_acknowledged_is_lost_when_the_api_is_killed(platform: PdcHome, name: str) -> None:
    acknowledged: list[str] = []
    enough = threading.Event()
    with platform.client() as client, ThreadPoolExecutor(1) as threads:
        writer = threads.submit(write_until, enough, client, name, acknowledged)
        try:
            until(lambda: len(acknowledged) >= 40, what="some writes")
            # In the middle of a burst: the writer never pauses.
            kill_and_wait(platform, "api")
            after = len(acknowledged)
            until(lambda: len(acknowledged) >= after + 40, what="writes to the new API")
        finally:
            enough.set()
        writer.result()
        there = {c.name for c in client.list(ConfigMap, "default").items}

    assert set(acknowledged) <= there


def write_until(enough: threading.Event, client: Client, name: str, acknowledged: list[str]) -> None:
    """Create one object after the other; only what the server confirmed counts."""
    for number in itertools.count():
        if enough.is_set():
            return
        settings = ConfigMap(metadata=Metadata(name=f"{name}-{number}", namespace="default"))
        with contextlib.suppress(PaddleCloudError):
            acknowledged.append(client.create(settings).name)


def test_a_killed_supervisor_takes_its_parts_along_and_the_next_one_finds_the_pods(
    platform: PdcHome, name: str
) -> None:
    pid = start_counter(platform, name)
    platform.apply(job(f"{name}-train", "sleep 3; echo trained"))
    platform.ok("wait", f"job/{name}-train", "--for", "Running", "--timeout", "120")
    parts = [platform.pid(part) for part in PARTS]

    os.kill(platform.supervisor, signal.SIGKILL)
    # At once: the new supervisor itself waits for the orphans to end.
    platform.ok("up", "--detach")

    assert not any(is_alive(p) for p in parts)
    platform.ok("wait", f"job/{name}-train", "--for", "Completed", "--timeout", "120")
    assert is_alive(pid) and container_pid(platform, name) == pid
    seen = counted(platform, name)
    assert seen == list(range(1, len(seen) + 1)), "the log has a hole"
    with platform.client() as client:
        [status] = client.get(Pod, "default", name).status["containerStatuses"]
    assert status["restartCount"] == 0


def test_all_processes_killed_at_once_cost_nothing(platform: PdcHome, name: str) -> None:
    pid = start_counter(platform, name)
    platform.apply(job(f"{name}-train", "sleep 2; echo trained"))

    for victim in (platform.supervisor, *(platform.pid(part) for part in PARTS)):
        os.kill(victim, signal.SIGKILL)
    assert platform.pdc("get", "pods").code == 3
    platform.ok("up", "--detach")

    platform.ok("wait", f"job/{name}-train", "--for", "Completed", "--timeout", "120")
    assert is_alive(pid) and container_pid(platform, name) == pid


def test_a_pipeline_goes_on_and_no_step_of_it_runs_twice(
    platform: PdcHome, name: str, tmp_path: Path
) -> None:
    work = {"image": "busybox", "command": ["sh", "-c", "sleep 0.3; echo ran"]}
    steps = [{"name": f"s{n}", **work, "after": [f"s{n - 1}"] if n else []} for n in range(STEPS)]
    file = tmp_path / "chain.json"
    file.write_text(json.dumps({"name": "chain", "steps": steps}))
    platform.ok("pipeline", "run", str(file), "--name", name, "-n", "default", "--detach")

    with platform.client() as client:
        for far, parts in enumerate((("controllers",), ("api",), PARTS), 1):
            until(lambda far=far: done_of(client, name) >= far, what="another step")  # type: ignore[misc]
            kill_and_wait(platform, *parts)
        platform.ok("pipeline", "show", name, "-n", "default", "--watch")
        pods = client.list(Pod, "default", labels={RUN_LABEL: name}).items

    assert sorted(p.name for p in pods) == [f"{name}-s{n}" for n in range(STEPS)]
    assert {c["restartCount"] for p in pods for c in p.status["containerStatuses"]} == {0}
    assert {platform.ok("logs", p.name) for p in pods} == {"ran\n"}


def done_of(client: Client, name: str) -> float:
    with contextlib.suppress(PaddleCloudError):
        far = client.get(WorkflowRun, "default", name).status.progress
        return far.done if far else 0
    return 0


def test_down_ends_pods_that_outlived_their_supervisor(platform: PdcHome, name: str) -> None:
    pid = start_counter(platform, name)
    os.kill(platform.supervisor, signal.SIGKILL)

    assert platform.ok("down").startswith("stopped")
    # A killed process may take a moment to die where all processors are busy.
    until(lambda: not is_alive(pid), what="the end of the pod", limit=10)
    platform.wait_until_empty()
    platform.ok("up", "--detach")

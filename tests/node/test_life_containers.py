"""The life of containers in whole pods: probes, hooks, sidecars, deadlines. Real processes, real files."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.node.pod_yard import NODE, Yard

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node import procfs

SERVE = "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done"
STUBBORN = "trap '' TERM; echo up; while :; do sleep 0.05; done"


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    it = Yard(tmp_path)
    yield it
    await it.close()


def home(yard: Yard) -> Path:
    return yard.home.pods(NODE) / yard.now().uid / "home"


def status(yard: Yard, name: str = "main") -> dict[str, Any]:
    found = yard.now().status
    every = (*(found.get("initContainerStatuses") or ()), *(found.get("containerStatuses") or ()))
    return next((dict(s) for s in every if s["name"] == name), {"state": {}, "restartCount": 0})


def messages(yard: Yard, reason: str) -> list[str]:
    return [e.message for e in yard.shelf.events if e.reason == reason]


def pid_of(yard: Yard, container: str = "main") -> int:
    folder = yard.roster.find("d", "p")
    assert folder is not None
    return folder.attempts(container)[-1].pid


def alive(pid: int) -> bool:
    try:
        return procfs.stat_fields(pid)[0] not in "ZX"
    except OSError:
        return False


def deleted(pod: Pod, grace: float) -> Pod:
    until = datetime.fromtimestamp(time.time() + grace, UTC)
    return pod.but(metadata=pod.metadata.but(deletion_timestamp=until))


def command(text: str, **more: Any) -> dict[str, Any]:
    return {"exec": {"command": ["sh", "-c", text]}, "periodSeconds": 0.1, "failureThreshold": 2, **more}


def beside(name: str, script: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "image": "tried", "command": ["sh", "-c", script], "restartPolicy": "Always", **more
    }  # fmt: skip


async def test_a_container_that_fails_its_liveness_probe_is_restarted(yard: Yard) -> None:
    probe = command("test ! -e $HOME/sick", timeoutSeconds=5)
    yard.run("sh", "-c", f"rm -f $HOME/sick; {SERVE}", restartPolicy="Always",
             container={"livenessProbe": probe})  # fmt: skip
    await yard.until(lambda: yard.log() and yard.now().ready)
    (home(yard) / "sick").touch()
    await yard.until(lambda: status(yard)["restartCount"] == 1 and yard.now().ready)
    assert "Liveness probe failed: exit code 1" in messages(yard, "Unhealthy")
    assert messages(yard, "Killing") == ["Container main failed liveness probe, will be restarted"]
    assert status(yard)["lastState"]["terminated"]["exitCode"] == 0


async def test_nothing_else_is_asked_before_the_startup_probe_has_succeeded(yard: Yard) -> None:
    yard.run("sh", "-c", SERVE, restartPolicy="Always", container={
        "startupProbe": command("test -e $HOME/begun", failureThreshold=1000, timeoutSeconds=5),
        "livenessProbe": command("echo l >> $HOME/asked", timeoutSeconds=5),
        "readinessProbe": command("true", timeoutSeconds=5),
    })  # fmt: skip
    await yard.until(lambda: "Unhealthy" in yard.reasons() and yard.now().phase == "Running")
    assert status(yard)["started"] is False and not yard.now().ready
    assert not (home(yard) / "asked").exists()
    (home(yard) / "begun").touch()
    await yard.until(lambda: yard.now().ready and (home(yard) / "asked").exists())
    assert status(yard)["started"] is True


async def test_a_container_that_never_starts_up_is_restarted(yard: Yard) -> None:
    probe = command("false", timeoutSeconds=5)
    yard.run("sh", "-c", SERVE, restartPolicy="Always", container={"startupProbe": probe})
    await yard.until(lambda: status(yard)["restartCount"] == 1)
    assert "Container main failed startup probe, will be restarted" in messages(yard, "Killing")


async def test_a_new_node_process_takes_nobody_out_of_service(yard: Yard) -> None:
    yard.run("sh", "-c", SERVE, container={
        "startupProbe": command("test -e $HOME/begun", failureThreshold=1000, timeoutSeconds=5),
        "readinessProbe": command("test -e $HOME/begun", periodSeconds=60, timeoutSeconds=5),
    })  # fmt: skip
    await yard.until(lambda: yard.now().phase == "Running")
    (home(yard) / "begun").touch()
    await yard.until(lambda: yard.now().ready)
    writes = yard.shelf.writes["p"]
    await yard.restart()
    yard.run("true", name="beside")
    await yard.finished("beside")
    assert yard.now().ready and yard.shelf.writes["p"] == writes


def storyteller(name: str) -> dict[str, Any]:
    """A sidecar that writes down its start and its end, and is up once it has."""
    script = (
        f"echo {name} >> $HOME/order; trap 'echo -{name} >> $HOME/order; exit 0' TERM; touch $HOME/{name}; "
        "while :; do sleep 0.05; done"
    )
    probe = command(f"test -e $HOME/{name}", failureThreshold=99, timeoutSeconds=5)
    return beside(name, script, startupProbe=probe)


async def test_sidecars_come_up_one_after_the_other_and_end_in_reverse(yard: Yard) -> None:
    between = {"name": "between", "image": "tried", "command": ["sh", "-c", "echo between >> $HOME/order"]}
    first = [storyteller("first"), between, storyteller("second")]
    yard.run("sh", "-c", "echo main >> $HOME/order", initContainers=first)
    pod = await yard.finished()
    assert pod.phase == "Succeeded"
    order = (home(yard) / "order").read_text().split()
    assert order == ["first", "between", "second", "main", "-second", "-first"]
    assert status(yard, "first")["state"]["terminated"]["exitCode"] == 0


async def test_a_sidecar_that_ends_comes_back_and_does_not_hold_up_the_others(yard: Yard) -> None:
    helper = beside("helper", "echo x >> $HOME/runs; test $(wc -l < $HOME/runs) -gt 1 && exec sleep 600")
    yard.run("sh", "-c", SERVE, initContainers=[helper], restartPolicy="Never")
    await yard.until(lambda: status(yard, "helper")["restartCount"] == 1 and yard.now().ready)
    assert status(yard)["restartCount"] == 0 and yard.now().phase == "Running"


async def test_a_failed_init_container_of_a_pod_that_is_never_restarted_ends_it(yard: Yard) -> None:
    helper = beside("helper", SERVE)
    broken = {"name": "broken", "image": "tried", "command": ["false"]}
    yard.run("true", initContainers=[helper, broken])
    pod = await yard.finished()
    assert pod.phase == "Failed"
    assert status(yard, "helper")["state"]["terminated"]["exitCode"] == 0
    assert "waiting" in status(yard)["state"]


async def test_hooks_run_after_the_start_and_before_the_end(yard: Yard) -> None:
    hooks = {
        "postStart": {"exec": {"command": ["sh", "-c", "echo begun >> $HOME/story"]}},
        "preStop": {"exec": {"command": ["sh", "-c", "echo ending >> $HOME/story; cp $HOME/story $TARGET"]}},
    }
    script = (
        "trap 'echo ended >> $HOME/story; cp $HOME/story $TARGET; exit 0' TERM; while :; do sleep 0.05; done"
    )
    target = yard.home.root / "story"
    yard.run("sh", "-c", script, restartPolicy="Always",
             container={"lifecycle": hooks, "env": [{"name": "TARGET", "value": str(target)}]})  # fmt: skip
    await yard.until(lambda: yard.now().ready)
    assert (home(yard) / "story").read_text() == "begun\n"
    yard.shelf.put(deleted(yard.now(), 30))
    await yard.until(lambda: not yard.shelf.pods)
    assert target.read_text() == "begun\nending\nended\n"


async def test_a_pre_stop_hook_that_hangs_uses_up_the_grace_and_no_more(yard: Yard) -> None:
    yard.run("sh", "-c", SERVE, container={"lifecycle": {"preStop": {"sleep": {"seconds": 600}}}})
    await yard.until(lambda: yard.log() and yard.now().ready)
    pid = pid_of(yard)
    yard.shelf.put(deleted(yard.now(), 1))
    await yard.until(lambda: not yard.shelf.pods)
    assert not alive(pid)


async def test_a_container_whose_post_start_hook_fails_is_ended(yard: Yard) -> None:
    hook = {"postStart": {"exec": {"command": ["sh", "-c", "echo no; exit 1"]}}}
    yard.run("sh", "-c", SERVE, container={"lifecycle": hook})
    pod = await yard.finished()
    assert pod.phase == "Succeeded"
    assert messages(yard, "FailedPostStartHook") == ["PostStartHook failed: no"]


async def test_a_pod_that_is_active_for_too_long_fails(yard: Yard) -> None:
    yard.run("sh", "-c", SERVE, activeDeadlineSeconds=1, restartPolicy="Always")
    pod = await yard.finished()
    assert (pod.phase, pod.status["reason"]) == ("Failed", "DeadlineExceeded")
    assert pod.status["message"] == "Pod was active on the node longer than the specified deadline"
    assert "DeadlineExceeded" in yard.reasons()
    assert status(yard)["state"]["terminated"]["exitCode"] == 0


async def test_the_log_speaks_for_a_container_that_left_no_message(yard: Yard) -> None:
    policy = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    yard.run("sh", "-c", "echo one; echo two >&2; exit 1", container=policy)
    await yard.finished()
    assert sorted(status(yard)["state"]["terminated"]["message"].split()) == ["one", "two"]
    yard.run("sh", "-c", "echo fine", name="q", container=policy)
    assert "message" not in (await yard.finished("q")).status["containerStatuses"][0]["state"]["terminated"]


async def test_a_stop_that_was_begun_is_taken_up_by_the_next_node_process(yard: Yard) -> None:
    probe = command("test ! -e $HOME/sick", timeoutSeconds=5, terminationGracePeriodSeconds=1)
    yard.run("sh", "-c", f"rm -f $HOME/sick; {STUBBORN}", restartPolicy="Always",
             container={"livenessProbe": probe})  # fmt: skip
    await yard.until(lambda: yard.log() and yard.now().ready)
    stubborn = pid_of(yard)
    (home(yard) / "sick").touch()
    await yard.until(lambda: "Killing" in yard.reasons())
    (home(yard) / "sick").unlink()
    await yard.restart()
    await yard.until(lambda: status(yard)["restartCount"] == 1 and not alive(stubborn))


async def test_readiness_waits_for_the_gates_of_the_pod(yard: Yard) -> None:
    yard.run("sh", "-c", SERVE, readinessGates=[{"conditionType": "example.com/open"}])
    await yard.until(lambda: yard.now().condition("ContainersReady"))
    found = next(c for c in yard.now().status["conditions"] if c["type"] == "Ready")
    assert found["reason"] == "ReadinessGatesNotReady" and not yard.now().ready
    pod = yard.now()
    gate = {"type": "example.com/open", "status": "True"}
    yard.shelf.put(pod.but(status={**pod.status, "conditions": [*pod.status["conditions"], gate]}))
    await yard.until(lambda: yard.now().ready)

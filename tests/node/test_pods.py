"""Whole pods on a node whose API is a dictionary: real processes, real files."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.node.pod_yard import NODE, Yard

from paddlecloud.api.core import ConfigMap, Pod
from paddlecloud.embedded.node import procfs
from paddlecloud.embedded.node.closing import stop_all


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    it = Yard(tmp_path)
    yield it
    await it.close()


def alive(pid: int) -> bool:
    try:
        return procfs.stat_fields(pid)[0] not in "ZX"
    except OSError:
        return False


def pid_of(yard: Yard) -> int:
    folder = yard.roster.find("d", "p")
    assert folder is not None
    return folder.attempts("main")[-1].pid


def deleted(pod: Pod, grace: float) -> Pod:
    until = datetime.fromtimestamp(time.time() + grace, UTC)
    return pod.but(metadata=pod.metadata.but(deletion_timestamp=until))


async def test_a_pod_runs_to_its_end_and_tells_its_story(yard: Yard) -> None:
    yard.run("sh", "-c", "echo $COLOUR $POD_NAME $POD_IP; exit 3")
    pod = await yard.finished()
    assert pod.phase == "Failed"
    assert pod.status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3
    assert yard.log() == f"red p {pod.ip}\n"
    assert pod.ip.startswith("127.213.")
    assert yard.reasons() == ["Pulled", "Created", "Started"]


async def test_the_entry_point_of_the_suite_runs_on_a_copy_of_its_code(yard: Yard) -> None:
    yard.run(container={"args": ["/dev/null"]})
    assert (await yard.finished()).phase == "Succeeded"
    assert yard.log() == "hello from the suite\n"


async def test_what_a_container_writes_beside_the_code_stays_out_of_the_suite(yard: Yard) -> None:
    yard.run("sh", "-c", "pwd; echo changed > greeting.txt")
    await yard.finished()
    assert yard.log().strip().endswith("/code")
    assert (yard.suites / "tried" / "code" / "greeting.txt").read_text() == "hello from the suite\n"


async def test_containers_of_a_pod_share_its_volumes_by_their_own_paths(yard: Yard) -> None:
    init = {
        "name": "first",
        "image": "tried",
        "command": ["sh", "-c", "echo shared > /in/file"],
        "volumeMounts": [{"name": "v", "mountPath": "/in"}],
    }
    yard.run(
        "cat",
        "/out/file",
        initContainers=[init],
        volumes=[{"name": "v", "emptyDir": {}}],
        container={"volumeMounts": [{"name": "v", "mountPath": "/out"}]},
    )
    assert (await yard.finished()).phase == "Succeeded"
    assert yard.log() == "shared\n"


async def test_the_termination_message_reaches_the_status(yard: Yard) -> None:
    yard.run("sh", "-c", "echo why > /dev/termination-log; exit 1")
    state = (await yard.finished()).status["containerStatuses"][0]["state"]
    assert state["terminated"]["message"] == "why\n"


async def test_a_missing_configmap_is_waited_for(yard: Yard) -> None:
    volumes = [{"name": "v", "configMap": {"name": "settings"}}]
    yard.run("cat", "/etc/settings/a", volumes=volumes, container={
        "volumeMounts": [{"name": "v", "mountPath": "/etc/settings"}]
    })  # fmt: skip
    await yard.until(lambda: "FailedMount" in yard.reasons())
    await yard.until(lambda: yard.now().status.get("containerStatuses"))
    waiting = yard.now().status["containerStatuses"][0]["state"]["waiting"]
    assert 'configmap "settings" not found' in waiting["message"]
    yard.shelf.others[ConfigMap, "settings"] = ConfigMap.read(
        {"metadata": {"name": "settings"}, "data": {"a": "there now"}}
    )
    assert (await yard.finished()).phase == "Succeeded"
    assert yard.log() == "there now"


async def test_a_missing_key_for_a_variable_is_waited_for(yard: Yard) -> None:
    source = {"configMapKeyRef": {"name": "settings", "key": "a"}}
    yard.run("sh", "-c", "echo $A", container={"env": [{"name": "A", "valueFrom": source}]})
    await yard.until(lambda: "CreateContainerConfigError" in str(yard.now().status.get("containerStatuses")))
    yard.shelf.others[ConfigMap, "settings"] = ConfigMap.read(
        {"metadata": {"name": "settings"}, "data": {"a": "1"}}
    )
    await yard.finished()
    assert yard.log() == "1\n"


async def test_an_unknown_image_is_reported_with_what_exists(yard: Yard) -> None:
    yard.run("true", container={"image": "127.0.0.1:1/tried:1"})
    await yard.until(lambda: "ErrImagePull" in str(yard.now().status))
    waiting = yard.now().status["containerStatuses"][0]["state"]["waiting"]
    assert 'Failed to pull image "127.0.0.1:1/tried:1"' in waiting["message"]
    assert "did you mean tried?" in waiting["message"]
    assert yard.now().phase == "Pending"
    await yard.until(lambda: "ImagePullBackOff" in str(yard.now().status))
    assert {"Pulling", "Failed", "BackOff"} <= set(yard.reasons())


async def test_an_image_that_is_missing_keeps_only_its_own_container_from_running(yard: Yard) -> None:
    missing = {"name": "other", "image": "127.0.0.1:1/missing", "imagePullPolicy": "Never"}
    first = {"name": "first", "image": "tried", "command": ["true"]}
    main = {"name": "main", "image": "tried", "command": ["sh", "-c", "echo up; exec sleep 600"]}
    yard.run(containers=[main, missing], initContainers=[first])
    wanted = ("ErrImageNeverPull", "running")
    await yard.until(lambda: all(w in str(yard.now().status.get("containerStatuses")) for w in wanted))
    states = {s["name"]: s["state"] for s in yard.now().status["containerStatuses"]}
    assert "running" in states["main"] and states["other"]["waiting"]["reason"] == "ErrImageNeverPull"
    assert yard.now().phase == "Pending" and not yard.now().ready


async def test_a_crashing_container_is_restarted_at_once_the_first_time_and_keeps_its_last_log(
    yard: Yard,
) -> None:
    yard.run("sh", "-c", "test -e $HOME/again || { touch $HOME/again; exit 1; }", restartPolicy="OnFailure")
    pod = await yard.finished()
    assert pod.phase == "Succeeded"
    status = pod.status["containerStatuses"][0]
    assert status["restartCount"] == 1 and status["lastState"]["terminated"]["exitCode"] == 1


async def test_a_container_that_crashes_again_waits_and_says_so(yard: Yard) -> None:
    yard.run("false", restartPolicy="Always")
    await yard.until(lambda: "BackOff" in yard.reasons())
    status = yard.now().status["containerStatuses"][0]
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    expected = "back-off 10s restarting failed container=main pod=p_d(uid-p)"
    assert status["state"]["waiting"]["message"] == expected
    assert status["restartCount"] == 1 and yard.now().phase == "Running"


async def test_a_deleted_pod_is_asked_to_stop_and_leaves_nothing(yard: Yard) -> None:
    yard.run("sh", "-c", "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done")
    await yard.until(lambda: yard.log() == "up\n" and yard.now().ready)
    pid = pid_of(yard)
    yard.shelf.put(deleted(yard.now(), 30))
    await yard.until(lambda: not yard.shelf.pods)
    assert not alive(pid)
    assert not list(yard.home.pods(NODE).iterdir())
    assert "Killing" in yard.reasons()


async def test_a_pod_that_left_the_api_without_notice_is_stopped(yard: Yard) -> None:
    yard.run("sleep", "600")
    await yard.until(lambda: yard.now().ready)
    pid = pid_of(yard)
    yard.shelf.delete(yard.now())
    await yard.until(lambda: not alive(pid) and not list(yard.home.pods(NODE).iterdir()))


async def test_a_new_node_process_finds_its_pods_running(yard: Yard) -> None:
    yard.run("sh", "-c", "echo up; sleep 0.5; echo still")
    await yard.until(lambda: yard.now().phase == "Running" and yard.log())
    pid, address = pid_of(yard), yard.now().ip
    await yard.restart()
    assert alive(pid) and pid_of(yard) == pid
    pod = await yard.finished()
    assert pod.phase == "Succeeded" and pod.ip == address
    assert yard.log() == "up\nstill\n"


async def test_an_end_nobody_watched_is_reported_afterwards(yard: Yard) -> None:
    yard.run("sh", "-c", "echo up; sleep 0.2; exit 4")
    await yard.until(lambda: yard.now().phase == "Running")
    pid = pid_of(yard)
    await yard.roster.close()
    await yard.until(lambda: not alive(pid))
    assert yard.now().phase == "Running"
    yard.start()
    pod = await yard.finished()
    assert pod.status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 4


async def test_pods_deleted_while_no_node_ran_are_swept_at_its_start(yard: Yard) -> None:
    yard.run("sleep", "600")
    await yard.until(lambda: yard.now().ready)
    pid = pid_of(yard)
    await yard.roster.close()
    yard.shelf.pods.clear()
    yard.start()
    await yard.until(lambda: not alive(pid) and not list(yard.home.pods(NODE).iterdir()))


async def test_a_new_pod_of_the_old_name_is_another_pod(yard: Yard) -> None:
    yard.run("sleep", "600")
    await yard.until(lambda: yard.now().ready)
    pid = pid_of(yard)
    yard.run("sh", "-c", "echo second", uid="another")
    pod = await yard.finished()
    assert pod.uid == "another" and pod.phase == "Succeeded"
    await yard.until(lambda: not alive(pid))


async def test_a_settled_pod_costs_no_writes(yard: Yard) -> None:
    yard.run("sleep", "600")
    await yard.until(lambda: yard.now().ready)
    settled = yard.shelf.writes["p"]
    for turn in range(3):
        yard.shelf.put(yard.now())
        yard.run("true", name=f"beside-{turn}")
        await yard.finished(f"beside-{turn}")
    assert yard.shelf.writes["p"] == settled


async def test_a_readiness_probe_gates_the_pod(yard: Yard) -> None:
    probe = {"exec": {"command": ["sh", "-c", "test -e $HOME/ready"]}, "periodSeconds": 1}
    yard.run("sleep", "600", container={"readinessProbe": probe})
    await yard.until(lambda: "Unhealthy" in yard.reasons())
    assert yard.now().phase == "Running" and not yard.now().ready
    (yard.home.pods(NODE) / yard.now().uid / "home" / "ready").touch()
    await yard.until(lambda: yard.now().ready)


async def test_stopping_the_home_ends_every_container_and_the_zygote(yard: Yard) -> None:
    yard.run("sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.05; done")
    await yard.until(lambda: yard.log())
    pid = pid_of(yard)
    await yard.roster.close()
    lock = yard.home.run / "zygote.lock"
    zygote = int(lock.read_text())
    assert await stop_all(yard.home, grace=0.1) == 1
    assert not alive(pid) and not alive(zygote)
    lock.unlink()


async def test_secrets_of_a_container_are_readable_by_its_owner_only(yard: Yard) -> None:
    yard.run("true", container={"env": [{"name": "TOKEN", "value": "s3cret"}]})
    pod = await yard.finished()
    order = yard.home.pods(NODE) / pod.uid / "containers" / "main" / "0" / "run.json"
    assert "s3cret" in order.read_text()
    assert os.stat(order).st_mode & 0o777 == 0o600

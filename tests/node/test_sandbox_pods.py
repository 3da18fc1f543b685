"""Whole pods at each level of isolation: real namespaces, mounts and limits."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.node.isolation_levels import LEVELS, SANDBOXED, levels_or_skip
from tests.node.pod_yard import NODE, Yard

from paddlecloud.embedded.node import attempts, procfs
from paddlecloud.embedded.node.podfolder import PodFolder
from paddlecloud.embedded.node.sandbox import holding
from paddlecloud.embedded.node.sandbox.links import Links
from paddlecloud.embedded.node.sandbox.usage import usage


@pytest.fixture(params=LEVELS)
async def any_yard(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Yard]:
    it = Yard(tmp_path, levels_or_skip(request.param))
    yield it
    await it.close()


@pytest.fixture(params=SANDBOXED)
async def yard(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Yard]:
    it = Yard(tmp_path, levels_or_skip(request.param))
    yield it
    await it.close()


def alive(pid: int) -> bool:
    try:
        return procfs.stat_fields(pid)[0] not in "ZX"
    except OSError:
        return False


def folder_of(yard: Yard, name: str = "p") -> PodFolder:
    found = yard.roster.find("d", name)
    assert found is not None
    return found


def text_of(path: Path) -> str:
    """What is in a file by now; a shell makes it before it writes."""
    return path.read_text() if path.exists() else ""


def shell(text: str) -> tuple[str, str, str]:
    return "sh", "-c", text


async def said(yard: Yard, text: str, **spec: Any) -> str:
    """What a pod prints that runs *text*."""
    yard.run(*shell(text), **spec)
    await yard.finished()
    return yard.log()


async def test_a_pod_reads_its_volumes_and_code_at_the_paths_of_its_yaml(any_yard: Yard) -> None:
    told = await said(
        any_yard,
        "cat /workspace/greeting.txt; echo kept > /in/it/file; cat /in/it/file",
        volumes=[{"name": "v", "emptyDir": {}}],
        container={"volumeMounts": [{"name": "v", "mountPath": "/in/it"}]},
    )
    assert told == "hello from the suite\nkept\n"
    assert (folder_of(any_yard).volumes / "v" / "file").read_text() == "kept\n"


async def test_the_last_words_of_a_container_arrive(any_yard: Yard) -> None:
    await said(any_yard, "echo farewell > /dev/termination-log; exit 3")
    state = any_yard.now().status["containerStatuses"][0]["state"]["terminated"]
    assert (state["exitCode"], state["message"]) == (3, "farewell\n")


async def test_paths_made_at_run_time_lead_to_volumes(yard: Yard) -> None:
    told = await said(
        yard,
        'd=/da; echo found > "${d}ta/x"; cat "${d}ta/x"; echo $WHERE',
        volumes=[{"name": "v", "emptyDir": {}}],
        container={
            "volumeMounts": [{"name": "v", "mountPath": "/data"}],
            "env": [{"name": "WHERE", "value": "/data/x"}],
        },
    )
    assert told == "found\n/data/x\n"


async def test_what_a_pod_writes_stays_in_it(yard: Yard) -> None:
    mark = f"written-by-{os.getpid()}"
    told = await said(
        yard, f"echo x > /etc/{mark} && echo y > /tmp/{mark} && echo z > /workspace/{mark} && ls /etc/{mark}"
    )
    assert told == f"/etc/{mark}\n"
    assert not Path("/etc", mark).exists() and not Path("/tmp", mark).exists()
    assert not (yard.suites / "tried" / "code" / mark).exists()


async def test_a_pod_has_its_own_name_processes_and_empty_folders(yard: Yard) -> None:
    told = await said(
        yard, "hostname; cat /etc/hostname; echo $$$$; ls /tmp | wc -l; ls /home; ls /proc/2 2>&1"
    )
    assert told.splitlines()[:3] == ["p", "p", "1"]
    assert int(told.splitlines()[3]) <= 1


async def test_a_pod_does_not_see_the_home_of_the_platform(yard: Yard) -> None:
    told = await said(yard, f"ls -A {yard.home.root} 2>&1; cat {yard.home.run}/zygote.lock 2>&1")
    assert [line.rpartition(": ")[2] for line in told.splitlines()] == ["No such file or directory"] * 2


async def test_a_pod_does_not_see_what_others_left_in_temporary_folders(yard: Yard) -> None:
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as left:
        assert (
            await said(yard, f"ls {left.name} 2>/dev/null || echo nothing; touch /var/tmp/x") == "nothing\n"
        )


async def test_containers_of_a_pod_share_its_name_and_not_their_files(yard: Yard) -> None:
    first = {"name": "first", "image": "tried", "command": list(shell("echo $$ > /only-here; hostname"))}
    told = await said(yard, "ls /only-here 2>&1; hostname", initContainers=[first])
    assert "No such file" in told and told.endswith("p\n")
    assert yard.log(container="first") == "p\n"


@pytest.mark.parametrize(
    "mount, command, expected",
    [
        ({"readOnly": True}, "touch /v/y 2>/dev/null || echo refused", "refused\n"),
        ({"subPath": "a/b"}, "echo x > /v/y; ls /v", "y\n"),
        ({"mountPath": "/var/run/v"}, "touch /run/v/seen; ls /var/run/v", "seen\n"),
        ({"mountPath": "/usr/share/new/deep"}, "touch /usr/share/new/deep/z; ls /usr/share/new/deep", "z\n"),
    ],
)
async def test_volume_mounts(yard: Yard, mount: dict[str, Any], command: str, expected: str) -> None:
    told = await said(
        yard,
        command,
        volumes=[{"name": "v", "emptyDir": {}}],
        container={"volumeMounts": [{"name": "v", "mountPath": "/v", **mount}]},
    )
    assert told == expected


async def test_a_link_in_a_volume_leads_nowhere_outside_it_through_a_sub_path(
    yard: Yard, tmp_path: Path
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "way-out").symlink_to("/etc")
    await said(
        yard,
        "ls /v",
        volumes=[{"name": "v", "hostPath": {"path": str(tmp_path / "shared")}}],
        container={"volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "way-out"}]},
    )
    terminated = yard.now().status["containerStatuses"][0]["state"]["terminated"]
    assert terminated["exitCode"] == 128
    assert "way-out" in terminated["message"] and "passwd" not in yard.log()


async def test_a_volume_inside_another_is_seen_at_its_path(yard: Yard) -> None:
    told = await said(
        yard,
        "touch /a/b/c/deep; ls /a/b /a/b/c",
        volumes=[{"name": "one", "emptyDir": {}}, {"name": "two", "emptyDir": {}}],
        container={
            "volumeMounts": [{"name": "two", "mountPath": "/a/b/c"}, {"name": "one", "mountPath": "/a/b"}]
        },
    )
    assert told == "/a/b:\nc\n\n/a/b/c:\ndeep\n"


async def test_the_interpreter_of_the_suite_runs_inside(yard: Yard) -> None:
    yard.run("python", "-c", "import ssl, json, os; print(os.getcwd())")
    await yard.finished()
    assert yard.log() == "/workspace\n"


@pytest.mark.parametrize(
    "context, command, expected",
    [
        ({"runAsUser": 1234, "runAsGroup": 99}, "id -u; id -g", "1234\n99\n"),
        ({"readOnlyRootFilesystem": True}, "touch /etc/x 2>/dev/null || echo closed", "closed\n"),
        ({"allowPrivilegeEscalation": False}, "grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1\n"),
        ({"capabilities": {"drop": ["ALL"]}}, "grep CapEff /proc/self/status", f"CapEff:\t{0:016x}\n"),
        (
            {"capabilities": {"drop": ["ALL"], "add": ["CHOWN"]}},
            "grep CapBnd /proc/self/status",
            f"CapBnd:\t{1:016x}\n",
        ),
        ({}, "grep CapEff /proc/self/status", f"CapEff:\t{0xA80425FB:016x}\n"),
    ],
)
async def test_security_contexts(yard: Yard, context: dict[str, Any], command: str, expected: str) -> None:
    assert await said(yard, command, container={"securityContext": context}) == expected


async def test_the_kernels_switches_are_closed(yard: Yard) -> None:
    told = await said(yard, "touch /proc/sys/kernel/panic 2>/dev/null || echo closed; cat /proc/keys")
    assert told == "closed\n"


async def test_a_command_probe_asks_inside_the_container(any_yard: Yard) -> None:
    probe = {"exec": {"command": ["cat", "/data/ready"]}, "periodSeconds": 1}
    any_yard.run(
        *shell("touch /data/ready; exec sleep 600"),
        volumes=[{"name": "v", "emptyDir": {}}],
        container={"readinessProbe": probe, "volumeMounts": [{"name": "v", "mountPath": "/data"}]},
    )
    if any_yard.levels.filesystem == "plain":
        pytest.skip("plain processes see no mount paths in probes yet")
    await any_yard.until(lambda: any_yard.now().status.get("containerStatuses", [{}])[0].get("ready"))


@pytest.mark.parametrize(
    "command, code, output",
    [
        ("hostname; id -u; pwd", 0, "p\n1234\n/workspace\n"),
        ("exit 7", 7, ""),
        ("kill -9 $$", 137, ""),
    ],
)
async def test_one_more_command_runs_in_the_container(
    yard: Yard, tmp_path: Path, command: str, code: int, output: str
) -> None:
    yard.run(*shell("echo up; exec sleep 600"), container={"securityContext": {"runAsUser": 1234}})
    await yard.until(lambda: "up" in yard.log())
    run = folder_of(yard).run_folder("main", 0)
    with open(tmp_path / "output", "w+b") as file, open(os.devnull, "rb") as nothing:
        streams = (nothing.fileno(), file.fileno(), file.fileno())
        async with asyncio.timeout(20):
            assert await yard.shop.launcher.execute(run, shell(command), streams) == code
    assert (tmp_path / "output").read_text() == output
    assert not list((run / "execs").iterdir())


async def test_kill_9_of_the_shim_ends_every_process_of_the_container(yard: Yard) -> None:
    yard.run(*shell("(setsid sleep 600 &) ; sleep 600 & echo up; wait"))
    await yard.until(lambda: "up" in yard.log())
    run = folder_of(yard).run_folder("main", 0)
    shim = attempts.content(run / "state.json")["shim"]
    processes = procfs.descendants(shim)
    assert len(processes) >= 2
    # Without a node, which would sweep.
    await yard.roster.close()
    os.kill(shim, signal.SIGKILL)
    await yard.until(lambda: not any(alive(pid) for pid in processes))


async def test_a_holder_is_found_again_by_a_new_node_and_goes_with_its_pod(yard: Yard) -> None:
    pod = yard.run(*shell("echo up; exec sleep 600"))
    await yard.until(lambda: "up" in yard.log())
    folder = folder_of(yard).path
    holder = holding.pid_of(folder)
    os.kill(int((yard.home.run / "zygote.lock").read_text()), signal.SIGKILL)
    await yard.restart()
    assert holding.pid_of(folder) == holder != 0
    yard.shelf.delete(pod)
    await yard.until(lambda: not folder.exists())
    assert not alive(holder)
    assert str(yard.home.root) not in Path("/proc/self/mountinfo").read_text()


async def test_containers_that_share_processes_see_each_other(yard: Yard) -> None:
    other = {"name": "other", "image": "tried", "command": list(shell("exec sleep 6007"))}
    main = {"name": "main", "image": "tried", "command": list(shell(SEARCH))}
    yard.run(shareProcessNamespace=True, containers=[main, other])
    await yard.until(lambda: "found" in yard.log())
    pod = yard.now()
    yard.shelf.delete(pod)
    await yard.until(lambda: not (yard.home.pods(NODE) / pod.uid).exists())


SEARCH = "until grep -qs 6007 /proc/[0-9]*/cmdline; do sleep 0.05; done; echo found"
HUNGRY = "import time; x = bytearray(200 << 20); print('fat', flush=True); time.sleep(60)"


async def test_a_container_that_takes_more_memory_than_its_limit_is_ended(any_yard: Yard) -> None:
    limits = {"resources": {"limits": {"memory": "100Mi"}}}
    any_yard.run("python", "-S", "-c", HUNGRY, container=limits)
    await any_yard.finished()
    run = folder_of(any_yard).run_folder("main", 0)
    assert attempts.content(run / "exit.json")["oom"] is True
    assert attempts.read(run).exit_code == 137


async def test_usage_counts_the_processes_of_a_container(any_yard: Yard) -> None:
    busy = "x = bytearray(50 << 20); print('up', flush=True)\nwhile True: pass"
    any_yard.run("python", "-S", "-c", busy)
    await any_yard.until(lambda: "up" in any_yard.log())
    folder = folder_of(any_yard)
    await any_yard.until(lambda: usage(folder)["main"].cpu_seconds > 0.05)
    assert 50 << 20 <= usage(folder)["main"].memory_bytes < 200 << 20


async def test_a_fork_bomb_stays_within_its_pod(tmp_path: Path) -> None:
    levels = levels_or_skip("root")
    if levels.limits == "polling":
        pytest.skip(f"no control groups here: {levels.why_not['limits']}")
    yard = Yard(tmp_path, levels)
    try:
        yard.run("python", "-S", "-c", BOMB, volumes=VOLUME, container={"volumeMounts": MOUNT})
        await yard.until(lambda: "waiting" in yard.log())
        folder = folder_of(yard)
        group = attempts.content(folder.run_folder("main", 0) / "run.json")["cgroup"]
        limit = Path(group["pod"].get("pids") or group["pod"]["unified"], "pids.max")
        assert int(limit.read_text()) == 4096
        # The same with fewer: a busy machine takes its time for thousands.
        limit.write_text("50")
        (folder.volumes / "v" / "go").touch()
        await yard.until(lambda: "stopped" in yard.log())
        yard.shelf.delete(yard.now())
        await yard.until(lambda: not folder.path.exists())
        assert not any(Path(path).exists() for path in group["pod"].values())
    finally:
        await yard.close()


VOLUME = [{"name": "v", "emptyDir": {}}]
MOUNT = [{"name": "v", "mountPath": "/v"}]
BOMB = """
import os, time
print("waiting", flush=True)
while not os.path.exists("/v/go"):
    time.sleep(0.01)
while True:
    try:
        if os.fork() == 0:
            time.sleep(600)
    except OSError:
        print("stopped", flush=True)
        break
time.sleep(600)
"""


async def test_plain_pods_find_volumes_through_links_and_do_not_fight_for_a_path(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.links = Links(tmp_path / "links.json")
    await yard.restart()
    path = str(tmp_path / "data")
    mounted: dict[str, Any] = {
        "volumes": [{"name": "v", "emptyDir": {}}],
        "container": {"volumeMounts": [{"name": "v", "mountPath": path}]},
    }
    try:
        yard.run(*shell(f'd={path[:-1]}; cd "${{d}}a"; echo $WHERE {path} > x; exec sleep 600'), **mounted)
        await yard.until(lambda: text_of(folder_of(yard).volumes / "v" / "x"))
        assert (folder_of(yard).volumes / "v" / "x").read_text() == f"{path}\n"
        yard.run("ls", path, name="q", **mounted)
        await yard.finished("q")
        assert yard.log("q") == "" and "MountPathTaken" in yard.reasons()
        yard.shelf.delete(yard.now())
        await yard.until(lambda: not os.path.lexists(path))
    finally:
        await yard.close()


async def test_a_pod_that_needs_what_its_node_lacks_hears_of_it(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    try:
        yard.run("true", container={"securityContext": {"runAsUser": 1234}})
        await yard.finished()
        assert any(e.reason == "IsolationLacking" and "runAsUser" in e.message for e in yard.shelf.events)
    finally:
        await yard.close()

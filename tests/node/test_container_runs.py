"""Real shims, forked from a real zygote, running real commands."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.node.pod_yard import log_text

from paddlecloud.embedded.node import attempts, procfs
from paddlecloud.embedded.node.attempts import State
from paddlecloud.embedded.node.launcher import Launcher, start_zygote
from paddlecloud.settings import Home

UID = "0c6f8a52-test"


class Runs:
    """Starts commands as container runs and waits for what they do."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.launcher = Launcher(home)
        self.started: list[Path] = []

    async def start(self, *argv: str, **order: Any) -> Path:
        folder = self.home.root / "containers" / "main" / str(len(self.started))
        env = {"PATH": os.environ["PATH"], "POD_UID": UID, "CONTAINER_NAME": "main", **order.pop("env", {})}
        attempts.describe(folder, {"argv": argv, "env": env, "cwd": "/", **order})
        self.started.append(folder)
        await self.launcher.start(folder)
        return folder

    async def finish(self, *argv: str, **order: Any) -> attempts.Attempt:
        folder = await self.start(*argv, **order)
        async with asyncio.timeout(20):
            await attempts.ended(folder)
        return attempts.read(folder)

    def zygote(self) -> int:
        return int((self.home.run / "zygote.lock").read_text())


@pytest.fixture
async def runs(tmp_path: Path) -> AsyncIterator[Runs]:
    home = Home(tmp_path)
    home.make()
    it = Runs(home)
    yield it
    for folder in it.started:
        attempts.kill(folder)
        async with asyncio.timeout(20):
            await attempts.ended(folder)
    if (home.run / "zygote.lock").exists():
        os.kill(it.zygote(), signal.SIGKILL)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return procfs.stat_fields(pid)[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize(
    "argv, code, killed_by",
    [
        (("true",), 0, 0),
        (("sh", "-c", "exit 3"), 3, 0),
        (("sh", "-c", "kill -9 $$"), 137, 9),
        (("sh", "-c", "kill -15 $$"), 143, 15),
        (("no-such-command",), 128, 0),
        (("/etc/hostname",), 128, 0),
        (("/",), 128, 0),
        ((), 128, 0),
    ],
)
async def test_the_end_of_a_command_is_reported_as_container_runtimes_do(
    runs: Runs, argv: tuple[str, ...], code: int, killed_by: int
) -> None:
    end = await runs.finish(*argv)
    assert (end.state, end.exit_code, end.signal) == (State.FINISHED, code, killed_by)
    assert 0 < end.started_at <= end.finished_at


async def test_a_command_that_does_not_exist_is_named_in_message_and_log(runs: Runs) -> None:
    end = await runs.finish("no-such-command")
    assert end.message == (
        'unable to start container process: exec: "no-such-command": executable file not found in $PATH'
    )
    assert end.message in log_text(runs.started[0])


async def test_a_working_directory_that_does_not_exist_is_named(runs: Runs) -> None:
    end = await runs.finish("true", cwd="/no/such/folder")
    assert end.exit_code == 128
    assert 'chdir to cwd ("/no/such/folder") failed: no such file or directory' in end.message


async def test_output_and_errors_go_to_one_log_each_in_its_order(runs: Runs) -> None:
    await runs.finish("sh", "-c", "echo one; echo two >&2; echo three")
    lines = log_text(runs.started[0]).splitlines()
    assert sorted(lines) == ["one", "three", "two"] and lines.index("one") < lines.index("three")


async def test_a_container_inherits_nothing_but_what_it_was_given(runs: Runs) -> None:
    await runs.finish("env", env={"SECRET": "with spaces\nand lines"})
    log = log_text(runs.started[0])
    assert "SECRET=with spaces\nand lines\n" in log
    assert "HOME=" not in log and "LC_CTYPE=" not in log


async def test_signals_are_neither_blocked_nor_ignored_in_a_container(runs: Runs) -> None:
    await runs.finish("grep", "-E", "Sig(Blk|Ign)", "/proc/self/status")
    masks = [int(line.split()[1], 16) for line in log_text(runs.started[0]).splitlines()]
    # 32 and 33 belong to the C library, which lets nobody set them.
    ours = ~(1 << 31 | 1 << 32)
    assert [mask & ours for mask in masks] == [0, 0]


async def test_no_descriptor_of_the_shim_reaches_the_container(runs: Runs) -> None:
    await runs.finish("sh", "-c", "ls /proc/$$/fd")
    assert log_text(runs.started[0]).split() == ["0", "1", "2"]


async def test_the_last_4096_bytes_of_the_termination_file_become_the_message(
    runs: Runs, tmp_path: Path
) -> None:
    path = str(tmp_path / "termination")
    end = await runs.finish("sh", "-c", f"printf %05000d 7 > {path}", termination=path)
    assert len(end.message) == 4096 and end.message.endswith("7")


async def test_sigterm_reaches_the_command_which_may_end_in_peace(runs: Runs) -> None:
    folder = await runs.start(
        "sh", "-c", "trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.05; done"
    )
    await until(lambda: "up" in log_text(folder))
    attempts.ask_to_stop(folder)
    await attempts.ended(folder)
    assert attempts.read(folder).exit_code == 5
    assert "bye" in log_text(folder)


async def test_a_command_that_ignores_sigterm_is_killed(runs: Runs) -> None:
    folder = await runs.start("sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.05; done")
    await until(lambda: "up" in log_text(folder))
    attempts.ask_to_stop(folder)
    attempts.kill(folder)
    await attempts.ended(folder)
    assert attempts.read(folder).signal == 9


DAEMONS = """
import os, sys, time
for depth in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            print(os.getpid(), flush=True)
            time.sleep(600)
        os._exit(0)
time.sleep(float(sys.argv[1]))
"""


async def daemons(runs: Runs, seconds: str) -> tuple[Path, list[int]]:
    folder = await runs.start(sys.executable, "-S", "-c", DAEMONS, seconds)
    await until(lambda: len(log_text(folder).split()) == 3)
    return folder, [int(pid) for pid in log_text(folder).split()]


async def test_no_daemon_survives_its_container(runs: Runs) -> None:
    folder, pids = await daemons(runs, "0.2")
    await attempts.ended(folder)
    assert attempts.read(folder).exit_code == 0
    assert not any(alive(pid) for pid in pids)


async def test_after_kill_9_of_the_shim_the_command_dies_and_the_sweep_finds_the_rest(runs: Runs) -> None:
    folder, pids = await daemons(runs, "600")
    main = attempts.read(folder).pid
    os.kill(attempts.content(folder / "state.json")["shim"], signal.SIGKILL)
    await attempts.ended(folder)
    await until(lambda: not alive(main))
    assert attempts.read(folder).state == State.VANISHED
    assert attempts.sweep(UID, "another") == 0
    assert attempts.sweep(UID, "main") == 3
    await until(lambda: not any(alive(pid) for pid in pids))


async def test_containers_survive_kill_9_of_the_zygote_and_are_found_again(runs: Runs) -> None:
    folder = await runs.start("sleep", "600")
    before = attempts.read(folder)
    first = runs.zygote()
    os.kill(first, signal.SIGKILL)
    await until(lambda: not alive(first))
    after = await runs.finish("true")
    assert attempts.read(folder) == before and alive(before.pid)
    assert after.exit_code == 0 and runs.zygote() != first


async def test_an_attempt_is_run_once_however_often_it_is_started(runs: Runs) -> None:
    folder = await runs.start("sh", "-c", "echo once; sleep 0.3")
    await asyncio.gather(*(runs.launcher.start(folder) for _ in range(3)))
    await attempts.ended(folder)
    await runs.launcher.start(folder)
    assert log_text(folder) == "once\n"


async def test_a_second_zygote_leaves_the_first_in_charge(runs: Runs) -> None:
    await start_zygote(runs.home)
    first = runs.zygote()
    await start_zygote(runs.home)
    assert runs.zygote() == first and alive(first)
    assert (await runs.finish("true")).exit_code == 0


async def test_a_home_deeper_than_a_socket_name_may_be_long_works(tmp_path: Path) -> None:
    home = Home(tmp_path / ("deep" * 30))
    home.make()
    deep = Runs(home)
    assert (await deep.finish("true")).exit_code == 0
    os.kill(deep.zygote(), signal.SIGKILL)


def test_a_process_of_another_boot_or_start_time_is_not_alive() -> None:
    me = {"shim": os.getpid(), "shimStart": procfs.start_time(os.getpid()), "boot": procfs.boot()}
    assert procfs.is_alive(me, "shim")
    assert not procfs.is_alive(me | {"boot": "another"}, "shim")
    assert not procfs.is_alive(me | {"shimStart": 1}, "shim")


async def test_a_command_that_cannot_be_put_under_its_limits_is_not_run(runs: Runs) -> None:
    said = runs.home.root / "said"
    nowhere = {
        "kind": "cgroup1",
        "pod": {"pids": "/proc/nowhere"},
        "podLimits": {},
        "name": "m",
        "limits": {},
    }
    ended = await runs.finish("touch", str(said), cgroup=nowhere)
    assert (ended.not_started or ended.exit_code == 128) and "its limits" in ended.message
    assert not said.exists()

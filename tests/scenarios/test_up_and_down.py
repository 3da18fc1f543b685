"""A cluster begins and ends as its owner says, and leaves nothing behind however that happens."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import Foreground, PdcHome, fresh_home

from paddlecloud.api.core import ConfigMap
from paddlecloud.cli.clusters import interrupted_afterwards


@pytest.mark.parametrize("detach", [(), ("--detach",)], ids=["foreground", "detached"])
def test_a_port_in_use_is_told_and_nothing_is_left(home: PdcHome, detach: tuple[str, ...]) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]

        said = home.pdc("up", "--port", str(port), *detach)

    assert said.code == 1
    assert f"port {port} is in use by another program" in said.text and "Traceback" not in said.text
    home.wait_until_empty()
    assert home.pdc("status").code == 3


def test_a_home_has_one_cluster(home: PdcHome) -> None:
    home.ok("up", "--detach")
    before = home.supervisor

    second = home.pdc("up")
    again = home.pdc("up", "--detach")

    assert second.code == 1 and f"already running in {home.home} (process {before})" in second.text
    assert again.code == 0 and "already running" in again.text
    assert home.supervisor == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_cluster_in_the_foreground_ends_when_told(home: PdcHome, number: signal.Signals) -> None:
    with home.running("up") as up:
        up.until_said("PaddleCloud is up")
        os.killpg(up.process.pid, number)
        said = up.ended()

    assert said.code == 0 and "Traceback" not in said.text
    home.wait_until_empty()
    assert home.pdc("down").text.startswith("no cluster is running")


def test_what_was_chosen_at_the_first_start_stays(home: PdcHome) -> None:
    home.ok("up", "--detach")
    before = home.home.state.read_text(), home.home.kubeconfig.read_text()
    home.ok("down")
    home.ok("up", "--detach")

    assert (home.home.state.read_text(), home.home.kubeconfig.read_text()) == before


def test_the_pid_file_of_a_dead_cluster_names_nobody(home: PdcHome) -> None:
    """Its number may be another process by now, which must be neither believed nor killed."""
    home.home.make()
    with subprocess.Popen(["sleep", "600"]) as innocent:
        (home.home.run / "supervisor.pid").write_text(str(innocent.pid))
        try:
            assert home.pdc("status").code == 3
            assert home.pdc("down").text.startswith("no cluster is running")
            assert innocent.poll() is None
            home.ok("up", "--detach")
        finally:
            innocent.kill()


def test_a_new_supervisor_waits_for_the_orphans_of_a_killed_one(home: PdcHome) -> None:
    home.home.make()
    lock = home.home.lock
    with lock.open("w") as orphan:
        fcntl.flock(orphan, fcntl.LOCK_EX)
        with home.running("up") as up:
            up.until(lambda: has_open(up.process.pid, lock), "the look at the lock")
            assert not home.home.state.exists(), "nothing is begun beside the orphans"
            fcntl.flock(orphan, fcntl.LOCK_UN)
            up.until_said("PaddleCloud is up")


def has_open(pid: int, file: Path) -> bool:
    try:
        return any(os.readlink(fd) == str(file) for fd in Path(f"/proc/{pid}/fd").iterdir())
    except FileNotFoundError:
        return False  # a descriptor was closed while we looked


@pytest.mark.long
def test_a_walk_can_be_interrupted_anywhere_and_taken_again(home: PdcHome) -> None:
    for moment in (cluster_starts, data_is_read, training_runs, canary_begins):
        epochs = "2" if moment is canary_begins else "40"
        with home.running("demo", "--epochs", epochs) as demo:
            moment(home, demo)
            demo.interrupt()
            said = demo.ended()

        assert said.code == 130, said.text
        assert "stop  the cluster and its pods" in said.text and "interrupted" in said.text
        assert "Traceback" not in said.text
        home.wait_until_empty()

    said_last = home.ok("demo", "--epochs", "4", "--keep")
    # The versions before are those of the walk that came as far as a canary, which is not there any more.
    assert "accuracy   shapes-3 " in said_last and "shapes-4 is the default of" in said_last
    # What was interrupted does not come back with the next cluster.
    assert len(home.ok("get", "runs", "-n", "kubeflow", "-o", "name").split()) == 1
    assert len(home.ok("get", "jobs", "-n", "kubeflow", "-o", "name").split()) == 1


def cluster_starts(home: PdcHome, demo: Foreground) -> None:
    # The first moment at which there is something to be left behind.
    demo.until(lambda: (home.home.logs / "supervisor.log").exists(), "the start of the cluster")


def data_is_read(home: PdcHome, demo: Foreground) -> None:
    demo.until_said("dataset         running")


def training_runs(home: PdcHome, demo: Foreground) -> None:
    demo.until_said("loss ")


def canary_begins(home: PdcHome, demo: Foreground) -> None:
    demo.until_said("canary          running", 180)


def test_an_interrupt_amid_the_start_of_a_process_acts_when_it_is_known() -> None:
    # Whoever runs the tests in the background may ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    done = False
    try:
        with pytest.raises(KeyboardInterrupt), interrupted_afterwards():
            signal.raise_signal(signal.SIGINT)
            done = True
        after = signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)

    assert done and after is signal.default_int_handler


def test_an_interrupted_walk_with_keep_leaves_the_cluster_and_says_so(home: PdcHome) -> None:
    with home.running("demo", "--keep") as demo:
        demo.until_said("deposit         running")
        demo.interrupt()
        said = demo.ended()

    assert said.code == 130 and "The cluster stays up" in said.text
    until(lambda: home.pdc("status").code == 0, what="a cluster that runs")


def test_two_homes_are_two_clusters_side_by_side(home: PdcHome) -> None:
    with fresh_home() as other:
        home.ok("up", "--detach")
        other.ok("up", "--detach")
        home.apply(setting("here"))
        other.apply(setting("there"))

        for one, has, lacks in ((home, "here", "there"), (other, "there", "here")):
            assert one.ok("kubeconfig").strip() == str(one.home.kubeconfig)
            assert one.home.kubeconfig.stat().st_mode & 0o777 == 0o600
            assert has in names(one) and lacks not in names(one)

        other.ok("down")
        assert home.pdc("status").code == 0 and "here" in names(home)


def test_a_reset_asks_first_and_then_throws_everything_away(home: PdcHome) -> None:
    home.ok("up", "--detach")
    home.apply(setting("precious"))

    refused = home.pdc("reset", stdin="n\n")

    assert (
        refused.code != 0
        and f"Throw away all objects, volumes, models and keys in {home.home}?" in refused.text
    )
    assert "precious" in names(home)

    assert "is empty" in home.ok("reset", stdin="y\n")

    home.wait_until_empty()
    assert [entry for entry in home.home.root.iterdir() if entry != home.home.environments] == []
    home.ok("up", "--detach")
    assert "precious" not in names(home)


def test_a_folder_that_is_no_home_is_not_emptied(home: PdcHome) -> None:
    home.home.root.mkdir(parents=True)
    letter = home.home.root / "letter"
    letter.write_text("keep me")

    said = home.pdc("reset", "--yes")

    assert said.code == 2 and "nothing was touched" in said.text
    assert letter.read_text() == "keep me"


def setting(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}


def names(home: PdcHome) -> set[str]:
    with home.client() as client:
        return {found.name for found in client.list(ConfigMap, "default").items}

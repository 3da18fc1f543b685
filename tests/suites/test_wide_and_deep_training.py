"""Real training of wide & deep: servers and workers on loopback, a worker that dies, and one alone."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.kubernetes.waiting import until
from tests.suites.environments import python, suite, variables

CODE = suite("wide-and-deep").folder / "code"
PATIENCE = 180
PROGRESS = re.compile(r"epoch (\d+)/\d+ step (\d+)/(\d+) loss (\d+\.\d{4}) auc ([01]\.\d{3}) samples/s \d+")
SERVERS, WORKERS = ("127.78.1.2", "127.78.1.3"), ("127.78.1.4", "127.78.1.5")


def start(log: Path, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
    with log.open("wb") as out:
        return subprocess.Popen(
            [python("wide-and-deep"), str(CODE / "train.py"), *arguments],
            env=variables("wide-and-deep") | more,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # Paddle keeps a log of its own where it is started.
            cwd=log.parent,
        )


def run(log: Path, *arguments: str, **more: str) -> tuple[int, str]:
    process = start(log, *arguments, **more)
    with ending([process]):
        return process.wait(PATIENCE), log.read_text()


@contextlib.contextmanager
def ending(processes: list[subprocess.Popen[bytes]]) -> Iterator[None]:
    try:
        yield
    finally:
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def operator() -> dict[str, str]:
    """What an operator tells every pod of a job."""
    port, meeting = free_port(), free_port()
    return {
        "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(f"{host}:{port}" for host in SERVERS),
        "PADDLE_TRAINER_ENDPOINTS": ",".join(f"{host}:{port}" for host in WORKERS),
        "PADDLE_TRAINERS_NUM": "2",
        "PADDLE_PORT": str(port),
        "PADDLE_WITH_GLOO": "1",
        "PADDLE_GLOO_RENDEZVOUS": "3",
        "PADDLE_GLOO_HTTP_ENDPOINT": f"{SERVERS[0]}:{meeting}",
        "GLOO_SOCKET_IFNAME": "lo",
    }


def test_the_first_worker_dies_and_comes_back_and_the_job_ends_well(
    tmp_path: Path, operator: dict[str, str]
) -> None:
    words = ("--epochs", "8", "--checkpoint", str(tmp_path / "kept"), "--output", str(tmp_path / "model"))
    made: list[subprocess.Popen[bytes]] = []

    def begin(role: str, rank: int, log: str) -> subprocess.Popen[bytes]:
        own = (SERVERS if role == "PSERVER" else WORKERS)[rank]
        told = {"TRAINING_ROLE": role, "PADDLE_TRAINER_ID": str(rank), "POD_IP": own}
        made.append(start(tmp_path / log, *words, **operator, **told))
        return made[-1]

    with ending(made):
        servers = [begin("PSERVER", rank, f"server-{rank}") for rank in (0, 1)]
        first, second = (begin("TRAINER", rank, f"worker-{rank}") for rank in (0, 1))
        until((tmp_path / "kept" / "newest.json").exists, what="the first checkpoint", limit=PATIENCE)
        first.kill()
        first.wait()
        again = begin("TRAINER", 0, "worker-0-again")
        ends = [again.wait(PATIENCE), second.wait(PATIENCE)]
        logs = {path.name: path.read_text() for path in tmp_path.glob("worker-*")}
        assert ends == [0, 0], logs
        # Nothing in Paddle ends the servers; whoever runs them does, and then all is well.
        for server in servers:
            server.terminate()
        assert [server.wait(20) for server in servers] == [0, 0]

    before, after = (PROGRESS.findall(logs[name]) for name in ("worker-0", "worker-0-again"))
    assert "this worker comes back" in logs["worker-0-again"]
    [done] = re.findall(r"goes on after epoch (\d)$", logs["worker-0-again"], re.MULTILINE)
    assert after[0][0] == str(int(done) + 1) and after[-1][:3] == ("8", "62", "62")
    # What was learnt before is not lost: it tells clicks apart from its first steps on.
    assert float(after[0][4]) > float(before[0][4]) + 0.15
    assert float(after[-1][3]) < float(before[0][3]) / 2
    assert not PROGRESS.search(logs["worker-1"])
    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert metrics["auc"] > 0.85
    assert {"model.pdmodel", "model.pdiparams", "labels.txt"} <= {
        p.name for p in (tmp_path / "model").iterdir()
    }


def test_alone_it_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    kept = ("--checkpoint", str(tmp_path / "kept"))
    code, text = run(tmp_path / "log", "--epochs", "1", *kept)
    assert code == 0 and re.search(r"^test auc 0\.[89]\d+ loss ", text, re.MULTILINE), text
    # What was left half done by one that was killed is not gone on from.
    (tmp_path / "kept" / "epoch-0002").mkdir()
    code, text = run(tmp_path / "log", "--epochs", "2", "--gpus", "0,1", *kept)

    assert code == 0 and "goes on after epoch 1\n" in text, text
    assert {epoch for epoch, *_ in PROGRESS.findall(text)} == {"2"}
    assert [p.name for p in (tmp_path / "kept").glob("epoch-*")] == ["epoch-0002"]


@pytest.mark.parametrize(
    "lines, sentence",
    [
        (None, "cannot be read (No such file or directory)"),
        ("", "holds no rows"),
        ("click:1 1:x\n", "line 1 is 'click:1 1:x'"),
        ("click:1 dense_feature:0.5 1:7\n", "not `click:0 dense_feature:… (13 times) 1:… to 26:…`"),
        (
            "click:1" + " dense_feature:0" * 13 + "".join(f" {i}:9999" for i in range(1, 27)) + "\n",
            "a feature that is not below 2601",
        ),
    ],
)
def test_bad_data_is_a_sentence_and_exit_code_two(tmp_path: Path, lines: str | None, sentence: str) -> None:
    if lines is not None:
        (tmp_path / "slot_train_data_full").mkdir()
        (tmp_path / "slot_train_data_full" / "part-0").write_text(lines)
    code, text = run(tmp_path / "log", "--data", str(tmp_path))

    assert code == 2 and text.startswith("bad data: ") and sentence in text and text.count("\n") == 1


def test_a_server_without_a_list_of_servers_is_told_so(tmp_path: Path) -> None:
    code, text = run(tmp_path / "log", TRAINING_ROLE="PSERVER")
    assert code == 2 and "PADDLE_PSERVERS_IP_PORT_LIST names no servers" in text

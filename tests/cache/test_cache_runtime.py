"""The runtime as the process that a pod starts."""

import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paddlecloud.cache.engine import Amount, Contents, File, Usage
from paddlecloud.cache.status import Phase, State, document

PATIENCE = 20.0


class Runtime:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        assert process.stdout is not None
        self.address = process.stdout.readline().removeprefix("listening on ").strip()

    def status(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.address}/status", timeout=5) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def until(self, phase: str) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while (status := self.status())["phase"] != phase:
            assert time.monotonic() < end, f"still {status}"
        return status


@contextmanager
def runtime(data: Path, *arguments: str) -> Iterator[Runtime]:
    command = [
        sys.executable,
        "-m",
        "paddlecloud.cache.runtime",
        "--data",
        str(data),
        "--port",
        "0",
        *arguments,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield Runtime(process)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    for number in range(50):
        (folder / f"{number}.bin").write_bytes(bytes(100))
    return folder


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    (tmp_path / "volume").mkdir()
    return tmp_path / "volume"


def test_it_syncs_and_a_restart_needs_no_source(source: Path, volume: Path) -> None:
    with runtime(volume, "--uri", source.as_uri()) as first:
        status = first.until("Synced")
    assert (status["totalFiles"], status["cachedFiles"], status["totalBytes"]) == (50, 50, 5000)
    assert status["cachedBytes"] == 5000 and status["diskAvail"] > 0

    source.rename(source.with_name("away"))
    with runtime(volume, "--uri", source.as_uri()) as second:
        assert second.until("Synced")["revision"] == status["revision"] != ""


def test_a_missing_source_is_told_and_heals_by_itself(source: Path, volume: Path) -> None:
    away = source.rename(source.with_name("away"))
    with runtime(volume, "--uri", source.as_uri()) as served:
        assert "does not exist" in served.until("Failed")["message"]
        away.rename(source)
        assert served.until("Synced")["totalFiles"] == 50


def test_a_source_of_another_kind_stays_failed(volume: Path) -> None:
    with runtime(volume, "--uri", "s3://bucket/data") as served:
        status = served.until("Failed")
    assert "file://" in status["message"] and "trying again" not in status["message"]


def test_without_sync_what_is_there_is_verified_only(volume: Path) -> None:
    (volume / "x.bin").write_bytes(b"12345")
    with runtime(volume, "--no-sync") as served:
        assert served.until("Synced")["totalBytes"] == 5


def test_a_taken_port_is_a_sentence(volume: Path) -> None:
    with runtime(volume, "--no-sync") as served:
        port = served.address.rpartition(":")[2]
        command = [sys.executable, "-m", "paddlecloud.cache.runtime", "--data", str(volume), "--no-sync"]
        second = subprocess.run([*command, "--port", port], capture_output=True, text=True, timeout=PATIENCE)
    assert second.returncode == 1 and second.stderr.startswith("cannot listen on 127.0.0.1:")


@pytest.mark.parametrize(
    "state, expected",
    [
        (State(), {"phase": "Syncing", "revision": "", "totalBytes": 0}),
        (
            State(amount=Amount(1, 50, 2, 100), since=5.0),
            {"cachedBytes": 50, "progress": {"done": 50, "total": 100, "unit": "bytes", "rate": 10.0}},
        ),
        (
            State(Phase.SYNCED, contents=Contents((File("a", 7, "0" * 64),))),
            {
                "cachedBytes": 7,
                "totalFiles": 1,
                "progress": {"done": 7, "total": 7, "unit": "bytes", "rate": 0.0},
            },
        ),
        (State(Phase.FAILED, "disk full"), {"phase": "Failed", "message": "disk full"}),
    ],
)
def test_the_status_document(state: State, expected: dict[str, Any]) -> None:
    said = document(state, Usage(1000, 250, 750), now=10.0)
    assert {key: said[key] for key in expected} == expected
    assert [said[key] for key in ("diskSize", "diskUsed", "diskAvail")] == [1000, 250, 750]

"""What the data benchmark works with: samples, an S3 server, the runtime, mounts.

All of it lives in one folder and on this machine, and ends with the `with` it was made by.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cache.sources_of_others import KEYS, free_port, running
from tests.suites import environments

from paddlecloud.cache.juicefs import filesystem
from paddlecloud.cache.juicefs.client import PROGRAM, Client
from paddlecloud.cache.juicefs.filesystem import FileSystem

LONGEST = 1800.0
TOKEN = "token-of-the-benchmark"
SECRET = "s3"
READ_ONLY = ("--open-cache=3600", "--attr-cache=3600", "--entry-cache=3600", "--dir-entry-cache=3600")
"""For samples that nobody changes while they are read."""


def client() -> Client:
    return Client(Path(environments.variables("data")["PATH"].partition(":")[0]) / PROGRAM)


def make_files(folder: Path, number: int, size: int) -> None:
    """*number* files of *size* bytes that no program can shrink, a thousand a folder."""
    content = os.urandom(min(size, 1 << 20))
    for n in range(number):
        path = folder / f"{n // 1000:03}" / f"{n:06}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(n.to_bytes(8, "big"))
            left = size - 8
            while left > 0:
                left -= file.write(content[: min(left, len(content))])


@contextmanager
def s3(home: Path, buckets: Path) -> Iterator[str]:
    """The gateway of JuiceFS with the folders of *buckets* as buckets; gives host and port."""
    home.mkdir(parents=True)
    metadata, port, own = f"sqlite3://{home}/gw.db", free_port(), {"META": f"sqlite3://{home}/gw.db"}
    finished(
        [
            "format",
            "--storage",
            "file",
            "--bucket",
            f"{home}/store/",
            "--trash-days",
            "0",
            metadata,
            "samples",
        ]
    )
    finished(
        [
            "sync",
            "--dirs",
            "--threads",
            "32",
            "--metrics",
            "127.0.0.1:0",
            f"file://{buckets}/",
            "jfs://META/",
        ],
        own,
    )
    command = [
        "gateway",
        "--no-banner",
        "--multi-buckets",
        "--keep-etag",
        "--object-meta",
        "--no-usage-report",
    ]
    command += ["--cache-dir", f"{home}/cache", "--metrics", "127.0.0.1:0", metadata, f"127.0.0.1:{port}"]
    keys = {"MINIO_ROOT_USER": KEYS.access, "MINIO_ROOT_PASSWORD": KEYS.secret}
    with running([str(client().path), *command], home, port, keys):
        yield f"127.0.0.1:{port}"


def finished(arguments: Sequence[str], more: dict[str, str] | None = None) -> float:
    """Seconds that a call of the JuiceFS client took."""
    environ = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "AWS_EC2_METADATA_DISABLED": "true", **(more or {})}
    began = time.perf_counter()
    done = subprocess.run(
        [str(client().path), *arguments], env=environ, capture_output=True, text=True, timeout=LONGEST
    )
    if done.returncode:
        raise RuntimeError(f"juicefs {arguments[0]}: {done.stderr[-1000:]}")
    return time.perf_counter() - began


@contextmanager
def mounted(system: FileSystem, root: Path, *options: str) -> Iterator[Path]:
    """The file system, made if need be and mounted at a folder below *root*, with a cache of its own."""
    program = client()
    filesystem.make(program, system)
    said = (f"--cache-dir={root}/cache", "--metrics=127.0.0.1:0", "--free-space-ratio=0.01", *options)
    filesystem.mount(program, system, root / "at", root / "log", said)
    try:
        yield root / "at"
    finally:
        filesystem.unmount(program, root / "at", patience=10.0)


def in_folder(name: str, folder: Path) -> FileSystem:
    folder.mkdir(parents=True, exist_ok=True)
    return filesystem.in_folder(name, folder)


def in_bucket(name: str, folder: Path, host: str) -> FileSystem:
    """Its objects in the bucket `objects` of an S3 server."""
    folder.mkdir(parents=True, exist_ok=True)
    return FileSystem(name, f"sqlite3://{folder}/meta.db", "minio", f"http://{host}/objects", {}, KEYS)


@dataclass(frozen=True)
class Runtime:
    """A runtime of a set, as its pod starts it."""

    process: subprocess.Popen[str]
    address: str

    def carry_out(self, kind: str, **options: object) -> float:
        """Seconds from the order until it is done."""
        began, id = time.perf_counter(), f"{kind}-{time.monotonic_ns()}"
        self._ask(f"/upload/{kind}Options", options, id)
        while True:
            result = self._ask(f"/{kind}Result/{id}")
            if result["status"] == "success":
                return time.perf_counter() - began
            if result["status"] not in ("queued", "running"):
                raise RuntimeError(f"{kind}: {result['message']}")
            # Not too often: it answers with the processor it works with.
            time.sleep(max(0.02, (time.perf_counter() - began) / 100))

    def info(self) -> dict[str, Any]:
        return self._ask("/cacheStatus/cacheInfo.json")

    def peak(self) -> float:
        """The most megabytes it ever held."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024

    def _ask(self, path: str, body: object = None, id: str = "") -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "filename": id}
        request = urllib.request.Request(self.address + path, data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)
        return found


@contextmanager
def runtime(root: Path, *, data: Path | None = None, engine: str = "local") -> Iterator[Runtime]:
    """Keeps the samples of *root*, or of the mount at *data*."""
    (root / "keys" / SECRET).mkdir(parents=True, exist_ok=True)
    (root / "keys" / SECRET / "access-key").write_text(KEYS.access)
    (root / "keys" / SECRET / "secret-key").write_text(KEYS.secret)
    (root / "token").write_text(TOKEN)
    command = [
        environments.python("data"),
        "-m",
        "paddlecloud.cache.runtime",
        "--engine",
        engine,
        "--port",
        "0",
    ]
    command += [
        "--root",
        str(root / "set"),
        "--data",
        str(data or root / "set" / "data"),
        "--host",
        "127.0.0.1",
    ]
    command += ["--token-file", str(root / "token"), "--keys", str(root / "keys")]
    # A thousand results are not to fill a pipe that nobody reads.
    with (root / "log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environments.variables("data"), stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        assert process.stdout is not None
        # It may tell of its first look at the volume before.
        said = next(line for line in process.stdout if line.startswith("listening on "))
        yield Runtime(process, said.removeprefix("listening on ").strip())
    finally:
        process.terminate()
        process.communicate(timeout=30)

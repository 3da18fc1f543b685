"""Real servers to read samples from: an S3 gateway, WebDAV, Redis and plain HTTP, each on a free port."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.suites.environments import ROOT

from paddlecloud.cache.engine import Keys
from paddlecloud.embedded.node.environments import Environments
from paddlecloud.embedded.node.suites import resolve

KEYS = Keys("admin", "password123")
PATIENCE = 30.0


@cache
def binaries() -> Path:
    suite = resolve("paddlecloud/test-sources", [Path(__file__).parent])
    return Path(asyncio.run(Environments(ROOT).ensure(suite, lambda _: None)).bin)


@contextmanager
def s3(home: Path, buckets: Path) -> Iterator[str]:
    """An S3 server that has the folders of *buckets* as buckets; gives its host and port."""
    metadata, juicefs, port = f"sqlite3://{home}/gw.db", str(binaries() / "juicefs"), free_port()
    formatting = ["format", "--storage", "file", "--bucket", f"{home}/store/", "--trash-days", "0"]
    finished([juicefs, *formatting, metadata, "samples"], home)
    finished([juicefs, "sync", "--dirs", f"file://{buckets}/", "jfs://META/"], home, {"META": metadata})
    keys = {"MINIO_ROOT_USER": KEYS.access, "MINIO_ROOT_PASSWORD": KEYS.secret}
    gateway = ["gateway", "--no-banner", metadata, f"127.0.0.1:{port}", "--multi-buckets", "--keep-etag"]
    gateway += [
        "--object-meta",
        "--cache-dir",
        f"{home}/cache",
        "--metrics",
        "127.0.0.1:0",
        "--no-usage-report",
    ]
    with running([juicefs, *gateway], home, port, keys | {"MINIO_DOMAIN": "s3.bj.bcebos.com"}):
        yield f"127.0.0.1:{port}"


@contextmanager
def webdav(home: Path, folder: Path) -> Iterator[str]:
    port = free_port()
    config = home / "wsgidav.yaml"
    config.write_text(
        f"host: 127.0.0.1\nport: {port}\nprovider_mapping:\n  '/': '{folder}'\nserver: cheroot\n"
        f"simple_dc:\n  user_mapping:\n    '*':\n      '{KEYS.access}':\n        password: '{KEYS.secret}'\n"
        "http_authenticator:\n  accept_basic: true\n  accept_digest: false\n  default_to_digest: false\n"
    )
    with running([str(binaries() / "wsgidav"), "--config", str(config)], home, port):
        yield f"127.0.0.1:{port}"


@contextmanager
def redis(home: Path, password: str, port: int = 0) -> Iterator[str]:
    """One that is started again with the same *home* and *port* has what it had."""
    port = port or free_port()
    config = home / "redis.conf"
    config.write_text(f"port {port}\nbind 127.0.0.1\nsave ''\nappendonly yes\ndir {home}\n")
    if password:
        config.write_text(config.read_text() + f"requirepass {password}\n")
    with running([str(binaries() / "redis-server"), str(config)], home, port):
        yield f"127.0.0.1:{port}"


@contextmanager
def http(folder: Path) -> Iterator[str]:
    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def running(command: list[str], home: Path, port: int, more: dict[str, str] | None = None) -> Iterator[None]:
    """The server while it runs; it answers on *port* when this begins."""
    with (home / "log").open("ab") as log:
        process = subprocess.Popen(
            command, env=variables(home) | (more or {}), stdout=log, stderr=log, cwd=home
        )
    try:
        end = time.monotonic() + PATIENCE
        while not answers(port):
            assert process.poll() is None and time.monotonic() < end, (home / "log").read_text()[-2000:]
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def finished(command: list[str], home: Path, more: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command, env=variables(home) | (more or {}), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr


def variables(home: Path) -> dict[str, str]:
    # No client may ask the cloud around the machine for keys.
    base = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
    return base | {"AWS_EC2_METADATA_DISABLED": "true"}


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=0.2).close()
    except OSError:
        # Waits for the server, not for the time.
        threading.Event().wait(0.02)
        return False
    return True


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])

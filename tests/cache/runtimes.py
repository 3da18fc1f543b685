"""The runtime as a process of its own, spoken to over HTTP."""

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 20.0
TOKEN = "a-token-of-the-set"
LISTENING = "listening on "


class Runtime:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        assert process.stdout is not None
        # It looks at its volume meanwhile, and may tell of that first.
        said = next((line for line in process.stdout if line.startswith(LISTENING)), "")
        self.address = said.removeprefix(LISTENING).strip()

    def ask(
        self, path: str, body: object = None, token: str = TOKEN, id: str = "", method: str = ""
    ) -> tuple[int, Any]:
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, method=method or None)
        request.add_header("Authorization", f"Bearer {token}")
        if id:
            request.add_header("filename", id)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                said = answer.read()
                return answer.status, json.loads(said) if said[:1] == b"{" else said.decode()
        except urllib.error.HTTPError as error:
            with error:
                said = error.read()
                return error.code, json.loads(said) if said[:1] == b"{" else said.decode()

    def send(self, kind: str, id: str, **options: object) -> None:
        code, said = self.ask(f"/upload/{kind}Options", options, id=id)
        assert code == 200, said

    def result(self, kind: str, id: str) -> dict[str, Any]:
        code, said = self.ask(f"/{kind}Result/{id}")
        assert code == 200, said
        found: dict[str, Any] = said
        return found

    def ended(self, kind: str, id: str) -> dict[str, Any]:
        return self.until(lambda: self.result(kind, id), lambda r: r["status"] not in ("queued", "running"))

    def info(self) -> dict[str, Any]:
        code, said = self.ask("/cacheStatus/cacheInfo.json")
        assert code == 200, said
        found: dict[str, Any] = said
        return found

    def settled(self) -> dict[str, Any]:
        """What it says when it has looked at the volume, and turned away from what has ended."""
        return self.until(self.info, lambda info: info["phase"] not in ("Verifying", "Syncing"))

    def until(
        self, look: Callable[[], dict[str, Any]], good: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while not good(seen := look()):
            assert time.monotonic() < end, f"still {seen}"
        return seen


def command(root: Path, *more: str) -> list[str]:
    (root / "token").write_text(f"{TOKEN}\n")
    places = ["--root", str(root / "set"), "--data", str(root / "set" / "data")]
    secrets = ["--token-file", str(root / "token"), "--keys", str(root / "keys")]
    run = [sys.executable, "-m", "paddlecloud.cache.runtime", "--port", "0", "--engine", "local"]
    return [*run, *places, *secrets, *more]


@contextmanager
def runtime(root: Path, *more: str, kill: bool = False) -> Iterator[Runtime]:
    process = subprocess.Popen(command(root, *more), stdout=subprocess.PIPE, text=True)
    try:
        yield Runtime(process)
    finally:
        process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        assert process.wait(PATIENCE) == (-signal.SIGKILL if kill else 0)
        assert process.stdout is not None
        process.stdout.close()

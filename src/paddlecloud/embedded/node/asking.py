"""Ask a container something: over HTTP, by a connection, by a command inside it.

Every question is bounded in time and in the bytes it reads, and opens its connection anew: a probe must not
be answered by what was true a while ago. Failures are told in the words of a kubelet.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from ...errors import Failed
from .attempts import content
from .exchanges import Dial, Place, connect, exchange
from .launcher import Launcher
from .substitution import Paths

ACTIONS = ("httpGet", "tcpSocket", "exec")
MOST_REDIRECTS = 10
LONGEST_OUTPUT = 10 * 1024


@dataclass(frozen=True)
class Target:
    """Whom to ask."""

    host: str
    ports: Mapping[str, int]
    run_folder: Path
    launcher: Launcher | None = None
    """Runs commands inside containers."""
    age: float = 0.0
    """Seconds since the container was started."""
    dial: Dial | None = None
    """How to connect to the pod where its network is not the machine's."""


@dataclass(frozen=True)
class Answer:
    good: bool | None
    """None: it could not be asked, which says nothing about the container."""
    words: str = ""


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


async def ask(action: Mapping[str, Any], target: Target, timeout: float) -> Answer:
    """The answer to an action of a probe; never raises."""
    asked = next((name for name in ACTIONS if name in action), "")
    try:
        async with asyncio.timeout(timeout):
            if asked == "httpGet":
                return await http_get(action[asked], target)
            if asked == "tcpSocket":
                return await tcp_socket(action[asked], target)
            if asked == "exec":
                return await execute(action[asked], target)
    except TimeoutError:
        return Answer(False, timed_out(asked, action, target))
    except LookupError as error:
        return Answer(None, str(error.args[0]))
    return Answer(None, "the probe has neither httpGet nor tcpSocket nor exec")


def timed_out(asked: str, action: Mapping[str, Any], target: Target) -> str:
    if asked == "exec":
        return f'command "{" ".join(action[asked]["command"])}" timed out'
    if asked == "tcpSocket":
        return f"dial tcp {place_of(action[asked], target)}: i/o timeout"
    late = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    return f'Get "{url_of(action[asked], target)}": {late}'


async def http_get(action: Mapping[str, Any], target: Target) -> Answer:
    """Good from 200 to 399; redirects are followed on the same host, elsewhere they are good as they are."""
    url = first = url_of(action, target)
    headers = {h["name"]: h["value"] for h in action.get("httpHeaders") or ()}
    for _ in range(MOST_REDIRECTS):
        try:
            response = await get(url, headers, target)
        except (OSError, ValueError, EOFError) as error:
            return Answer(False, f'Get "{url}": {reason(error, urlsplit(url).netloc)}')
        target_url = response.headers.get("location")
        if response.status not in (301, 302, 303, 307, 308) or not target_url:
            good = 200 <= response.status < 400
            return Answer(good, "" if good else f"HTTP probe failed with statuscode: {response.status}")
        url = urljoin(url, target_url)
        if urlsplit(url).hostname != urlsplit(first).hostname:
            return Answer(True, "Probe terminated redirects")
    return Answer(False, f'Get "{url}": stopped after {MOST_REDIRECTS} redirects')


async def get(url: str, headers: Mapping[str, str], target: Target) -> Response:
    """One request over a connection of its own; only the head of the response is read."""
    parts = urlsplit(url)
    secure, host = parts.scheme == "https", parts.hostname or ""
    sent = {"host": parts.netloc, "user-agent": "kube-probe/1.33", "accept": "*/*", "connection": "close"}
    sent |= {name.lower(): text for name, text in headers.items()}
    lines = [f"GET {parts.path or '/'}{'?' + parts.query if parts.query else ''} HTTP/1.1"]
    lines += [f"{name}: {text}" for name, text in sent.items() if text or name != "accept"]
    place = Place(host, parts.port or (443 if secure else 80), secure, dial_to(host, target))
    return parsed(await exchange(place, "\r\n".join([*lines, "", ""]).encode()))


def parsed(head: bytes) -> Response:
    first, *rest = head.decode("latin-1").split("\r\n")
    version, _, said = first.partition(" ")
    if not version.startswith("HTTP/") or not said[:3].isdecimal():
        raise ValueError(f"malformed HTTP response {first[:100]!r}")
    pairs = (line.partition(":") for line in rest if ":" in line)
    return Response(int(said[:3]), {name.strip().lower(): text.strip() for name, _, text in pairs})


async def tcp_socket(action: Mapping[str, Any], target: Target) -> Answer:
    place = place_of(action, target)
    try:
        await connect(place)
    except OSError as error:
        return Answer(False, reason(error, str(place)))
    return Answer(True)


async def execute(action: Mapping[str, Any], target: Target) -> Answer:
    order = content(target.run_folder / "run.json")
    if "sandbox" not in order or target.launcher is None:
        return await execute_plainly(action, order)
    with tempfile.TemporaryFile() as output, open(os.devnull, "rb") as nothing:
        streams = (nothing.fileno(), output.fileno(), output.fileno())
        try:
            code = await target.launcher.execute(target.run_folder, action["command"], streams)
        except Failed as failure:
            return Answer(None, failure.message)
        output.seek(0)
        return said_by_command(code, output.read(LONGEST_OUTPUT))


async def execute_plainly(action: Mapping[str, Any], order: Mapping[str, Any]) -> Answer:
    paths = Paths({path: Path(real) for path, real in (order.get("paths") or {}).items()})
    argv = [paths.apply(text) for text in action["command"]]
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, env=order["env"], cwd=order["cwd"], start_new_session=True,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        return Answer(False, str(error))
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return said_by_command(process.returncode or 0, output[:LONGEST_OUTPUT])


def said_by_command(code: int, output: bytes) -> Answer:
    if code == 0:
        return Answer(True)
    return Answer(False, output.decode(errors="replace").strip() or f"exit code {code}")


def url_of(action: Mapping[str, Any], target: Target) -> str:
    scheme = str(action.get("scheme") or "HTTP").lower()
    path = str(action.get("path") or "/").removeprefix("/")
    return f"{scheme}://{place_of(action, target)}/{path}"


def place_of(action: Mapping[str, Any], target: Target) -> Place:
    host = str(action.get("host") or target.host)
    return Place(host, port_of(action, target), dial=dial_to(host, target))


def dial_to(host: str, target: Target) -> Dial | None:
    return target.dial if host == target.host else None


def port_of(action: Mapping[str, Any], target: Target) -> int:
    """Raises `LookupError` for a name that no port of the container has."""
    port = action["port"]
    if isinstance(port, int):
        return port
    if port in target.ports:
        return target.ports[port]
    if str(port).isdecimal():
        return int(port)
    raise LookupError(f"couldn't find port: {port}: the container has no port of that name")


def reason(error: BaseException, where: str) -> str:
    """The cause as Go's network library words it, for the commonest."""
    if isinstance(error, ConnectionRefusedError):
        return f"dial tcp {where}: connect: connection refused"
    if isinstance(error, ConnectionResetError):
        return f"read tcp {where}: read: connection reset by peer"
    if isinstance(error, EOFError):
        return "EOF"
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return f"{where}: {text[:1].lower()}{text[1:]}"

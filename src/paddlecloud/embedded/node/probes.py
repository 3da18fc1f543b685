"""Readiness probes: ask a container again and again, and change one's mind only after enough answers.

How answers become a verdict is pure (`judged`); asking is `ask`. Liveness and startup probes will be the
same loop with another consequence.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from .attempts import content


@dataclass(frozen=True)
class Probe:
    action: Mapping[str, Any]
    """The httpGet, tcpSocket or exec of the spec, under its name."""
    initial_delay: float
    period: float
    timeout: float
    successes: int
    failures: int


@dataclass(frozen=True)
class Target:
    """Whom to ask."""

    host: str
    ports: Mapping[str, int]
    run_folder: Path


@dataclass(frozen=True)
class Verdict:
    ready: bool = False
    against: int = 0
    """Answers in a row that contradict `ready`."""


def probe_of(spec: Mapping[str, Any]) -> Probe:
    return Probe(
        action={key: spec[key] for key in ("httpGet", "tcpSocket", "exec") if key in spec},
        initial_delay=float(spec.get("initialDelaySeconds") or 0),
        period=float(spec.get("periodSeconds") or 10),
        timeout=float(spec.get("timeoutSeconds") or 1),
        successes=int(spec.get("successThreshold") or 1),
        failures=int(spec.get("failureThreshold") or 3),
    )


def judged(before: Verdict, answer: bool, probe: Probe) -> Verdict:
    """The verdict after one more answer."""
    if answer == before.ready:
        return Verdict(before.ready)
    against = before.against + 1
    enough = probe.failures if before.ready else probe.successes
    return Verdict(not before.ready) if against >= enough else Verdict(before.ready, against)


async def watch(probe: Probe, target: Target, tell: Callable[[bool, str], None]) -> None:
    """Ask until cancelled; *tell* hears every verdict with the complaint of the last answer."""
    await asyncio.sleep(probe.initial_delay)
    verdict = Verdict()
    while True:
        complaint = await ask(probe, target)
        verdict = judged(verdict, not complaint, probe)
        tell(verdict.ready, complaint)
        await asyncio.sleep(first_period(probe, verdict))


def first_period(probe: Probe, verdict: Verdict) -> float:
    """A container that is not ready yet is asked at least every second: a slow period delays no start."""
    return probe.period if verdict.ready else min(probe.period, 1.0)


async def ask(probe: Probe, target: Target) -> str:
    """What speaks against the container, in a sentence; empty: nothing."""
    try:
        async with asyncio.timeout(probe.timeout):
            if "httpGet" in probe.action:
                return await http_get(probe.action["httpGet"], target)
            if "tcpSocket" in probe.action:
                return await tcp_socket(probe.action["tcpSocket"], target)
            if "exec" in probe.action:
                return await execute(probe.action["exec"], target)
    except TimeoutError:
        return f"no answer within {probe.timeout:g} s"
    except (OSError, aiohttp.ClientError, ValueError) as error:
        return str(error) or type(error).__name__
    return "the probe has neither httpGet nor tcpSocket nor exec"


async def http_get(action: Mapping[str, Any], target: Target) -> str:
    scheme = str(action.get("scheme") or "HTTP").lower()
    path = str(action.get("path") or "/")
    url = f"{scheme}://{action.get('host') or target.host}:{port_of(action, target)}/{path.removeprefix('/')}"
    headers = {h["name"]: h["value"] for h in action.get("httpHeaders") or ()}
    async with (
        aiohttp.ClientSession(headers={"User-Agent": "kube-probe/paddlecloud", **headers}) as session,
        # As on Kubernetes, a probe does not ask who answers.
        session.get(url, ssl=False, allow_redirects=False) as answer,
    ):
        return "" if 200 <= answer.status < 400 else f"HTTP probe failed with statuscode: {answer.status}"


async def tcp_socket(action: Mapping[str, Any], target: Target) -> str:
    _, writer = await asyncio.open_connection(action.get("host") or target.host, port_of(action, target))
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return ""


async def execute(action: Mapping[str, Any], target: Target) -> str:
    order = content(target.run_folder / "run.json")
    process = await asyncio.create_subprocess_exec(
        *action["command"], env=order["env"], cwd=order["cwd"], start_new_session=True,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == 0:
        return ""
    return output[-300:].decode(errors="replace").strip() or f"exit code {process.returncode}"


def port_of(action: Mapping[str, Any], target: Target) -> int:
    port = action["port"]
    if isinstance(port, int):
        return port
    if port in target.ports:
        return target.ports[port]
    if str(port).isdecimal():
        return int(port)
    raise ValueError(f"the container has no port named {port}")


def named_ports(container: Mapping[str, Any]) -> dict[str, int]:
    return {p["name"]: int(p["containerPort"]) for p in container.get("ports") or () if p.get("name")}

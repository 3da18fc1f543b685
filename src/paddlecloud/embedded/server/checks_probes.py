"""Probes and hooks of containers: what they may not be; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .checks_words import check_port, check_port_number
from .complaints import at_least_zero, forbidden, invalid, one_of, required
from .schema import Violation

Body = dict[str, Any]
NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
HEADER = re.compile(r"[-A-Za-z0-9]+")
HEADER_RULE = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used "
    "for validation is '[-A-Za-z0-9]+')"
)


def check_probes(container: Body, path: str) -> Iterator[Violation]:
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe, here = container.get(field), f"{path}.{field}"
        if probe is None:
            continue
        yield from check_handler(probe, here, ("exec", "httpGet", "tcpSocket", "grpc"))
        for number in NUMBERS:
            yield from at_least_zero(probe.get(number), f"{here}.{number}")
        grace = probe.get("terminationGracePeriodSeconds")
        if grace is not None and grace <= 0:
            yield invalid(f"{here}.terminationGracePeriodSeconds", grace, "must be greater than 0")
        if field == "readinessProbe":
            if grace is not None:
                why = "must not be set for readinessProbes"
                yield invalid(f"{here}.terminationGracePeriodSeconds", grace, why)
        elif probe.get("successThreshold", 1) != 1:
            yield invalid(f"{here}.successThreshold", probe["successThreshold"], "must be 1")


def check_lifecycle(lifecycle: Body, path: str, grace: int) -> Iterator[Violation]:
    for field in ("postStart", "preStop"):
        if (hook := lifecycle.get(field)) is not None:
            here = f"{path}.{field}"
            yield from check_handler(hook, here, ("exec", "httpGet", "tcpSocket", "sleep"))
            seconds = (hook.get("sleep") or {}).get("seconds", 0)
            if not 0 <= seconds <= grace:
                why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
                yield invalid(f"{here}.sleep", seconds, why)


def check_handler(handler: Body, path: str, kinds: tuple[str, ...]) -> Iterator[Violation]:
    """Exactly one way of asking the container, and a sound one."""
    given = [kind for kind in kinds if handler.get(kind) is not None]
    if not given:
        yield required(path, "must specify a handler type")
        return
    yield from (forbidden(f"{path}.{k}", "may not specify more than 1 handler type") for k in given[1:])
    action, here = handler[given[0]], f"{path}.{given[0]}"
    match given[0]:
        case "exec":
            if not action.get("command"):
                yield required(f"{here}.command")
        case "httpGet":
            yield from check_http(action, here)
        case "tcpSocket":
            yield from check_port(action["port"], f"{here}.port")
        case "grpc":
            yield from check_port_number(action["port"], f"{here}.port")


def check_http(action: Body, path: str) -> Iterator[Violation]:
    if not action.get("path"):
        yield required(f"{path}.path")
    yield from check_port(action["port"], f"{path}.port")
    yield from one_of(action["scheme"], f"{path}.scheme", ("HTTP", "HTTPS"))
    for header in action.get("httpHeaders") or ():
        if not HEADER.fullmatch(header["name"]):
            yield invalid(f"{path}.httpHeaders", header["name"], HEADER_RULE)

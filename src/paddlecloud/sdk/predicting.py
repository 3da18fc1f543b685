"""A request to a served model, through the gateway of its cluster."""

from __future__ import annotations

import json
import secrets
from typing import Any
from urllib.parse import urlsplit

import urllib3

from ..api.paddleservice import PaddleService
from ..errors import Failed, Unreachable

WITHIN = 300.0


def path_of(service: PaddleService) -> str:
    """Where Paddle Serving's clients send their questions."""
    model = service.status.default.model if service.status.default else ""
    return f"/{model.partition('@')[0] or service.name}/prediction"


def host_of(service: PaddleService) -> str:
    return urlsplit(service.status.url).hostname or ""


def predict(gateway: str, service: PaddleService, body: bytes, path: str = "") -> Any:
    """The answer of the service; raises `Failed` with its words, `Unreachable` when nobody is there."""
    host = host_of(service)
    # It may be asked again when a pod dies over it: a prediction changes nothing.
    headers = {"Host": host, "Content-Type": "application/json", "Idempotency-Key": secrets.token_hex(8)}
    try:
        with urllib3.PoolManager() as pool:
            said = pool.request(
                "POST", gateway.rstrip("/") + (path or path_of(service)), body=body, headers=headers,
                retries=False, timeout=urllib3.Timeout(connect=5.0, read=WITHIN),
            )  # fmt: skip
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise Unreachable(f"the gateway at {gateway} does not answer: {error}",
                          next_step="check that it runs: `pdc status`") from error  # fmt: skip
    if said.status != 200:
        words = said.data[:500].decode(errors="replace")
        raise Failed(f"service {service.name} answered {said.status}: {words}",
                     next_step=f"pdc serve status {service.name}")  # fmt: skip
    try:
        return json.loads(said.data)
    except ValueError as error:
        raise Failed(f"service {service.name} answered no JSON: {said.data[:200]!r}") from error

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


def path_of(service: PaddleService, body: bytes = b"") -> str:
    """Where such a question goes: one with `inputs` as Open Inference has it, any other as Paddle Serving."""
    model = service.status.default.model if service.status.default else ""
    name = model.partition("@")[0] or service.name
    return f"/v2/models/{name}/infer" if open_inference(body) else f"/{name}/prediction"


def open_inference(body: bytes) -> bool:
    try:
        asked = json.loads(body or b"{}")
    except ValueError:
        return False
    return isinstance(asked, dict) and isinstance(asked.get("inputs"), list) and "feed" not in asked


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
                "POST", gateway.rstrip("/") + (path or path_of(service, body)), body=body, headers=headers,
                retries=False, timeout=urllib3.Timeout(connect=5.0, read=WITHIN),
            )  # fmt: skip
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise Unreachable(f"the gateway at {gateway} does not answer: {error}",
                          next_step="check that it runs: `pdc status`") from error  # fmt: skip
    if said.status != 200:
        words = said.data[:500].decode(errors="replace")
        raise Failed(f"service {service.name} answered {said.status}: {words}",
                     next_step=next_step(service, said.status))  # fmt: skip
    try:
        return json.loads(said.data)
    except ValueError as error:
        raise Failed(f"service {service.name} answered no JSON: {said.data[:200]!r}") from error


def next_step(service: PaddleService, status: int) -> str:
    """A question that is wrong is mended where it is written; all else is seen at the service."""
    served = service.status.default
    if status != 400 or served is None or not served.model:
        return f"pdc serve status {service.name}"
    feed = '{"feed": [{"INPUT": [...]}], "fetch": ["OUTPUT"]}'
    return (
        f"ask like {feed}; the names: pdc model show {served.model.partition('@')[0]}@{served.model_version}"
    )

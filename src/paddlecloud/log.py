"""Logging: one line a write made, none a look; JSON lines on request.

Every process calls `set_up` once; nothing is configured at import.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import MutableMapping
from typing import Any, TextIO

ROOT = "paddlecloud"


class JsonLines(logging.Formatter):
    """One JSON object a line, for collectors."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + "Z",
            "level": record.levelname.lower(),
            "part": record.name.removeprefix(f"{ROOT}."),
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def set_up(level: str = "info", *, as_json: bool = False, stream: TextIO | None = None) -> None:
    out = logging.StreamHandler(stream or sys.stderr)
    plain = logging.Formatter("%(asctime)s %(levelname).1s %(name)s: %(message)s", "%H:%M:%S")
    out.setFormatter(JsonLines() if as_json else plain)
    root = logging.getLogger(ROOT)
    root.handlers[:] = [out]
    root.propagate = False
    root.setLevel(level.upper())


def logger(part: str) -> logging.Logger:
    return logging.getLogger(f"{ROOT}.{part}")


class ObjectLog(logging.LoggerAdapter[logging.Logger]):
    """A logger that opens every line with the object it speaks of."""

    def process(self, msg: str, kwargs: MutableMapping[str, Any]) -> tuple[str, MutableMapping[str, Any]]:
        return f"{(self.extra or {})['object']}: {msg}", kwargs


def for_object(part: str, kind: str, namespace: str, name: str) -> ObjectLog:
    where = f"{namespace}/{name}" if namespace else name
    return ObjectLog(logger(part), {"object": f"{kind} {where}"})

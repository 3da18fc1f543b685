"""The definitions of our kinds, as `make generate` wrote them from the classes in `paddlecloud.api`.

Making them takes a fifth of a second at every start, and the classes another: the server needs neither.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

FILE = Path(__file__).with_name("facts") / "ourkinds.json"


def definitions() -> list[dict[str, Any]]:
    """A fresh copy of each, the caller's to change."""
    found: list[dict[str, Any]] = orjson.loads(FILE.read_bytes())
    return found


def plurals() -> list[tuple[str, str]]:
    """Group and plural of each kind."""
    return [(d["spec"]["group"], d["spec"]["names"]["plural"]) for d in definitions()]

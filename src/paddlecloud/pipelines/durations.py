"""Lengths of time as packages write them: `30s`, `1h30m`, `P1DT2H`, plain seconds; pure."""

from __future__ import annotations

import re
from typing import Any

from ..errors import WrongUse

UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
GO = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
ISO = re.compile(
    r"P(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?"
)
ISO_UNITS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}


def duration(text: Any) -> float:
    """Seconds. Raises `WrongUse`."""
    words = str(text).strip()
    if re.fullmatch(r"\d+(\.\d+)?", words):
        return float(words)
    if words and GO.sub("", words) == "":
        return sum(float(number) * UNITS[unit] for number, unit in GO.findall(words))
    found = ISO.fullmatch(words)
    if found and any(found.groupdict().values()):
        return sum(float(value) * ISO_UNITS[unit] for unit, value in found.groupdict().items() if value)
    raise WrongUse(f"{text!r} is no length of time", next_step="write 30s, 1h30m or P1D")

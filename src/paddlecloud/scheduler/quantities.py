"""Kubernetes quantities as numbers: `500m`, `2`, `512Mi`, `1.5Gi`; pure."""

from __future__ import annotations

import re
from typing import Any

FACTORS = {
    "": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60,
}  # fmt: skip
QUANTITY = re.compile(r"([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+)([KMGTPE]i|[numkMGTPE])?")


def number(quantity: Any) -> float:
    """The value of a quantity; raises `ValueError` for a text that is none."""
    match = QUANTITY.fullmatch(str(quantity).strip())
    if not match:
        raise ValueError(f"{quantity!r} is no quantity")
    return float(match[1]) * FACTORS[match[2] or ""]

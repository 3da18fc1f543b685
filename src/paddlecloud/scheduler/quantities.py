"""Kubernetes quantities as whole numbers: `500m`, `2`, `512Mi`, `1.5Gi`; exact and pure.

Sums of thousands of pods must come out even, so nothing here is a float; what is no whole number is
rounded up, as Kubernetes does.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any

FACTORS = {
    "": Fraction(1), "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12),
    "P": Fraction(10**15), "E": Fraction(10**18),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30), "Ti": Fraction(2**40),
    "Pi": Fraction(2**50), "Ei": Fraction(2**60),
}  # fmt: skip
QUANTITY = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))(?:([KMGTPE]i|[numkMGTPE])|[eE]([-+]?\d{1,3}))?")
THOUSANDTHS = ("cpu",)
"""Resources that are counted in thousandths."""
BYTES = ("memory", "storage", "ephemeral-storage")


def amount(resource: str, quantity: Any) -> int:
    """How much of *resource* a quantity is; raises `ValueError` for a text that is none."""
    return rounded(str(quantity), resource in THOUSANDTHS)


def text_of(resource: str, value: int) -> str:
    """How Kubernetes writes that much of *resource*: `4`, `2500m`, `1536Mi`."""
    if resource in THOUSANDTHS:
        return f"{value}m" if value % 1000 else str(value // 1000)
    # Counts of things are written out; only bytes come in powers of two.
    if resource not in BYTES and not resource.startswith("hugepages-"):
        return str(value)
    for suffix, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if value and value % size == 0:
            return f"{value // size}{suffix}"
    return str(value)


@lru_cache(maxsize=4096)
def rounded(quantity: str, thousandths: bool) -> int:
    value = exact(quantity)
    return ceil(value * 1000 if thousandths else value)


def exact(quantity: str) -> Fraction:
    match = QUANTITY.fullmatch(quantity.strip())
    if not match:
        raise ValueError(f"{quantity!r} is no quantity")
    number, suffix, exponent = match.groups()
    return Fraction(number) * (Fraction(10) ** int(exponent) if exponent else FACTORS[suffix or ""])

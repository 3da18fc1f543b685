"""Quantities of Kubernetes, `500m`, `1Gi`, `2`, `1e3`: exact, compared by value; pure."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from fractions import Fraction

BINARY = {"Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4, "Pi": 1024**5, "Ei": 1024**6}
DECIMAL = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12),
    "P": Fraction(10**15), "E": Fraction(10**18),
}  # fmt: skip
FORM = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?)|[eE]([+-]?\d+))")
EXPECTED = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@dataclass(frozen=True)
class Quantity:
    value: Fraction | int
    binary: bool = False
    """Printed in powers of 1024."""

    def __add__(self, other: Quantity) -> Quantity:
        # Of two families the one of the first amount that is not nothing.
        return Quantity(self.value + other.value, self.binary if self.value else other.binary)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.value - other.value, self.binary)

    def __str__(self) -> str:
        value = Fraction(self.value)
        if not value:
            return "0"
        if self.binary and value.denominator == 1 and abs(value) >= 1024:
            return scaled(value, tuple(BINARY.items()))
        return scaled(
            value, tuple((s, int(f)) for s, f in DECIMAL.items() if s in "kMGTPE" and s), small=True
        )


def scaled(value: Fraction, steps: tuple[tuple[str, int], ...], *, small: bool = False) -> str:
    """The whole number with the largest step that leaves no rest."""
    if value.denominator != 1:
        for suffix in ("m", "u", "n"):
            if (value / DECIMAL[suffix]).denominator == 1:
                return f"{value / DECIMAL[suffix]}{suffix}"
        return f"{-(-value // DECIMAL['n'])}n"
    best = str(value)
    for suffix, factor in steps:
        if value % factor == 0:
            best = f"{value // factor}{suffix}"
    return best


NOTHING = Quantity(0)


@functools.lru_cache(maxsize=4096)
def parse(text: str | int | float) -> Quantity:
    """Raises `ValueError` for what is no quantity."""
    match = FORM.fullmatch(str(text))
    if not match:
        raise ValueError(EXPECTED)
    number, suffix, exponent = match.groups()
    if suffix in BINARY:
        return Quantity(Fraction(number) * BINARY[suffix], binary=True)
    factor = Fraction(10) ** int(exponent) if exponent else DECIMAL[suffix or ""]
    return Quantity(Fraction(number) * factor)

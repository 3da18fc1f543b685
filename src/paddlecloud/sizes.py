"""Sizes and counts as people read them: `200 B`, `1.5 GiB`, `58 MiB`, `12,345`.

Pure. Powers of 1024; one decimal below ten, none from ten on, rounded to the nearest.
"""

from __future__ import annotations

import math

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def size(count: int) -> str:
    if count < 10:
        return f"{count} B"
    # The bit length, not a logarithm: exact at the powers of 1024.
    power = min((count.bit_length() - 1) // 10, len(UNITS) - 1)
    # Rounded to tenths before the number of decimals is chosen, so that 9.96 is 10 and not 10.0.
    value = math.floor(count / 1024**power * 10 + 0.5) / 10
    return f"{value:.1f} {UNITS[power]}" if value < 10 else f"{value:.0f} {UNITS[power]}"


def count(number: int) -> str:
    return f"{number:,}"

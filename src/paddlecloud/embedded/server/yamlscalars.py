"""What one word of YAML stands for, by the rules of the library that Kubernetes reads YAML with; pure.

A number is never longer than the machine's: no text of a few bytes makes the reader count for minutes.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from typing import Any

NULLS = {"", "~", "null", "Null", "NULL"}
TRUE = ("y", "yes", "on", "true")
FALSE = ("n", "no", "off", "false")
WORDS: dict[str, bool] = {
    form: truth
    for words, truth in ((TRUE, True), (FALSE, False))
    for word in words
    for form in (word, word.capitalize(), word.upper())
}
WHOLE = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NO_NUMBERS = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
LONGEST = 80  # characters of a number: 64 binary digits and room for signs and underscores
SMALLEST, LARGEST = -(2**63), 2**64 - 1
STANDARD = "tag:yaml.org,2002:"


def plain(text: str) -> Any:
    """What an unquoted word says; raises `ValueError` for a number that JSON does not have."""
    if text in NULLS:
        return None
    if text in WORDS:
        return WORDS[text]
    if text[0] not in "0123456789+-.":
        return text
    if NO_NUMBERS.fullmatch(text):
        shown = f"{'-' if text[0] == '-' else '+'}Inf" if text.lower().endswith("inf") else "NaN"
        raise ValueError(f"json: unsupported value: {shown}")
    return number(text) if len(text) <= LONGEST else text


def number(text: str) -> Any:
    digits = text.replace("_", "")
    if WHOLE.fullmatch(digits):
        value = whole(digits)
        if SMALLEST <= value <= LARGEST:
            return value
    if DECIMAL.fullmatch(digits):
        near = float(digits)
        return near if math.isfinite(near) else text
    return text


def whole(digits: str) -> int:
    bare = digits.lstrip("+-")
    # A leading zero alone makes it octal, as in Go and C.
    octal = len(bare) > 1 and bare[0] == "0" and bare[1] in "01234567"
    return int(digits, 8 if octal else 0)


def tagged(tag: str, text: str) -> Any:
    """What a word says whose type is written before it; raises `ValueError` when it is none of that type."""
    name = tag.removeprefix(STANDARD)
    if name == "binary":
        return base64.b64decode(text, validate=True).decode()
    if name not in FITS:
        return text
    value = plain(text)
    if not FITS[name](value):
        raise ValueError(f"cannot decode !!str `{text}` as a !!{name}")
    return float(value) if name == "float" else value


FITS: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}


def key(value: Any) -> str:
    """A scalar as the name of a field; raises `ValueError` for what cannot be one."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else str(value)
    raise ValueError("unsupported map key: null")

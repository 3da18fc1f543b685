"""CEL, the language of validation rules: expressions are read, checked against types, measured and asked.

It knows schemas but no rules: what a rule is and when it is asked is told in `celrules` and `celcheck`.
"""

from __future__ import annotations

from .estimates import cost_of
from .prices import LARGEST
from .programs import LIMIT, Checker, Exceeded, Program, compiled, failing
from .sizes import Size, size_of
from .types import Typed, escaped, fields_of, typed
from .values import NONE, CelError, NoOverload, some

__all__ = [
    "LARGEST",
    "LIMIT",
    "NONE",
    "CelError",
    "Checker",
    "Exceeded",
    "NoOverload",
    "Program",
    "Size",
    "Typed",
    "compiled",
    "cost_of",
    "escaped",
    "failing",
    "fields_of",
    "size_of",
    "some",
    "typed",
]

"""Conditions on an object, in the syntax of label selectors over paths: `status.phase == Succeeded`; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..errors import WrongUse

PART = re.compile(r"^\s*([\w.\-/\[\]#]+)\s*(==|=|!=|>|<)\s*(\S+)\s*$")


@dataclass(frozen=True)
class Requirement:
    path: str
    op: str
    value: str

    def __str__(self) -> str:
        return f"{self.path} {self.op} {self.value}"

    def holds(self, body: Any) -> bool:
        found: Any = body
        for key in self.path.split("."):
            if isinstance(found, list) and key.isdigit() and int(key) < len(found):
                found = found[int(key)]
            elif isinstance(found, dict) and key in found:
                found = found[key]
            else:
                return self.op == "!="
        text = str(found).lower() if isinstance(found, bool) else str(found)
        if self.op in (">", "<"):
            try:
                left, right = float(text), float(self.value)
            except ValueError:
                return False
            return left > right if self.op == ">" else left < right
        return (text == self.value) != (self.op == "!=")


def requirements(text: str) -> list[Requirement]:
    """Raises `WrongUse`."""
    found = []
    for part in filter(str.strip, text.split(",")):
        match = PART.match(part)
        if not match:
            raise WrongUse(f"{part.strip()!r} is no condition", next_step="write status.phase == Succeeded")
        found.append(Requirement(match[1], match[2], match[3]))
    return found

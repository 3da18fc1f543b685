"""Names of children: a look that is repeated gives the same ones, so that what was lost is met, not doubled.

They follow from the owner as it was seen, its version included: a name that was used is not used again.

The letters are those of Kubernetes: no vowel, and no digit that reads like one, spells a word.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from itertools import count
from typing import Any

from ...api.meta import Resource

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
LONGEST = 253
SUFFIX = 5


def free_names(prefix: str, owner: Resource, taken: Collection[str]) -> Iterator[str]:
    """Names that nobody has, always in the same order: `prefix` and five letters."""
    seed = f"{owner.uid}/{owner.metadata.resource_version}/{prefix}"
    for number in count():
        name = prefix[: LONGEST - SUFFIX] + letters(f"{seed}/{number}", SUFFIX)
        if name not in taken:
            yield name


def fingerprint(value: Any, salt: str = "") -> str:
    """Ten letters for a value as it is on the wire."""
    text = json.dumps(canonical(value), sort_keys=True, separators=(",", ":"))
    return letters(text + salt, 10)


def letters(text: str, length: int) -> str:
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16])
    found = []
    for _ in range(length):
        number, digit = divmod(number, len(LETTERS))
        found.append(LETTERS[digit])
    return "".join(found)


def canonical(value: Any) -> Any:
    """The value without what is empty: a server may leave it out or put it in."""
    if isinstance(value, dict):
        kept = {k: canonical(v) for k, v in value.items()}
        return {k: v for k, v in kept.items() if v not in (None, "", [], {})}
    return [canonical(v) for v in value] if isinstance(value, list) else value

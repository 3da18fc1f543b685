"""The `WWW-Authenticate` header of a registry, taken apart. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SCHEME = re.compile(r"\s*,?\s*([A-Za-z]+)(?:\s+|$)")
WORD = re.compile(r'\s*,?\s*([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))')


@dataclass(frozen=True)
class Challenge:
    scheme: str
    """In lower case: `bearer` or `basic`."""
    words: Mapping[str, str]


def challenges(headers: Iterable[str]) -> list[Challenge]:
    """Every challenge of the headers that we can answer, bearer before basic."""
    found = []
    for header in headers:
        position = 0
        while scheme := SCHEME.match(header, position):
            position, words = scheme.end(), {}
            while word := WORD.match(header, position):
                words[word[1].lower()] = word[3] or re.sub(r"\\(.)", r"\1", word[2] or "")
                position = word.end()
            found.append(Challenge(scheme[1].lower(), words))
    return sorted((c for c in found if c.scheme in ("bearer", "basic")), key=lambda c: c.scheme, reverse=True)

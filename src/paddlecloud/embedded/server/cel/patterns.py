"""Regular expressions of rules, asked of RE2: no pattern can take longer than its text is long.

Python's own would let the author of a pattern hold up the server.
"""

from __future__ import annotations

import functools
import json
import re
from typing import Any

from .values import CelError

# A group that is remembered: an opening bracket that is neither escaped nor in a class nor has a mark.
GROUP = re.compile(r"(?P<kept>\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\])|\((?!\?)|\(\?P?<\w+>", re.DOTALL)
# Where RE2 and its sibling in Go tell the same thing in different words.
CAUSES = {"missing )": "missing closing )", "missing ]": "missing closing ]"}
PROGRAMS = {
    "matches": "text.matches(pattern)",
    "find": "regex.extract(text, pattern).orValue('')",
    "find_all": "regex.extractAll(text, pattern)",
}


def matches(text: str, pattern: str) -> bool:
    return bool(answer("matches", text, pattern))


def find(text: str, pattern: str) -> str:
    valid(pattern)
    return str(answer("find", text, without_groups(pattern)))


def find_all(text: str, pattern: str) -> list[str]:
    valid(pattern)
    return list(answer("find_all", text, without_groups(pattern)))


def valid(pattern: str) -> None:
    """A pattern is looked at as its author wrote it, so that an error shows what they know."""
    try:
        matches("", pattern)
    except CelError as error:
        raise CelError(f"Illegal regex: {error}") from error


def without_groups(pattern: str) -> str:
    """The pattern that remembers nothing, so that what is found is always the whole match."""
    return GROUP.sub(lambda match: match["kept"] or "(?:", pattern)


def answer(what: str, text: str, pattern: str) -> Any:
    from cel_expr_python import cel  # type: ignore[import-untyped]

    value = program(what).eval(data={"text": text, "pattern": pattern})
    if value.type() == cel.Type.ERROR:
        _, _, told = str(value.value()).partition("regular expression: ")
        cause, _, shown = told.partition(": ")
        raise CelError(f"error parsing regexp: {CAUSES.get(cause, cause)}: `{shown}`")
    return value.plain_value()


@functools.cache
def program(what: str) -> Any:
    from cel_expr_python import cel

    config = {"extensions": [{"name": "optional", "version": "1"}, {"name": "regex"}]}
    text = {"text": cel.Type.STRING, "pattern": cel.Type.STRING}
    made = cel.NewEnv(config=cel.NewEnvConfigFromYaml(json.dumps(config)), variables=text)
    return made.compile(PROGRAMS[what])

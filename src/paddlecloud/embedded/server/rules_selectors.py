"""Selectors and schedules in the specs of workloads: what they may be, as Kubernetes says it; pure."""

from __future__ import annotations

import functools
import re
import zoneinfo
from collections.abc import Mapping
from typing import Any

from .formats import DURATION
from .gotext import quoted

Body = dict[str, Any]
MACRO = re.compile(r"@(annually|yearly|monthly|weekly|daily|midnight|hourly)")
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
TERM = re.compile(r"(\*|\?|(\w+)(?:-(\w+))?)(?:/(\w+))?")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
NO_NAMES: Mapping[str, int] = {}
NAMES = (
    NO_NAMES, NO_NAMES, NO_NAMES,
    {name: i for i, name in enumerate(MONTHS, 1)}, {name: i for i, name in enumerate(DAYS)},
)  # fmt: skip


def selects(selector: Body, labels: Mapping[str, str]) -> bool:
    if any(labels.get(k) != v for k, v in (selector.get("matchLabels") or {}).items()):
        return False
    for term in selector.get("matchExpressions") or ():
        value, values = labels.get(term["key"]), term.get("values") or ()
        fits = {
            "In": value in values,
            "NotIn": value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }
        if not fits.get(term["operator"], False):
            return False
    return True


def shown_map(labels: Mapping[str, str] | None) -> str:
    if labels is None:
        return "map[string]string(nil)"
    inside = ", ".join(f"{quoted(k)}:{quoted(labels[k])}" for k in sorted(labels))
    return f"map[string]string{{{inside}}}"


def shown_selector(selector: Body | None) -> str:
    """A selector as Go prints the struct."""
    if selector is None:
        return '"null"'
    terms = [
        f"v1.LabelSelectorRequirement{{Key:{quoted(t['key'])}, Operator:{quoted(t['operator'])}, "
        f"Values:{shown_values(t.get('values'))}}}"
        for t in selector.get("matchExpressions") or ()
    ]
    expressions = f"{{{', '.join(terms)}}}" if terms else "(nil)"
    return (
        f"v1.LabelSelector{{MatchLabels:{shown_map(selector.get('matchLabels'))}, "
        f"MatchExpressions:[]v1.LabelSelectorRequirement{expressions}}}"
    )


def shown_values(values: list[str] | None) -> str:
    return f"[]string{{{', '.join(map(quoted, values))}}}" if values else "[]string(nil)"


@functools.lru_cache(maxsize=256)
def schedule_problem(schedule: str) -> str:
    """What is wrong with a schedule in five fields, or an empty text."""
    if schedule.startswith("@"):
        return macro_problem(schedule)
    terms = schedule.split()
    if len(terms) != 5:
        return f"expected exactly 5 fields, found {len(terms)}: [{' '.join(terms)}]"
    for term, (low, high), names in zip(terms, RANGES, NAMES, strict=True):
        for part in term.split(","):
            if problem := term_problem(part, low, high, names):
                return problem
    return ""


def macro_problem(schedule: str) -> str:
    if MACRO.fullmatch(schedule):
        return ""
    word, _, duration = schedule.partition(" ")
    if word == "@every":
        why = f'time: invalid duration "{duration}"'
        return "" if DURATION.fullmatch(duration) else f"failed to parse duration {schedule}: {why}"
    return f"unrecognized descriptor: {schedule}"


def term_problem(part: str, low: int, high: int, names: Mapping[str, int]) -> str:
    if part.count("/") > 1:
        return f"too many slashes: {part}"
    if part.partition("/")[0].count("-") > 1:
        return f"too many hyphens: {part}"
    found = TERM.fullmatch(part)
    if not found:
        return f'failed to parse int from {part}: strconv.Atoi: parsing "{part}": invalid syntax'
    numbers = []
    for word in filter(None, (found[2], found[3])):
        number = names.get(word.lower())
        if number is None and not word.isdigit():
            return f'failed to parse int from {word}: strconv.Atoi: parsing "{word}": invalid syntax'
        numbers.append(int(word) if number is None else number)
    if found[4] and not found[4].isdigit():
        return f'failed to parse int from {found[4]}: strconv.Atoi: parsing "{found[4]}": invalid syntax'
    if found[4] and int(found[4]) == 0:
        return f"step of range should be a positive number: {part}"
    if numbers and numbers[0] < low:
        return f"beginning of range ({numbers[0]}) below minimum ({low}): {part}"
    if numbers and numbers[-1] > high:
        return f"end of range ({numbers[-1]}) above maximum ({high}): {part}"
    if len(numbers) == 2 and numbers[0] > numbers[1]:
        return f"beginning of range ({numbers[0]}) beyond end of range ({numbers[1]}): {part}"
    return ""


@functools.lru_cache(maxsize=256)
def is_time_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True

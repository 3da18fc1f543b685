"""What is left when everything has settled, without what differs from run to run; pure.

Two portraits are equal when a user could not tell which of the two runs had been disturbed: names, specs,
statuses and owners are in it; ids, times, versions and how often something was written are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

Body = dict[str, Any]
Portrait = dict[str, Body]

PASSING = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")
UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
REVISION = re.compile(r"-runtime-[0-9a-z]{8,10}\b")
"""Follows from the template, and that from the namespace."""
SYNC = re.compile(r"\bsync-[0-9a-f]{12}-")
"""Follows from the uid of a data set."""
TOKEN = re.compile(r"kube-api-access-[a-z0-9]{5}")


TRACES = (
    (UID, "<uid>"), (TIME, "<time>"), (TOKEN, "<token>"), (REVISION, "-<revision>"), (SYNC, "sync-<set>-"),
)  # fmt: skip


def portrait(bodies: Iterable[Body], namespace: str, own: Mapping[str, str]) -> Portrait:
    """The objects of *namespace* by kind and name; *own*: texts only this run has, and what they mean."""
    return {plain_name(body, namespace): without_traces(body, namespace, own) for body in bodies}


def plain_name(body: Body, namespace: str) -> str:
    name = body["metadata"]["name"].replace(namespace, "<namespace>")
    return f"{body['apiVersion']} {body['kind']} {name}"


def without_traces(body: Body, namespace: str, own: Mapping[str, str]) -> Body:
    metadata = {k: v for k, v in body["metadata"].items() if k not in PASSING}
    words = "|".join(re.escape(said) for said in own)
    meanings = {**own, namespace: "<namespace>"}
    pattern = re.compile(rf"\b(?:{words})\b|{re.escape(namespace)}" if own else re.escape(namespace))

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                k: plain(v) for k, v in value.items() if k not in ("observedGeneration", "resourceVersion")
            }
        if isinstance(value, list):
            return [plain(v) for v in value]
        if isinstance(value, str):
            return pattern.sub(lambda found: meanings[found[0]], everywhere(value))
        return own.get(str(value), value)

    found: Body = plain({**body, "metadata": metadata})
    return found


def everywhere(text: str) -> str:
    for pattern, meaning in TRACES:
        text = pattern.sub(meaning, text)
    return text


def differences(have: Any, want: Any, path: str = "") -> list[str]:
    """Where two portraits differ, one line each."""
    if isinstance(have, dict) and isinstance(want, dict):
        names = sorted(have.keys() | want.keys())
        return [d for n in names for d in differences(have.get(n), want.get(n), f"{path}/{n}")]
    if isinstance(have, list) and isinstance(want, list) and len(have) == len(want):
        pairs = enumerate(zip(have, want, strict=True))
        return [d for n, (h, w) in pairs for d in differences(h, w, f"{path}/{n}")]
    return [] if have == want else [f"{path}: {short(have)} instead of {short(want)}"]


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:197]}..."

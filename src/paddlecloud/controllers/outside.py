"""What a decision may want to know from outside its snapshot, and say to it: values, carried out by others.

`questions` asks before deciding, `calls` says afterwards. A secret is only ever named here: its content is
put in where the bytes leave, so that no decision, status, event or log can hold one.
"""

from __future__ import annotations

from typing import NamedTuple

from ..api.meta import Resource


class Token(NamedTuple):
    """The text under *key* of a Secret, by which a question or call proves who asks."""

    namespace: str
    name: str
    key: str = "token"


class HttpQuestion(NamedTuple):
    """JSON to fetch before deciding; the answer is None when nobody answered."""

    url: str
    token: Token | None = None


class LogQuestion(NamedTuple):
    """The last lines of a pod's log, as a text; None when there is no log."""

    namespace: str
    pod: str
    container: str = ""
    lines: int = 50


class KeptLogQuestion(NamedTuple):
    """The end of a container's log with the times of its lines, compressed, to be kept when its pod goes.

    The answer is bytes: none when there is no log to be had, and None when it cannot be read at the moment.
    """

    namespace: str
    pod: str
    container: str


class RecordsQuestion(NamedTuple):
    """What a container wrote down with VisualDL, as a tuple of `Recorded`; None where nobody can tell."""

    namespace: str
    pod: str
    container: str


class Recorded(NamedTuple):
    """The last number under a tag."""

    tag: str
    step: int
    value: float | None
    """None: not a number that could be told, such as infinity."""


class SecretQuestion(NamedTuple):
    """What there is of a Secret, as a `SecretSight`; None when there is no such Secret."""

    namespace: str
    name: str


class SecretSight(NamedTuple):
    """All that a decision learns of a Secret."""

    keys: frozenset[str]
    """Those with something under them but blanks."""
    owner: str = ""
    """The uid of the object that controls it."""


class WarningQuestion(NamedTuple):
    """The last warning among the events of a pod, as a text; None where there is none."""

    namespace: str
    uid: str
    reason: str = ""
    """Only those with that reason."""


class ObjectQuestion(NamedTuple):
    """One object of the cluster, of a kind that has too many to be followed; None when there is none."""

    kind: type[Resource]
    namespace: str
    name: str


Asked = LogQuestion | KeptLogQuestion | RecordsQuestion | SecretQuestion | WarningQuestion | ObjectQuestion
"""What the cluster itself is asked."""
Question = HttpQuestion | Asked


class HttpCall(NamedTuple):
    """JSON to hand over after the children are written; who hears it twice under one id heard it once."""

    url: str
    id: str
    """Goes with it as the header `filename`."""
    body: str
    """JSON."""
    token: Token | None = None

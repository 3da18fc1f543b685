"""How several streams share one WebSocket: the first byte of a message names the channel.

Pure. The dialects differ in how bytes are written (as they are, or as base64 text), in whether a client can
close one channel (v5), and in what is said at the end (a `Status` since v4, a sentence before).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
ENDED = "command terminated with non-zero exit code: exit status {}"


@dataclass(frozen=True)
class Dialect:
    name: str
    text: bool = False
    """Base64 in text messages; the channel is a digit."""
    statuses: bool = True

    def encode(self, channel: int, data: bytes) -> bytes | str:
        if self.text:
            return f"{channel}{base64.b64encode(data).decode()}"
        return bytes((channel,)) + data

    def decode(self, message: bytes | str) -> tuple[int, bytes]:
        """The channel and what came on it; raises `ValueError` for what is no message of ours."""
        if not message:
            raise ValueError("an empty message names no channel")
        if not self.text:
            data = message.encode() if isinstance(message, str) else message
            return data[0], data[1:]
        text = message if isinstance(message, str) else message.decode("ascii")
        try:
            return int(text[0]), base64.b64decode(text[1:], validate=True)
        except binascii.Error as error:
            raise ValueError(f"not base64: {error}") from None

    def conclusion(self, code: int) -> bytes:
        """What the error channel says when the command has ended with *code*."""
        if self.statuses:
            return json.dumps(exit_status(code)).encode()
        return b"" if code == 0 else ENDED.format(code).encode()


# In the order in which we like them.
DIALECTS = tuple(
    Dialect(*said)
    for said in (
        ("v5.channel.k8s.io",),
        ("v4.channel.k8s.io",),
        ("v4.base64.channel.k8s.io", True),
        ("channel.k8s.io", False, False),
        ("base64.channel.k8s.io", True, False),
    )
)
UNNAMED = Dialect("", statuses=False)
"""For clients that offer nothing."""


def chosen(offered: Sequence[str]) -> Dialect | None:
    """The best dialect of those *offered*; None: we speak none of them."""
    if not offered:
        return UNNAMED
    return next((dialect for dialect in DIALECTS if dialect.name in offered), None)


def exit_status(code: int) -> dict[str, Any]:
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": ENDED.format(code),
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def failure_status(message: str) -> dict[str, Any]:
    return {
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": "InternalError",
        "details": {"causes": [{"message": message}]},
        "code": 500,
    }


def size_of(data: bytes) -> tuple[int, int] | None:
    """Columns and rows of a message on the resize channel; None: it says nothing sensible."""
    try:
        told = json.loads(data)
        columns, rows = int(told["Width"]), int(told["Height"])
    except (ValueError, KeyError, TypeError):
        return None
    return (columns, rows) if 0 <= columns < 65536 and 0 <= rows < 65536 else None

"""Signals, sockets and JSON by the shortest way through the interpreter.

A shim shares with the zygote whatever neither of them touches, and running code of the standard library
touches it; what they share weighs on few where there are few pods. The enumerations of `signal` and `socket`
and the layers of `json` are a third of all that a zygote would load. Only the standard library.
"""

from __future__ import annotations

import _json
from _json import encode_basestring_ascii as _quoted

from . import procfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as signal
    import socket as socket
    from collections.abc import Callable, Mapping
    from typing import Any
else:
    import _signal as signal  # the same functions, of plain numbers  # noqa: F401

    from . import lightsockets as socket  # noqa: F401


class _Plain:
    """How values are made of JSON: as `json` does it when nobody asks for more."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int

    @staticmethod
    def parse_constant(name: str) -> float:
        return float(name.replace("Infinity", "inf"))


_scan: Callable[[str, int], tuple[Any, int]] = _json.make_scanner(_Plain)  # type: ignore[arg-type]
_WORDS = {True: "true", False: "false"}


def read(path: str) -> Any:
    """The content of a JSON file that begins without blanks, as ours do; raises `ValueError` for others."""
    try:
        return _scan(procfs.text(path), 0)[0]
    except StopIteration:
        raise ValueError(f"{path} is not JSON") from None


def text_of(content: Mapping[str, str | int | float | bool]) -> str:
    """JSON of one level."""
    return "{" + ", ".join([f"{_quoted(key)}: {_word(value)}" for key, value in content.items()]) + "}"


def _word(value: str | int | float | bool) -> str:
    if isinstance(value, str):
        return _quoted(value)
    return _WORDS[value] if isinstance(value, bool) else repr(value)

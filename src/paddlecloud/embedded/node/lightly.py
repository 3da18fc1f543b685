"""Signals and JSON by the shortest way through the interpreter.

A shim shares with the zygote whatever neither of them touches, and running code of the standard library
touches it: the enumerations of `signal` and the layers of `json` cost every pod 160 kB. Only the standard
library.
"""

from __future__ import annotations

import json
import json.encoder

from . import procfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as signal
    from collections.abc import Callable, Mapping
    from typing import Any
else:
    import _signal as signal  # the same functions, of plain numbers  # noqa: F401

_scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_quoted = json.encoder.encode_basestring_ascii
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

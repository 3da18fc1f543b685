"""Secrets as they are mounted: a folder a Secret, a file a key; read each time, for they may come later."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ..errors import Failed
from .engine import Keys

NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


def mounted(folder: Path | None) -> Callable[[str], Keys | None]:
    """Finds the keys of the Secret of a name below *folder*; None where it is not mounted."""

    def found(name: str) -> Keys | None:
        if folder is None or not NAME.fullmatch(name) or not (folder / name).is_dir():
            return None
        return Keys(value(folder / name / "access-key"), value(folder / name / "secret-key"))

    return found


def value(file: Path) -> str:
    """The content without the newline that editors leave; empty for a key that is not there."""
    try:
        return file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Failed(
            f"the key {file.name} of the Secret {file.parent.name} cannot be read",
            next_step="store it as plain text",
        ) from error

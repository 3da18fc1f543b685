"""The file `mirrors.yaml` of a home, read anew each time: a change needs no restart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..controllers.mirrors import parsed
from ..errors import WrongUse

LARGEST = 1 << 20


def mirrors_in(file: Path) -> Mapping[str, str]:
    """The table in *file*, empty where there is none. Raises `WrongUse` for one that is no table."""
    try:
        return parsed(text_of(file))
    except FileNotFoundError:
        return {}
    except WrongUse as error:
        raise WrongUse(f"{file}: {error.message}", next_step=error.next_step) from error


def text_of(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            text = opened.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise WrongUse("it is larger than a table of mirrors can be")
        return text.decode()
    except FileNotFoundError:
        raise
    except UnicodeDecodeError as error:
        raise WrongUse("it is no text") from error
    except OSError as error:
        raise WrongUse(f"it cannot be read: {error.strerror}") from error

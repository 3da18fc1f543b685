"""Configure: writes a file to a volume that is mounted into the step."""

from __future__ import annotations

import sys
from pathlib import Path

from ...errors import Failed, WrongUse
from ...sdk.client import Client
from ..component import Component, Inputs, program

COMPONENT = Component(
    "configure",
    "Write a file to a folder of a mounted volume.",
    required=("path", "filename", "content"),
    outputs=("file",),
)


def work(_: Client, inputs: Inputs) -> dict[str, str]:
    name = inputs["filename"]
    if not name or "/" in name or name in (".", ".."):
        raise WrongUse(f"filename {name!r} is no name of a file")
    file = Path(inputs["path"]) / name
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(inputs["content"], encoding="utf-8")
    except OSError as error:
        raise Failed(f"{file} cannot be written: {error.strerror}") from error
    return {"file": str(file)}


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))

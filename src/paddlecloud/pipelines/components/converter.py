"""Converter: lays an exported model out for Paddle Serving, on a volume that is mounted into the step.

    <mount_path>/<model_name>/server/  client/      and both as      <mount_path>/<model_name>.tar.gz

The archive takes the place of an older one when it is whole.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from ...errors import Failed, WrongUse
from ...sdk.client import Client
from ...sdk.hub import checked_name
from ...sdk.publishing import pack
from ...serving.convert import chosen
from ...serving.layout import Target, write
from ...serving.programs import signature_of
from ..component import Component, Inputs, program

COMPONENT = Component(
    "converter",
    "Convert an exported model on a mounted volume to Paddle Serving's layout, and pack it.",
    inputs={
        "mount_path": "/mnt/task-center/",
        "dirname": "inference",
        "pdmodel": "",
        "pdiparams": "",
    },
    required=("model_name",),
    outputs=("model_name", "model_file"),
)


def work(_: Client, inputs: Inputs) -> dict[str, str]:
    return convert(inputs)


def convert(inputs: Inputs) -> dict[str, str]:
    """Raises `WrongUse` for a name that leads elsewhere, `Failed` where there is no model."""
    model, volume = checked_name(inputs["model_name"], "a model"), Path(inputs["mount_path"])
    source = volume / inputs["dirname"]
    for name in ("pdmodel", "pdiparams"):
        if "/" in inputs[name]:
            raise WrongUse(f"{name} {inputs[name]!r} is no name of a file", next_step=f"it lies in {source}")
    files = chosen(source, inputs["pdmodel"] or None, inputs["pdiparams"] or None)
    archive = volume / f"{model}.tar.gz"
    try:
        with tempfile.TemporaryDirectory(prefix=f".{model}-", dir=volume) as part:
            laid = Path(part) / model
            write(files, signature_of(files.program), Target(laid / "server", laid / "client"))
            pack(laid, model, Path(part) / archive.name)
            shutil.rmtree(volume / model, ignore_errors=True)
            os.rename(laid, volume / model)
            os.replace(Path(part) / archive.name, archive)
    except OSError as error:
        raise Failed(f"{error.filename or volume} cannot be written: {error.strerror}") from error
    print(f"{source} is {archive} now", flush=True)
    return {"model_name": model, "model_file": str(archive)}


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))

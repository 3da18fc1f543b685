"""Uploader: puts an archive from a mounted volume where the servers of the documents look for a model.

    <endpoint>/model-center/<model_name>/<version>/<name of the file>

The keys of the store are in variables of the step; a component reads no Secrets.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from ...errors import WrongUse
from ...models.opening import ACCESS, SECRET
from ...sdk.client import Client
from ...sdk.hub import LATEST
from ...sdk.publishing import ENDPOINT, Archive, place_archive
from ..component import Component, Inputs, program

COMPONENT = Component(
    "uploader",
    "Upload the archive of a model to the model centre; keys in MINIO_ACCESS_KEY and MINIO_SECRET_KEY.",
    inputs={"endpoint": ENDPOINT, "version": LATEST},
    required=("model_file", "model_name"),
    outputs=("url",),
)
KEYS = {ACCESS: "MINIO_ACCESS_KEY", SECRET: "MINIO_SECRET_KEY"}


def work(_: Client, inputs: Inputs) -> dict[str, str]:
    return upload(inputs, os.environ)


def upload(inputs: Inputs, environ: Mapping[str, str]) -> dict[str, str]:
    """Raises `WrongUse` without a file or without keys, `Failed` when the store refuses."""
    file = Path(inputs["model_file"])
    if not file.is_file():
        raise WrongUse(f"there is no file {file}", next_step="mount the volume it is on into the step")
    if missing := [name for name in KEYS.values() if not environ.get(name)]:
        raise WrongUse(
            f"the step has no {' and no '.join(missing)}",
            next_step="set them from the Secret model-store, keys access-key and secret-key",
        )
    keys = {ours: environ[name] for ours, name in KEYS.items()}
    archive = Archive(inputs["model_name"], inputs["version"], file)
    url = place_archive(archive, inputs["endpoint"], keys)
    print(f"{file} is at {url} now", flush=True)
    return {"url": url}


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))

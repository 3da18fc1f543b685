"""The model as others serve it: program and parameters, with all that its processor needs beside them."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paddle


@dataclass(frozen=True)
class Served:
    """What is exported of a trained network."""

    network: Any
    inputs: list[Any]
    """`InputSpec`s, in the order of the network's arguments."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Copied beside the model: name there, place here."""
    texts: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Written to `preprocess.json`."""


def export(served: Served, folder: Path) -> None:
    """Write the model to *folder*, which appears whole, in the place of one of an earlier attempt."""
    folder = Path(os.path.abspath(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        part.chmod(0o755)
        served.network.eval()
        traced = paddle.jit.to_static(served.network, input_spec=served.inputs, full_graph=True)
        paddle.jit.save(traced, str(part / "inference"))
        for name, source in served.files.items():
            shutil.copyfile(source, part / name)
        for name, content in served.texts.items():
            (part / name).write_text(content, encoding="utf-8")
        if served.settings:
            (part / "preprocess.json").write_text(json.dumps(served.settings) + "\n")
        replace(part, folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def replace(part: Path, folder: Path) -> None:
    old = part.with_name(part.name + "-old")
    if folder.exists():
        os.rename(folder, old)
    os.rename(part, folder)
    shutil.rmtree(old, ignore_errors=True)

"""The model as others serve it: a folder that appears whole, in the place of one of an earlier attempt."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path


def export(output: Path, metrics: dict[str, float], write: Callable[[Path], None]) -> None:
    """Let *write* fill the folder with the model, add `labels.txt` and `metrics.json`, put it at *output*."""
    output.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{output.name}-", dir=output.parent))
    try:
        part.chmod(0o755)
        write(part)
        (part / "labels.txt").write_text("click\n")
        (part / "metrics.json").write_text(json.dumps(metrics) + "\n")
        replace(part, output)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    print(f"exported {output}", flush=True)


def early_folder(options: Namespace) -> Path:
    """Where the model of the early epoch goes: beside the one that comes at the end."""
    return Path(options.output).with_name(f"epoch-{options.early}")


def replace(part: Path, output: Path) -> None:
    old = part.with_name(part.name + "-old")
    if output.exists():
        os.rename(output, old)
    os.rename(part, output)
    shutil.rmtree(old, ignore_errors=True)

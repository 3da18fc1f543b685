"""The code that the model suites share: modules that need no Paddle here, everything else as its programs."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from tests.suites.environments import python, variables

from paddlecloud.settings import shipped

CODE = shipped("suites") / "kits" / "code"
PATIENCE = 300


def module(name: str) -> ModuleType:
    """A module of the shared code, imported into the tests."""
    if str(CODE) not in sys.path:
        sys.path.append(str(CODE))
    return importlib.import_module(name)


def run(name: str, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A program of a suite, as its container runs it."""
    return subprocess.run(
        [python(name), *command],
        cwd=CODE,
        env=variables(name) | {"PYTHONDONTWRITEBYTECODE": "1"} | more,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def text_detection(data: Path, output: Path) -> list[str]:
    """What a configuration of PaddleOCR is told about drawn pages."""
    names = {"Train": "train_icdar2015_label.txt", "Eval": "test_icdar2015_label.txt"}
    told = [f"{split}.dataset.data_dir={data}" for split in names]
    told += [f"{split}.dataset.label_file_list=[{data / name}]" for split, name in names.items()]
    return [*told, f"Global.save_model_dir={output}"]


def text_recognition(data: Path, output: Path) -> list[str]:
    names = {"Train": "rec_gt_train.txt", "Eval": "rec_gt_test.txt"}
    told = [f"{split}.dataset.data_dir={data}" for split in names]
    told += [f"{split}.dataset.label_file_list=[{data / name}]" for split, name in names.items()]
    return [*told, f"Global.save_model_dir={output}"]

"""The small ResNet: trains alone in seconds, and goes on from where it was."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.suites.environments import python, suite, variables

PROGRESS = re.compile(r"epoch (\d)/\d step \d+/10 loss (\d+\.\d{4}) accuracy [01]\.\d{3} samples/s \d+")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = suite("resnet").folder / "code" / "train_fleet.py"
    return subprocess.run(
        [python("resnet"), str(program), "--images", "320", *arguments],
        env=variables("resnet"), capture_output=True, text=True, timeout=180,
    )  # fmt: skip


def test_it_goes_on_from_its_checkpoint_and_exports(tmp_path: Path) -> None:
    kept = ("--checkpoint", str(tmp_path / "kept"), "--gpus", "0")
    first = run("--epochs", "1", *kept)
    assert first.returncode == 0, first.stderr
    second = run("--epochs", "3", "--output", str(tmp_path / "model"), *kept)
    assert second.returncode == 0, second.stderr

    before, after = PROGRESS.findall(first.stdout), PROGRESS.findall(second.stdout)
    assert [epoch for epoch, _ in (*before, *after)] == ["1", "1", "2", "2", "3", "3"]
    assert "goes on after epoch 1\n" in second.stdout
    assert float(after[-1][1]) < float(before[0][1]) - 0.1
    assert re.search(r"^test accuracy [01]\.\d+ loss \d", second.stdout, re.MULTILINE)
    assert {"model.json", "model.pdiparams", "labels.txt"} <= {p.name for p in (tmp_path / "model").iterdir()}

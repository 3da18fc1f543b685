"""PaddleRec's two commands: what the trainer keeps the other one judges."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.suites.environments import python, suite, variables

from paddlecloud.cli.courses import suite_code

CONFIG = "models/rank/wide_deep/config.yaml"


def run(program: str, *changes: str) -> subprocess.CompletedProcess[str]:
    folder = suite("paddlerec").code
    assert folder is not None
    return subprocess.run(
        [python("paddlerec"), program, "-m", CONFIG, "-o", *changes],
        cwd=folder,
        env=variables("paddlerec") | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=180,
    )


def test_every_epoch_is_kept_and_judged(tmp_path: Path) -> None:
    data = suite_code("wide-and-deep", "make_data").make(tmp_path / "data", 4000, 500)
    changes = [f"runner.{split}_data_dir={data / f'slot_{split}_data_full'}" for split in ("train", "test")]
    changes += [f"runner.model_save_path={tmp_path / 'out'}", "runner.epochs=2"]
    trained = run("tools/trainer.py", *changes)
    assert trained.returncode == 0, trained.stderr
    judged = run("tools/infer.py", *changes)
    assert judged.returncode == 0, judged.stderr

    [last] = re.findall(r"^test auc ([\d.]+)", trained.stdout, re.MULTILINE)
    found = re.findall(
        r"^epoch: (\d) done, auc: ([\d.]+), loss: [\d.]+, epoch time", judged.stdout, re.MULTILINE
    )
    assert [epoch for epoch, _ in found] == ["0", "1"]
    assert abs(float(found[-1][1]) - float(last)) < 1e-3 and float(last) > 0.7
    assert {"rec_inference.pdmodel", "rec_inference.pdiparams"} <= {
        p.name for p in (tmp_path / "out" / "1").iterdir()
    }


def test_epochs_that_nobody_kept_are_named(tmp_path: Path) -> None:
    done = run("tools/infer.py", f"runner.model_save_path={tmp_path}", "runner.infer_end_epoch=1")

    assert done.returncode == 2 and "cannot judge: nothing that trainer.py kept" in done.stderr
    assert f"{tmp_path}/0/rec.pdparams" in done.stderr

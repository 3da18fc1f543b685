"""Records as the real VisualDL writes them are found and read."""

from __future__ import annotations

import math
from pathlib import Path

from tests.suites.kits import CODE
from tests.visualdl.environment import run

from paddlecloud.embedded.node.recordplaces import Place, own_records
from paddlecloud.embedded.node.records import RecordFile

WRITES = """
import numpy
from visualdl import LogWriter

with LogWriter() as writer:
    writer.add_image("picture", numpy.random.randint(0, 255, (400, 400, 3)).astype("uint8"), 0)
    for step in range(1000):
        writer.add_scalar("train/loss", 1 / (step + 1), step)
    writer.add_scalars("both", {"a": 1.5, "b": 0.0}, 3)
    writer.add_scalar("neg", float("nan"), -3)
    writer.add_scalar("zero", 0, 0)
    writer.add_text("text", "train/loss", 1)
    writer.add_histogram("weights", numpy.zeros(10), 4)
    writer.add_hparams({"lr": 0.1}, ["train/loss"])
with LogWriter("eval/deep", filename_suffix=".more", display_name="second") as writer:
    writer.add_scalar("eval/acc", 0.875, 7, walltime=1700000000123)
"""


def test_all_numbers_are_read_and_everything_else_is_passed_over(tmp_path: Path) -> None:
    run(WRITES, tmp_path)
    read = [RecordFile(found) for found in own_records([Place(tmp_path)], 0)]
    for file in read:
        file.read_on(1 << 30)

    [first] = [file.newest for file in read if "zero" in file.newest]
    [second] = [file.newest for file in read if "zero" not in file.newest]
    found = {tag: (one.step, round(one.value, 6)) for tag, one in first.items() if one.step >= 0}
    assert found == {"train/loss": (999, 0.001), "both/a": (3, 1.5), "both/b": (3, 0), "zero": (0, 0)}
    assert first["neg"].step == -3 and math.isnan(first["neg"].value)
    assert [tuple(one) for one in second.values()] == [("eval/acc", 7, 0.875, 1700000000123)]


READS = f"""
import sys
sys.path.append({str(CODE)!r})
from pathlib import Path
from kit.records import Curves
from visualdl import LogReader

with Curves(Path("out/vdl"), "training") as curves:
    for step in range(300):
        curves.add("TRAIN/loss", 1 / (step + 1), step)
    curves.add("EVAL/acc", 0.875, 299)
[file] = Path("out/vdl").iterdir()
reader = LogReader(file_path=str(file))
tags = reader.get_tags()
assert tags.pop("meta_data") and {{kind: set(names) for kind, names in tags.items()}} == {{
    "scalar": {{"TRAIN/loss", "EVAL/acc"}}
}}, tags
found = reader.get_data("scalar", "TRAIN/loss")
assert [one.id for one in found] == list(range(300)) and found[1].value == 0.5
assert reader.get_data("scalar", "EVAL/acc")[0].timestamp > 1_600_000_000_000
"""


def test_the_curves_of_the_model_suites_are_read_by_visualdl(tmp_path: Path) -> None:
    run(READS, tmp_path)

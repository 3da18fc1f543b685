"""The guide to models: its commands typed in the order of the page."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.scenarios.guidepages import DOCS, play
from tests.scenarios.pdc_home import PdcHome

EXPORTED = Path(__file__).parent.parent / "serving" / "weighted"


@pytest.mark.long
def test_every_command_of_the_guide_does_what_it_says(cluster: PdcHome, tmp_path: Path) -> None:
    shutil.copytree(EXPORTED, tmp_path / "exported")
    said = play(DOCS / "models.md", cluster, tmp_path)

    def line(pattern: str) -> bool:
        return re.search(pattern, said, re.MULTILINE) is not None

    assert line(r"^weighted-1 +march +Ready +paddle\+onnx +\S+ KiB +0.91 +latest$")
    assert line(r"^weighted-2 +april +Ready +paddle\+onnx +\S+ KiB +0.94 +latest$")
    assert line(r"^  onnx: exact; outputs differ by at most \S+, within the tolerance of 0.0001$")
    assert line(r"^file +labels.txt +- +\S+ 6 B$") and line(r"^metric +accuracy +0.91 +0.94$")
    assert line(r"^weighted@production is weighted-1, before weighted-2$")
    assert line(r"^weighted-1 since .*, by \S+: slower than thought$")
    assert line(r"^serving_client_conf.prototxt$") and line(r"^model.pdiparams$")
    assert line(r"^modelversion/weighted-2 deleted$")
    assert (tmp_path / "served" / "model.json").read_bytes() == (EXPORTED / "model.json").read_bytes()

"""The guide to data: its files are written down and its commands typed, in the order of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.scenarios.guidepages import DOCS, play
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.cache.sources.opening import WAYS
from paddlecloud.controllers.dataengines import SCHEMES

GUIDE = DOCS / "data.md"


@pytest.mark.long
def test_every_command_of_the_guide_does_what_it_says(cluster: PdcHome, tmp_path: Path) -> None:
    said = play(GUIDE, cluster, tmp_path)

    assert re.search(r"^photos +8 B +8 B +\S+ \w+ +1/1 +Ready$", said, re.MULTILINE)
    assert re.search(r"^size +7 B, 7 B cached$", said, re.MULTILINE), "three more came, four went"
    assert re.search(r"^words +7 B +7 B +\S+ \w+ +1/1 +Ready +\d+s$", said, re.MULTILINE)
    assert re.search(r"^words-warmup +Succeeded$", said, re.MULTILINE)
    assert f"is read from its mirror file://{tmp_path}/public/words" in said
    assert "secretRef:\n      name: store-keys" in said
    assert "sampleset/words deleted" in said


def test_the_guide_names_every_kind_of_source() -> None:
    table = GUIDE.read_text().partition("## Sources")[2].partition("## Secrets")[0]
    named = {
        word
        for line in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for word in re.findall(r"[a-z]\w+", line)
    }
    assert set(SCHEMES) <= named | {"file"} and set(SCHEMES) <= set(WAYS)

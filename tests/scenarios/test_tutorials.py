"""The three cases of the documents as tutorials, each typed from its first line to its last."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.pipelines.environment import binaries
from tests.scenarios.guidepages import DOCS, ROOT, page_of, play
from tests.scenarios.pdc_home import PdcHome

TUTORIALS = DOCS / "tutorials"
CASES = ("wide-and-deep", "text-detection", "ppocrv3")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What the pages name of the repository, and the environments of kfp."""
    for name in ("examples", "suites"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.parametrize("case", CASES)
def test_both_languages_type_the_same(case: str) -> None:
    english, chinese = (page_of((TUTORIALS / f"{case}{end}.md").read_text()) for end in ("", ".zh-CN"))
    assert english == chinese


@pytest.mark.long
def test_wide_and_deep_tells_how_likely_a_click_is(home: PdcHome, tree: Path) -> None:
    said = play(TUTORIALS / "wide-and-deep.md", home, tree)

    assert re.search(r"criteo +\S+ \w+ .* Ready ", said)
    assert re.search(r"wide-deep +Completed +Collective ", said)
    assert "wide-deep-serving: Ready" in said
    [chance] = re.findall(r"\[\s*(0\.\d+(?:e-\d+)?)\s*\]", said)
    assert 0 < float(chance) < 1


@pytest.mark.long
def test_the_text_detection_runs_with_both_generations_of_kfp(home: PdcHome, tree: Path) -> None:
    for generation, name in ((1, "kfp18"), (2, "kfp2")):
        (tree / name).symlink_to(binaries(generation).parent)
    said = play(TUTORIALS / "text-detection.md", home, tree)

    assert re.search(r"ppocr-det +Completed ", said)
    assert "ppocr-det: Ready" in said
    assert "ended as SUCCEEDED" in said and re.search(r"ppocr-kfp2", said)


@pytest.mark.long
def test_ppocrv3_is_distilled_on_the_pages(home: PdcHome, tree: Path) -> None:
    said = play(TUTORIALS / "ppocrv3.md", home, tree)

    assert re.search(r"hiertext +\S+ \w+ .* Ready ", said)
    assert re.search(r"ppocrv3 +Completed +Single ", said)

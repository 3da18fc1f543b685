"""The page about templates, followed from its first line to its last; one of them runs to its service."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.scenarios.guidepages import DOCS, play
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.pipelines.reading import read_package
from paddlecloud.pipelines.templates.description import templates

GUIDE = DOCS / "templates.md"


@pytest.mark.long
def test_the_page_about_templates_holds(cluster: PdcHome, tmp_path: Path) -> None:
    said = play(GUIDE, cluster, tmp_path)

    assert "template sentiment-analysis would run in image paddlecloud/paddlenlp; nothing was made" in said
    accuracy = re.search(
        r"run praise-or-blame succeeded\n  model +sentiment-analysis-1\n  accuracy (\S+)", said
    )
    assert accuracy and float(accuracy[1]) > 0.8
    assert '"positive"' in said
    assert "ended as Succeeded with sentiment-analysis-2" in said
    assert read_package((tmp_path / "text-detection.yaml").read_bytes()).graph.parameters["epochs"] == 10
    assert "optimism" in said and '  optimism="much"' in said


def test_the_page_tells_what_became_of_every_shipped_template() -> None:
    table = GUIDE.read_text().partition("## The templates, run")[2].partition("## A template of your own")[0]
    rows = re.findall(r"^\| `([\w-]+)` \| `([\w-]+)` \| (\w+) [\d.]+ \| \d+ \| \d+ \|$", table, re.MULTILINE)
    assert sorted(rows) == sorted((t.name, t.suite, t.says.metric) for t in templates().values())

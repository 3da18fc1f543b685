"""The page about services, followed from its first line to its last."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.scenarios.guidepages import DOCS, play
from tests.scenarios.pdc_home import fresh_home

pytestmark = pytest.mark.long


def test_the_page_about_services_holds(tmp_path: Path) -> None:
    with fresh_home() as home:
        home.ok("up", "--detach")
        said = play(DOCS / "serving.md", home, tmp_path)

    assert "我|爱|北京|天安门" in said
    assert "Done, 100 %" in said and "words answers at http://words.default.example.com" in said
    assert " 0 " in (tmp_path / "bench.txt").read_text().splitlines()[1], "no request failed meanwhile"

"""The writer of curves is the same in every suite: folders of suites share no code, so it is copied."""

from pathlib import Path

import pytest

SUITES = Path(__file__).parent.parent.parent / "suites"
WRITER = SUITES / "kits" / "code" / "kit" / "records.py"


@pytest.mark.parametrize("suite", ["shapes", "wide-and-deep"])
def test_copies_are_copies(suite: str) -> None:
    assert (SUITES / suite / "code" / "records.py").read_text() == WRITER.read_text()

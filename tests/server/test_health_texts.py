"""What is said of the checks, and how often the store is tried for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.embedded.stores import opened

from paddlecloud.embedded.server.health import told
from paddlecloud.embedded.store.pulse import FRESH, Pulse
from paddlecloud.errors import Unavailable


@pytest.mark.parametrize(
    ("excluded", "problems", "lines", "end"),
    [
        ((), {}, {"[+]ping ok", "[+]etcd ok"}, "readyz check passed"),
        (("etcd",), {}, {"[+]etcd excluded: ok", "[+]ping ok"}, "readyz check passed"),
        ((), {"etcd": "secret"}, {"[-]etcd failed: reason withheld", "[+]ping ok"}, "readyz check failed"),
        (
            ("b", "a"),
            {"log": "full"},
            {'warn: some health checks cannot be excluded: no matches for "a", "b"'},
            "readyz check failed",
        ),
    ],
)
def test_every_check_has_a_line(
    excluded: tuple[str, ...], problems: dict[str, str], lines: set[str], end: str
) -> None:
    text = told("readyz", excluded, problems)
    *found, last = text.splitlines()
    assert lines <= set(found) and last == end
    assert "secret" not in text


async def test_a_trial_answers_all_who_ask_within_a_moment(tmp_path: Path) -> None:
    now = 0.0
    async with opened(tmp_path / "store.db") as store:
        pulse = Pulse(store, lambda: now)
        tried = store.revisions.database.total_changes
        for seconds in (0.0, FRESH / 2, FRESH * 0.9):
            now = seconds
            await pulse.check_writing()
        assert store.revisions.database.total_changes - tried == 1
        now = FRESH * 2
        await pulse.check_writing()
        assert store.revisions.database.total_changes - tried == 2
        assert store.revision == 0


async def test_a_closed_store_neither_reads_nor_writes(tmp_path: Path) -> None:
    async with opened(tmp_path / "store.db") as store:
        pulse = Pulse(store)
        pulse.check_reading()
        assert not pulse.ended
    assert pulse.ended
    with pytest.raises(Unavailable, match="cannot be read"):
        pulse.check_reading()
    with pytest.raises(Unavailable, match="could not write"):
        await pulse.check_writing()

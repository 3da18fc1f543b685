"""The whole walk as a newcomer takes it: one command from generated data to a served model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from tests.scenarios.pdc_home import PdcHome, fresh_home, listens

from paddlecloud.embedded.identity import known


@pytest.fixture(scope="module")
def walked() -> Iterator[tuple[PdcHome, str]]:
    """A home where one walk is over, and what it said."""
    with fresh_home() as home:
        yield home, home.ok("demo")


@pytest.fixture(scope="module")
def kept(walked: tuple[PdcHome, str]) -> Iterator[tuple[PdcHome, str]]:
    """The same home after a second walk that left its cluster up."""
    home, _ = walked
    yield home, home.ok("demo", "--keep")
    home.ok("down")


def accuracy(text: str) -> float:
    [told] = re.findall(r"answered, accuracy ([\d.]+)", text)
    return float(told)


def test_the_walk_ends_with_a_table_and_a_model_that_is_right(walked: tuple[PdcHome, str]) -> None:
    _, text = walked

    assert accuracy(text) >= 0.9
    for line in ("SampleSet shapes Ready", "Completed: accuracy", "ModelVersion shapes-1 Ready"):
        assert line in text
    told = r"training +\d+% +.*\d+/\d+ steps +loss [\d.]+ +.*[\d.]+ steps/s +ETA [\d:]+"
    assert re.search(told, text), "how far, how fast, how long and how well, while it trains"


def test_the_walk_leaves_nothing_running(walked: tuple[PdcHome, str]) -> None:
    home, _ = walked
    identity = known(home.home)

    home.wait_until_empty()
    assert identity and not listens(identity.api_port) and not listens(identity.gateway_port)


def test_a_second_walk_rolls_the_service_to_a_new_version(kept: tuple[PdcHome, str]) -> None:
    home, text = kept

    assert accuracy(text) >= 0.9
    assert "ModelVersion shapes-2 Ready" in text
    assert {"shapes-1", "shapes-2"} <= set(home.ok("get", "modelversions").split())
    # The one that answers is the new revision; the old one stays to go back to.
    service = json.loads(home.ok("get", "paddleservice", "shapes", "-o", "json"))
    assert re.fullmatch("shapes-default-[0-9a-f]{5}", service["status"]["default"]["name"])
    assert [t["percent"] for t in service["status"]["traffic"]] == [100]


def test_what_the_kept_walk_proposes_can_be_done(kept: tuple[PdcHome, str]) -> None:
    home, text = kept
    proposed = [line.strip() for line in text.splitlines() if line.strip().startswith("pdc ")]

    assert len(proposed) >= 4
    for line in proposed:
        words = line.split()[1:]
        assert words[:2] == ["--home", str(home.home)]
        if words[2:] != ["down"]:
            home.ok(*words[2:])


@pytest.mark.long
def test_the_walk_with_parameter_servers_is_the_same(kept: tuple[PdcHome, str]) -> None:
    home, _ = kept
    text = home.ok("demo", "--mode", "ps")

    assert accuracy(text) >= 0.75
    for line in ("SampleSet clicks Ready", "Completed: auc", "ModelVersion clicks-1 Ready"):
        assert line in text
    assert re.search(r"training +\d+% +.*\d+/\d+ steps +loss [\d.]+ +auc [\d.]+", text)
    assert re.search(r"clicks-\w+ +Completed +PS ", home.ok("get", "jobs"))


@pytest.mark.parametrize(
    "words, expected",
    [
        (("status",), "1 of 1 ready"),
        (("get", "samplesets"), "Ready"),
        (("get", "paddlejobs"), "Completed"),
        (("get", "runs"), "Succeeded"),
        (("why", "paddleservice/shapes"), "paddleservice/shapes: Ready"),
        (("logs", "sampleset/shapes"), "looked at what is here: 2,004 files"),
    ],
)
def test_a_kept_cluster_answers(kept: tuple[PdcHome, str], words: tuple[str, ...], expected: str) -> None:
    assert expected in kept[0].ok(*words)

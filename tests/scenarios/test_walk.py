"""The whole walk as a newcomer takes it: one command from generated data to a model and its successor."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from tests.scenarios.pdc_home import PdcHome, fresh_home, listens

from paddlecloud.embedded.identity import known

pytestmark = pytest.mark.long
STEPS = (
    "deposit", "dataset", "warm-up", "training", "first-version", "serving", "first-requests",
    "second-version", "canary", "shared-requests", "promotion", "last-requests",
)  # fmt: skip


@pytest.fixture(scope="module")
def walked() -> Iterator[tuple[PdcHome, str]]:
    """A home where one walk is over, and what it said."""
    with fresh_home() as home:
        yield home, home.ok("demo")


@pytest.fixture(scope="module")
def kept(walked: tuple[PdcHome, str]) -> Iterator[tuple[PdcHome, str]]:
    """The same home after a second walk that left its cluster up."""
    home, _ = walked
    yield home, home.ok("demo", "--keep", "--epochs", "4")
    home.ok("down")


def accuracies(text: str) -> list[float]:
    """Of the first version, of both together, of the second one, as the table tells them."""
    return [float(told) for told in re.findall(r"400 answered, accuracy ([\d.]+)", text)]


@pytest.mark.walk
def test_the_walk_ends_with_a_table_and_a_model_that_is_right(walked: tuple[PdcHome, str]) -> None:
    _, text = walked

    first, _, last = accuracies(text)
    # A model that has seen the data twice knows the shapes; four times as often and it knows them better.
    assert 0.6 <= first <= last and last >= 0.9
    assert re.search(rf"accuracy +shapes-1 {first:.4f} +→ +shapes-2 {last:.4f}", text)
    for line in ("SampleSet shapes Ready: 2,004 files", "Completed: accuracy", "ModelVersion shapes-1 Ready",
                 "shapes-2 gets 30 % of the requests", "shapes-2 is the default of"):  # fmt: skip
        assert line in text
    told = r"training +\d+% +.*\d+/\d+ steps +loss [\d.]+ +.*[\d.]+ steps/s +ETA [\d:]+"
    assert re.search(told, text), "how far, how fast, how long and how well, while it trains"


@pytest.mark.walk
def test_every_step_tells_how_far_it_is_and_what_it_took(walked: tuple[PdcHome, str]) -> None:
    _, text = walked
    for step in STEPS:
        assert re.search(rf"^{step} +running$", text, re.MULTILINE), step
        assert re.search(rf"│ {step} +│.*│ +[\d.]+ │", text), step
    assert re.search(r"^shared-requests +400/400 requests answered", text, re.MULTILINE)
    assert re.search(r"│ all +│ +│ +[\d.]+ │", text)


@pytest.mark.walk
def test_the_canary_gets_about_the_share_it_was_promised(walked: tuple[PdcHome, str]) -> None:
    [share] = re.findall(r"shapes-2 gave ([\d.]+) % of the answers", walked[1])
    # Four standard deviations of 400 draws.
    assert 20 < float(share) < 40


@pytest.mark.walk
def test_the_walk_tells_where_everything_is(walked: tuple[PdcHome, str]) -> None:
    _, text = walked
    assert re.search(
        r"^gateway +http://127.0.0.1:\d+ +with the header Host: shapes.kubeflow.", text, re.MULTILINE
    )
    assert re.search(r"^pipelines +http://127.0.0.1:\d+ ", text, re.MULTILINE)
    assert re.search(
        r"^curves +(http://\S+:8040 +or +)?pdc port-forward svc/shapes-\w+-visualdl", text, re.MULTILINE
    )


@pytest.mark.walk
def test_the_walk_leaves_nothing_running(walked: tuple[PdcHome, str]) -> None:
    home, _ = walked
    identity = known(home.home)

    home.wait_until_empty()
    assert identity and not listens(identity.api_port) and not listens(identity.gateway_port)


def test_a_second_walk_rolls_the_service_to_new_versions(kept: tuple[PdcHome, str]) -> None:
    home, text = kept

    assert accuracies(text)[-1] >= 0.9
    assert "ModelVersion shapes-3 Ready" in text and "shapes-4 is the default of" in text
    versions = home.ok("get", "modelversions", "-n", "kubeflow").split()
    assert {f"shapes-{n}" for n in (1, 2, 3, 4)} <= set(versions)
    service = json.loads(home.ok("get", "paddleservice", "shapes", "-n", "kubeflow", "-o", "json"))
    assert service["status"]["default"]["modelVersion"] == "shapes-4" and "canary" not in service["spec"]
    assert [t["percent"] for t in service["status"]["traffic"]] == [100]


def test_both_versions_tell_where_they_come_from(kept: tuple[PdcHome, str]) -> None:
    home, _ = kept
    found = [
        json.loads(home.ok("get", "modelversion", name, "-n", "kubeflow", "-o", "json"))["spec"]
        for name in ("shapes-3", "shapes-4")
    ]
    for spec in found:
        assert spec["lineage"]["sampleSet"] == "shapes" and spec["lineage"]["sampleSetRevision"]
        assert spec["lineage"]["paddleJob"] == spec["source"]["path"].partition("/")[0]
    assert [spec["source"]["path"].rpartition("/")[2] for spec in found] == ["epoch-1", "inference"]


def test_only_the_newest_walk_has_a_server_of_curves(kept: tuple[PdcHome, str]) -> None:
    home, _ = kept
    names = home.ok("get", "deployments", "-n", "kubeflow", "-o", "name").split()
    assert len([name for name in names if name.endswith("-visualdl")]) == 1


def test_what_the_kept_walk_proposes_can_be_done(kept: tuple[PdcHome, str]) -> None:
    home, text = kept
    proposed = [line.strip() for line in text.splitlines() if line.strip().startswith("pdc ")]

    assert len(proposed) >= 4
    for line in proposed:
        words = line.split()[1:]
        assert words[:2] == ["--home", str(home.home)]
        if words[2:] != ["down"]:
            home.ok(*words[2:])


@pytest.mark.parametrize(
    "words, expected",
    [
        (("status",), "1 of 1 ready"),
        (("get", "samplesets", "-n", "kubeflow"), "Ready"),
        (("get", "paddlejobs", "-n", "kubeflow"), "Completed"),
        (("pipeline", "ls"), "Succeeded"),
        (("why", "paddleservice/shapes", "-n", "kubeflow"), "paddleservice/shapes: Ready"),
        (("logs", "sampleset/shapes", "-n", "kubeflow"), "looked at what is here: 2,004 files"),
    ],
)
def test_a_kept_cluster_answers(kept: tuple[PdcHome, str], words: tuple[str, ...], expected: str) -> None:
    assert expected in kept[0].ok(*words)


def test_the_walk_with_parameter_servers_is_the_same(kept: tuple[PdcHome, str]) -> None:
    home, _ = kept
    text = home.ok("demo", "--mode", "ps")

    assert accuracies(text)[-1] >= 0.75
    for line in ("SampleSet clicks Ready", "Completed: auc", "clicks-2 is the default of"):
        assert line in text
    assert re.search(r"training +\d+% +.*\d+/\d+ steps +loss [\d.]+ +auc [\d.]+", text)
    assert re.search(r"clicks-\w+ +Completed +PS ", home.ok("get", "jobs", "-n", "kubeflow"))

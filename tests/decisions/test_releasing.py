"""Canary, promotion and rollback as patches of a PaddleService."""

from __future__ import annotations

from typing import Any

import pytest
from tests.decisions.builders import metadata

from paddlecloud.api.paddlerelease import Gate, ReleaseSpec
from paddlecloud.api.paddleservice import PaddleService
from paddlecloud.errors import Failed, PaddleCloudError, WrongUse
from paddlecloud.sdk import releasing

OLD: dict[str, Any] = {"containerImage": "i", "tag": "1", "port": 80, "arg": "run"}
NEW = {"model": "shapes@shapes-2"}
TRIAL = {"spec": {"canary": None, "canaryTrafficPercent": None}}
ANSWERS = [{"type": "DefaultEndpointReady", "status": "True"}]


def a_service(spec: dict[str, Any] | None = None, **status: Any) -> PaddleService:
    body = {"metadata": metadata("s"), "spec": {"default": OLD, **(spec or {})}, "status": status}
    return PaddleService.read(body)


def released(*names: str) -> list[dict[str, Any]]:
    return [{"revision": name, "endpoint": {"model": f"shapes@{name}"}} for name in names]


def test_a_canary_is_one_write_that_leaves_nothing_of_the_one_before() -> None:
    service = a_service({"canary": {**OLD, "tag": "2"}})
    patch = releasing.canary(service, "shapes@latest", 30)

    canary = {"model": "shapes@latest", "containerImage": None, "tag": None, "port": None, "arg": None}
    assert patch == {"spec": {"canary": canary, "canaryTrafficPercent": 30}}


def test_the_share_of_a_canary_changes_alone() -> None:
    service = a_service({"canary": OLD})

    assert releasing.canary(service, "", 70) == {"spec": {"canaryTrafficPercent": 70}}


def test_a_promotion_pins_the_version_that_was_tried() -> None:
    tried = {"model": "shapes@latest", "modelVersion": "shapes-2"}
    service = a_service({"canary": {"model": "shapes@latest"}}, canary=tried)
    default = releasing.promotion(service)["spec"]["default"]

    assert {k: v for k, v in default.items() if v is not None} == NEW
    assert default["containerImage"] is None


@pytest.mark.parametrize(
    "spec, status, default",
    [
        ({}, {"releases": released("a", "b"), "default": {"name": "b"}, "conditions": ANSWERS}, "shapes@a"),
        # After a rollback the one that answers is not the newest release of all.
        (
            {},
            {"releases": released("a", "b", "a"), "default": {"name": "a"}, "conditions": ANSWERS},
            "shapes@b",
        ),
        # What does not come up is taken back: what answers stays.
        ({}, {"releases": released("a", "b"), "default": {"name": "b"}}, "shapes@b"),
        ({"canary": OLD}, {"releases": released("a"), "default": {"name": "a"}, "conditions": ANSWERS}, None),
    ],
)
def test_where_a_rollback_leads(spec: dict[str, Any], status: dict[str, Any], default: str | None) -> None:
    patch = releasing.rollback(a_service(spec, **status))

    if default is None:
        assert patch == TRIAL
    else:
        assert patch["spec"]["default"]["model"] == default
        assert patch["spec"]["canary"] is None


@pytest.mark.parametrize(
    "deed, kind, words",
    [
        (lambda: releasing.promotion(a_service()), WrongUse, "no canary to promote"),
        (lambda: releasing.canary(a_service(), "", 10), WrongUse, "has no canary"),
        (lambda: releasing.rollback(a_service()), Failed, "never answered"),
        (
            lambda: releasing.rollback(
                a_service(releases=released("a"), default={"name": "a"}, conditions=ANSWERS)
            ),
            Failed,
            "one release only",
        ),
    ],
)
def test_what_cannot_be_done_is_a_sentence(deed: Any, kind: type[PaddleCloudError], words: str) -> None:
    with pytest.raises(kind, match=words):
        deed()


@pytest.mark.parametrize(
    "text, gate",
    [
        ("", {}),
        ("errors=1%", {"errorPercent": 1.0}),
        (
            "errors=0.5%, p99=200ms,difference=2%",
            {"errorPercent": 0.5, "p99Milliseconds": 200.0, "differencePercent": 2.0},
        ),
    ],
)
def test_a_gate_in_a_word(text: str, gate: dict[str, float]) -> None:
    assert releasing.gate_of(text).wire() == gate


@pytest.mark.parametrize(
    "text", ["errors", "errors=many", "speed=1%", "errors=101%", "p99=fast", "errors=-1%"]
)
def test_what_is_no_gate_is_said_so(text: str) -> None:
    with pytest.raises(WrongUse, match="is no gate"):
        releasing.gate_of(text)


def test_a_release_in_steps_takes_the_place_of_another() -> None:
    service = a_service()
    before = service.but(spec=service.spec.but(release=ReleaseSpec(steps=[50], gate=Gate(error_percent=1))))
    patch = releasing.gradual(
        before, "shapes@next", ReleaseSpec(steps=[5, 25], gate=Gate(p99_milliseconds=9))
    )

    release = patch["spec"]["release"]
    assert release["steps"] == [5, 25]
    assert release["gate"] == {"errorPercent": None, "p99Milliseconds": 9}
    assert patch["spec"]["canaryTrafficPercent"] is None
    assert patch["spec"]["canary"] == {"model": "shapes@next"}


@pytest.mark.parametrize("attempt, over", [("1", False), ("2", True)])
def test_the_end_of_an_earlier_attempt_is_not_the_end_of_this_one(attempt: str, over: bool) -> None:
    state = {"canary": "c", "phase": "RolledBack", "since": "2026-01-01T00:00:00Z", "attempt": attempt}
    service = PaddleService.read(
        {
            "metadata": {"name": "s", "namespace": "default", "generation": 2},
            "spec": {"default": {"model": "m"}, "release": {"steps": [50], "attempt": "2"}},
            "status": {"observedGeneration": 2, "release": state},
        }
    )
    assert releasing.released(service) is over

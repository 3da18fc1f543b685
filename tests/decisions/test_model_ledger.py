"""What the hub answers from lists alone: versions meant, aliases at a moment, differences, who uses what."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.decisions.builders import a_move, a_service, a_version

from paddlecloud.api.model import AliasChange, ModelSource, ModelVersion
from paddlecloud.controllers.model import meant_by
from paddlecloud.controllers.modelusers import served_as
from paddlecloud.errors import AlreadyExists, WrongUse
from paddlecloud.sdk.comparing import compare
from paddlecloud.sdk.hub import About, at, checked_name, refuse_taken, same_push

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def moved(number: int, to: str, minutes: int) -> AliasChange:
    change = a_move(number, "production", to)
    return change.but(metadata=change.metadata.but(creation_timestamp=NOON + timedelta(minutes=minutes)))


@pytest.mark.parametrize(
    "minutes, version",
    [(-1, None), (0, "shapes-1"), (59, "shapes-1"), (60, "shapes-2"), (61, "shapes-2"), (121, "shapes-1")],
)
def test_what_an_alias_was_at_a_moment(minutes: int, version: str | None) -> None:
    ledger = [moved(1, "shapes-1", 0), moved(2, "shapes-2", 60), moved(3, "shapes-1", 120)]
    held = at(ledger, NOON + timedelta(minutes=minutes))
    assert (held.spec.to if held else None) == version


@pytest.mark.parametrize(
    "text, found",
    [("shapes-2", "shapes-2"), ("2", "shapes-2"), ("july", "shapes-3"), ("9", None), ("", None), ("x", None)],
)
def test_the_version_a_text_means(text: str, found: str | None) -> None:
    there = [a_version(1), a_version(2, version="july"), a_version(3, version="july")]
    meant = meant_by(there, text)
    assert (meant.name if meant else None) == found


@pytest.mark.parametrize("name", ["m", "resnet-50", "a" * 52])
def test_names_of_models_and_aliases(name: str) -> None:
    assert checked_name(name, "a model") == name


@pytest.mark.parametrize("name", ["", "A", "a_b", "a.b", "-a", "a-", "a b", "ü", "a" * 53, "a@b", "a\n"])
def test_names_that_no_object_can_have(name: str) -> None:
    with pytest.raises(WrongUse, match="cannot be the name of a model"):
        checked_name(name, "a model")


def pushed(number: int, digest: str, text: str, phase: str = "Ready") -> ModelVersion:
    return a_version(number, phase, source={"uri": f"push:sha256:{digest}"}, version=text)


@pytest.mark.parametrize(
    "digest, text, found",
    [
        ("a", "", "shapes-1"),  # typed twice, or cut off after the version was made
        ("a", "one", "shapes-1"),
        ("a", "two", None),  # the same files under another text are another version
        ("b", "", None),
        ("c", "", None),  # one that failed is tried again
    ],
)
def test_the_same_push_is_the_same_version(digest: str, text: str, found: str | None) -> None:
    there = [pushed(1, "a", "one"), pushed(2, "c", "bad", "Failed")]
    same = same_push(there, ModelSource(uri=f"push:sha256:{digest}"), About(version=text))
    assert (same.name if same else None) == found


def test_a_claim_is_never_the_same_push() -> None:
    assert same_push([a_version(1)], ModelSource(pvc="out"), About()) is None


@pytest.mark.parametrize("text", ["one", "shapes-1"])
def test_a_text_names_one_version(text: str) -> None:
    with pytest.raises(AlreadyExists, match="exists with other files: shapes-1"):
        refuse_taken([pushed(1, "a", "one")], text)


def test_two_versions_side_by_side() -> None:
    def version(number: int, accuracy: float, **files: str) -> ModelVersion:
        listed = [{"path": p, "size": 3, "sha256": s * 64} for p, s in files.items()]
        signature = {"inputs": [{"name": "x", "dtype": "float32", "shape": [-1, number]}]}
        more = {"files": listed, "signature": signature}
        return a_version(number, "Ready", metrics={"accuracy": accuracy}, status=more)

    found = compare(
        version(1, 0.9, same="a", other="a", gone="a"), version(2, 0.9, same="a", other="b", new="a")
    )
    assert [(d.part, d.name) for d in found] == [
        ("file", "other"), ("file", "gone"), ("file", "new"), ("input", "x"), ("metric", "accuracy"),
    ]  # fmt: skip
    assert found[3][2:] == ("float32[-1, 1]", "float32[-1, 2]") and found[4][2:] == ("0.9", "0.9")


@pytest.mark.parametrize(
    "spec, status, how",
    [
        ({"model": "shapes@latest"}, {"default": {"modelVersion": "shapes-1"}}, "default"),
        ({"model": "shapes@shapes-1"}, None, "default"),
        ({"model": "shapes"}, {"canary": {"modelVersion": "shapes-1"}}, "canary"),
        (
            {"model": "shapes"},
            {"releases": [{"revision": "r", "endpoint": {"model": "shapes@shapes-1"}}]},
            "earlier release",
        ),
        ({"model": "shapes@latest"}, {"default": {"modelVersion": "shapes-2"}}, ""),
        ({"containerImage": "i", "tag": "1", "port": 1}, None, ""),
    ],
)
def test_how_a_service_uses_a_version(spec: dict[str, Any], status: dict[str, Any] | None, how: str) -> None:
    assert served_as(a_service(status=status, **spec), "shapes-1") == how

"""Label and field selectors."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.embedded.server.kinds import Kind
from paddlecloud.embedded.server.selectors import both, fields, labels
from paddlecloud.errors import BadRequest

LABELS = {"app": "web", "tier": "front", "example.com/stage": "beta", "empty": ""}
PODS, CONFIG = Kind("", "v1", "Pod", "pods"), Kind("", "v1", "ConfigMap", "configmaps")


def selected(text: str, have: dict[str, str] | None = None) -> bool:
    predicate = labels(text)
    assert predicate is not None
    return predicate({"metadata": {"labels": LABELS if have is None else have}})


@pytest.mark.parametrize(
    "text, matches",
    [
        ("app=web", True),
        ("app==web", True),
        ("app=db", False),
        ("app!=db", True),
        ("app!=web", False),
        ("other!=x", True),  # what has no such label differs too
        ("app", True),
        ("other", False),
        ("!other", True),
        ("!app", False),
        ("app in (web, db)", True),
        ("app in (db)", False),
        ("app notin (db)", True),
        ("app notin (web,db)", False),
        ("other notin (x)", True),
        ("other in (x)", False),
        ("app=web,tier=front", True),
        ("app=web,tier=back", False),
        (" app = web , tier in ( front ) ,!x ", True),
        ("example.com/stage=beta", True),
        ("empty=", True),
        ("empty", True),
        ("app=", False),
    ],
)
def test_a_label_selector_selects(text: str, matches: bool) -> None:
    assert selected(text) is matches


def test_an_object_without_labels_has_none() -> None:
    predicate = labels("!app")
    assert predicate is not None
    assert predicate({"metadata": {}}) and predicate({"metadata": {"labels": None}})


@pytest.mark.parametrize(
    "text",
    ["=x", "app web", "app=a=b", "app in web", "app in (web", "a,,b", "-a=b", "a b", "!", "app=web x", "a=@"],
)
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="unable to parse requirement"):
        labels(text)


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_selector_selects_everything(text: str) -> None:
    assert labels(text) is None and fields(text, PODS) is None


POD: dict[str, Any] = {
    "metadata": {"name": "p", "namespace": "ml"},
    "spec": {"nodeName": "node-0"},
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    "text, matches",
    [
        ("metadata.name=p", True),
        ("metadata.name=q", False),
        ("metadata.namespace==ml,status.phase!=Failed", True),
        ("status.phase=Running,spec.nodeName=", False),
        ("status.podIP=", True),
        ("spec.nodeName!=node-0", False),
    ],
)
def test_a_field_selector_selects(text: str, matches: bool) -> None:
    predicate = fields(text, PODS)
    assert predicate is not None and predicate(POD) is matches


@pytest.mark.parametrize(
    "text, kind", [("spec.nodeName=x", CONFIG), ("spec.image=x", PODS), ("metadata.uid=x", PODS)]
)
def test_only_declared_fields_can_be_selected_by(text: str, kind: Kind) -> None:
    with pytest.raises(BadRequest, match="field label not supported"):
        fields(text, kind)


@pytest.mark.parametrize("text", ["metadata.name", "=x", "metadata.name=a,,"])
def test_what_is_no_field_selector_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="invalid field selector"):
        fields(text, PODS)


def test_two_selectors_select_together() -> None:
    def yes(_: Any) -> bool:
        return True

    def no(_: Any) -> bool:
        return False

    assert both(None, None) is None
    for predicates, result in (((yes, None), True), ((yes, no), False), ((None, no), False)):
        together = both(*predicates)
        assert together is not None and together({}) is result

"""Which rules somebody lacks who wants to hand them out."""

# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.embedded.server.escalation import missing, shown
from paddlecloud.embedded.server.rbac import rule_of


def rule(verbs: str, resources: str = "pods", groups: str = "core", **more: Any) -> dict[str, Any]:
    named = ["" if g == "core" else g for g in groups.split()]
    return {"apiGroups": named, "resources": resources.split(), "verbs": verbs.split(), **more}


@pytest.mark.parametrize(
    "held, wanted, lacking",
    [
        ([rule("get list")], [rule("get")], []),
        ([rule("get"), rule("list")], [rule("get list")], []),  # several rules together
        ([rule("*")], [rule("get list")], []),
        ([rule("get list watch create update patch delete")], [rule("*")], [rule("*")]),
        ([rule("get", "*")], [rule("get", "pods/log")], []),
        ([rule("get", "pods")], [rule("get", "pods/log")], [rule("get", "pods/log")]),
        ([rule("get", "*/log")], [rule("get", "pods/log")], []),
        ([rule("get", groups="*")], [rule("get", groups="core apps")], []),
        ([rule("get")], [rule("get", resourceNames=["x"])], []),
        ([rule("get", resourceNames=["x"])], [rule("get")], [rule("get")]),
        ([rule("get", resourceNames=["x", "y"])], [rule("get", resourceNames=["y"])], []),
        ([], [rule("get list"), rule("get delete")], [rule("get list delete")]),
        ([{"nonResourceURLs": ["/a/*"], "verbs": ["get"]}], [{"nonResourceURLs": ["/a/b"], "verbs": ["get"]}], []),
        ([rule("*", "*", "*")], [{"nonResourceURLs": ["/a"], "verbs": ["get"]}], [{"nonResourceURLs": ["/a"], "verbs": ["get"]}]),
        ([], [], []),
    ],
)  # fmt: skip
def test_what_is_missing(
    held: list[dict[str, Any]], wanted: list[dict[str, Any]], lacking: list[dict[str, Any]]
) -> None:
    assert missing(map(rule_of, held), wanted) == lacking


def test_a_rule_is_shown_as_go_prints_it() -> None:
    text = shown(rule("get list", "pods", "core apps", resourceNames=['a"b']))
    assert text == (
        '{APIGroups:["" "apps"], Resources:["pods"], ResourceNames:["a\\"b"], Verbs:["get" "list"]}'
    )

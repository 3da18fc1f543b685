"""What built-in objects may not be, word for word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contracts.built_ins import MANIFESTS, template
from tests.kubernetes.rest import Rest

REFUSED: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parent / "refused.yaml").read_text()
)
# Made so that no controller touches the object before it is changed.
AT_REST: dict[str, dict[str, Any]] = {
    "deployment": {"replicas": 0},
    "statefulset": {"replicas": 0},
    "daemonset": {"template": template(nodeSelector={"a": "b"})},
}


def told(case: dict[str, Any]) -> str:
    _, _, message = case["message"].partition(" is invalid: ")
    return str(case.get("made") or case["path"].rsplit("/", 1)[1]) + "-" + str(message)[:60]


@pytest.mark.parametrize("case", REFUSED["new"], ids=told)
def test_a_new_object_is_refused_word_for_word(
    rest: Rest, common_namespace: str, case: dict[str, Any]
) -> None:
    path = case["path"].replace("NAMESPACE", common_namespace)
    answer = rest.post(path, {**case["body"], "metadata": {"name": "x"}}, dryRun="All").expect(422)
    assert (answer["reason"], answer["message"]) == ("Invalid", case["message"])
    fields = [cause["field"] for cause in answer["details"]["causes"]]
    assert all(f"{field}: " in answer["message"] for field in fields)


@pytest.mark.parametrize("case", REFUSED["changed"], ids=told)
def test_a_change_is_refused_word_for_word(rest: Rest, namespace: str, case: dict[str, Any]) -> None:
    manifest = MANIFESTS[case["made"]]
    body = {**manifest.body, "metadata": {"name": "u"}}
    if case["made"] in AT_REST:
        body["spec"] = {**body["spec"], **AT_REST[case["made"]]}
    path = f"{manifest.path(namespace)}/u"
    rest.post(manifest.path(namespace), body).expect(201)
    try:
        answer = rest.merge(path, case["change"]).expect(422)
    finally:
        rest.delete(path, {"gracePeriodSeconds": 0})
    assert (answer["reason"], answer["message"]) == ("Invalid", case["message"])

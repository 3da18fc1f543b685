"""What new objects of the built-in kinds may not be, word for word, field by field."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

RECORDED: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "refusals.yaml").read_text())
NEXT_CAUSE = re.compile(r", (?=(?:metadata|spec)\.)")
CASES = [(group["path"], case) for group in RECORDED["refused"] for case in group["cases"]]


@pytest.fixture(scope="module")
def place(rest: Rest) -> Iterator[str]:
    """A namespace for all cases: none of them is stored."""
    name = f"test-{secrets.token_hex(4)}"
    rest.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect(201)
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    until(lambda: rest.get(account).status == 200, what="the default account")
    yield name
    rest.delete(f"/api/v1/namespaces/{name}")


def told(case: dict[str, Any]) -> str:
    return str(case["message"]).partition(" is invalid: ")[2][:70]


def words(message: str) -> str:
    for name, text in RECORDED["words"].items():
        message = message.replace(f"<{name}>", text)
    return message


def in_order(message: str) -> str:
    about, _, causes = message.removesuffix("]").partition(" is invalid: [")
    return f"{about} is invalid: [{', '.join(sorted(NEXT_CAUSE.split(causes)))}]"


@pytest.mark.parametrize("path, case", CASES, ids=[told(case) for _, case in CASES])
def test_a_new_object_is_refused_in_kubernetes_own_words(
    rest: Rest, place: str, path: str, case: dict[str, Any]
) -> None:
    body = {"metadata": {"name": "x"}, **case["body"]}
    answer = rest.post(path.replace("NAMESPACE", place), body, dryRun="All").expect(422)
    expected, said = words(case["message"]), answer["message"]
    if case.get("inAnyOrder"):
        # Kubernetes goes through a map there, and each time another way.
        expected, said = in_order(expected), in_order(said)
    assert (answer["reason"], said) == ("Invalid", expected)
    assert all(f"{c['field']}: {c['message']}" in answer["message"] for c in answer["details"]["causes"])

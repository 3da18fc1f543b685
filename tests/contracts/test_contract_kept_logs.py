"""Logs of pods that are gone, and records, are asked for in a way that elsewhere is a plain refusal."""

from __future__ import annotations

import pytest
from tests.contracts.granting import acting_as
from tests.contracts.objects import core
from tests.kubernetes.rest import Rest


@pytest.mark.parametrize(
    "query",
    [
        "", "?kept=p", "?kept=p&uid=u&tailLines=1", "?kept=&owner=PaddleJob/j", "?records=p&container=c",
        "?records=&container=",
    ],
)  # fmt: skip
def test_nobody_is_called_by_a_dash(rest: Rest, namespace: str, query: str) -> None:
    answer = rest.send("GET", core(namespace, "pods", "-/log") + query)
    # A server of ours that has no node cannot know; every Kubernetes does.
    assert answer.status == 404 or (query and answer.status == 503)


@pytest.mark.parametrize("query", ["?kept=p", "?records=p&container=c"])
def test_what_is_kept_needs_the_right_to_read_logs(rest: Rest, namespace: str, query: str) -> None:
    path = core(namespace, "pods", "-/log") + query
    answer = rest.send("GET", path, headers=acting_as("alice")).expect(403)
    assert 'cannot get resource "pods/log"' in answer["message"]

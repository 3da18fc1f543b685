"""Where a question to a service is sent, and what one is told whose question is wrong."""

from __future__ import annotations

import pytest
from tests.decisions.builders import a_service

from paddlecloud.sdk.predicting import next_step, path_of

SERVED = {"default": {"name": "shapes-default", "model": "shapes@production", "modelVersion": "shapes-2"}}


@pytest.mark.parametrize(
    "body, path",
    [
        (b'{"feed": [{"x": [1]}], "fetch": ["y"]}', "/shapes/prediction"),
        (b'{"key": ["x"], "value": ["1"]}', "/shapes/prediction"),
        (b'{"inputs": [{"name": "x"}]}', "/v2/models/shapes/infer"),
        (b'{"feed": [], "inputs": []}', "/shapes/prediction"),
        (b"[1]", "/shapes/prediction"),
        (b"", "/shapes/prediction"),
    ],
)
def test_the_question_says_which_protocol_it_is_of(body: bytes, path: str) -> None:
    assert path_of(a_service(model="shapes@production", status=SERVED), body) == path


@pytest.mark.parametrize(
    "status, words", [(400, "pdc model show shapes@shapes-2"), (503, "pdc serve status")]
)
def test_a_wrong_question_is_told_where_the_names_are(status: int, words: str) -> None:
    assert words in next_step(a_service(model="shapes@production", status=SERVED), status)

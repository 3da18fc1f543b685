"""What `pdc apply` tells of an object: what became of it, and why not."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.cli.applying import change, plainly
from paddlecloud.errors import ApiError, Conflict, Invalid, ServerError

OTHERS = {"causes": [{"reason": "FieldManagerConflict", "field": ".data.k", "message": 'conflict with "x"'}]}


@pytest.mark.parametrize(
    "error, wanted, words",
    [
        (
            ServerError(
                "failed to create typed patch object (default/x; batch.paddlepaddle.org/v1, Kind=PaddleJob): "
                ".spec.wroker: field not declared in schema"
            ),
            Invalid,
            'job/x does not fit its kind: unknown field "spec.wroker"',
        ),
        (
            ServerError(
                "failed to create typed patch object (/x; /v1, Kind=Pod): errors:\n"
                "  .spec.a: field not declared in schema\n  .spec.b.c: field not declared in schema"
            ),
            Invalid,
            'job/x does not fit its kind: errors:\n  unknown field "spec.a"\n  unknown field "spec.b.c"',
        ),
        (Conflict("1 conflict", details=OTHERS), Conflict, "job/x keeps what others have set: 1 conflict"),
        (Conflict("the object has been modified"), Conflict, "the object has been modified"),
        (Invalid("replicas: must not be negative"), Invalid, "replicas: must not be negative"),
    ],
)
def test_an_error_is_told_to_who_wrote_the_file(error: ApiError, wanted: type[ApiError], words: str) -> None:
    told = plainly(error, "job/x")

    assert (type(told), told.message) == (wanted, words)


def body(**more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "x", "labels": {}, **more.pop("metadata", {})}, **more}


@pytest.mark.parametrize(
    "before, after, word",
    [
        (None, body(), "created"),
        (body(), body(), "unchanged"),
        (body(), body(metadata={"resourceVersion": "9", "managedFields": [{}]}), "unchanged"),
        (body(), body(status={"phase": "Running"}), "unchanged"),
        (body(), body(metadata={"labels": {"a": "b"}}), "configured"),
        (body(spec={"a": 1}), body(spec={"a": 2}), "configured"),
    ],
)
def test_what_became_of_an_object(before: dict[str, Any] | None, after: dict[str, Any], word: str) -> None:
    assert change(before, after) == word

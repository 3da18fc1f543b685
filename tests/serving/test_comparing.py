"""When two answers count as the same, and what a gateway counts of a revision."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paddlecloud.api.meta import Key
from paddlecloud.api.paddlerelease import Tallied
from paddlecloud.controllers.servinggates import slowest
from paddlecloud.serving.comparing import alike
from paddlecloud.serving.routes import Table, Target
from paddlecloud.serving.tally import Tally, tried


@pytest.mark.parametrize(
    "one, other, same",
    [
        ({"prob": [0.934139]}, {"prob": [0.934140]}, True),
        ({"prob": [0.93]}, {"prob": [0.91]}, False),
        ({"label": ["daisy"]}, {"label": ["tulip"]}, False),
        ({"result": {"label": ["daisy"]}}, {"result": {"isCanary": ["true"], "label": ["daisy"]}}, True),
        ({"result": [1, 2]}, {"result": [1, 2, 3]}, False),
        ({"good": True}, {"good": 1}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1e-9], [0.0], True),
    ],
)
def test_answers_are_alike_where_engines_round_differently(one: Any, other: Any, same: bool) -> None:
    assert alike((200, json.dumps(one).encode()), (200, json.dumps(other).encode())) is same


def test_another_status_is_another_answer_and_bytes_are_compared_as_they_are() -> None:
    assert not alike((200, b"{}"), (500, b"{}"))
    assert alike((200, b"\x89PNG"), (200, b"\x89PNG")) and not alike((200, b"\x89PNG"), (200, b"GIF"))


def test_what_is_counted_is_what_controllers_read() -> None:
    tally = Tally()
    for status, seconds in ((200, 0.004), (404, 0.004), (503, 0.25)):
        tally.answered(status, seconds)
    tally.compare(True)
    tally.compare(False)

    told = Tallied.model_validate_json(tally.text())
    assert (told.requests, told.errors, told.compared, told.different) == (3, 1, 2, 1)
    assert 200 < slowest(told.times) <= 300


def test_only_services_that_try_something_are_told_of() -> None:
    one, two, alone = (Key("default", name) for name in ("a-default", "a-canary", "b-default"))
    table = Table({
        Key("default", "a"): (Target(one, 90), Target(two, 10, "canary")),
        Key("default", "b"): (Target(alone, 100),),
    })  # fmt: skip

    assert set(tried(table)) == {one, two}

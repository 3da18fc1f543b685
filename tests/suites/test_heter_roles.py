"""What Paddle's role maker needs to know of two stages, from what an operator tells."""

from __future__ import annotations

import pytest

from paddlecloud.cli.courses import suite_code

TOLD = {"PADDLE_HETER_ENDPOINTS": "h0:1", "PADDLE_TRAINER_ENDPOINTS": "w0:1,w1:1", "PADDLE_WITH_GLOO": "1"}
ALL = {
    "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST": "h0:1",
    "PADDLE_STAGE_TRAINERS_NUM": "[2, 1]",
    "STAGE_NUM": "2",
    "PADDLE_WITH_GLOO": "0",
    "CPU_NUM": "1",
}


@pytest.mark.parametrize(
    "role, more",
    [
        ("PSERVER", {}),
        ("TRAINER", {"STAGE_ID": "1", "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST": "h0:1"}),
        (
            "HETER",
            {
                "TRAINING_ROLE": "HETER_TRAINER",
                "STAGE_ID": "2",
                "HETER_DEVICE_TYPE": "cpu",
                "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST": "w0:1,w1:1",
            },
        ),
    ],
)
def test_each_role_knows_its_stage_and_its_neighbours(role: str, more: dict[str, str]) -> None:
    environ = {**TOLD, "TRAINING_ROLE": role}

    suite_code("wide-and-deep", "heterroles").complete(environ)

    assert environ == {**TOLD, "TRAINING_ROLE": role, **ALL, **more}


def test_a_device_that_was_asked_for_is_kept() -> None:
    environ = {**TOLD, "TRAINING_ROLE": "HETER", "HETER_DEVICE_TYPE": "gpu", "CPU_NUM": "4"}

    suite_code("wide-and-deep", "heterroles").complete(environ)

    assert (environ["HETER_DEVICE_TYPE"], environ["CPU_NUM"]) == ("gpu", "4")

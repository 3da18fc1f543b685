"""The variables by which Paddle's role maker knows two stages, from those that an operator tells; pure."""

from __future__ import annotations

from collections.abc import MutableMapping


def complete(environ: MutableMapping[str, str]) -> None:
    """What an operator tells, in the words of Paddle's role maker."""
    heters, workers = environ["PADDLE_HETER_ENDPOINTS"], environ["PADDLE_TRAINER_ENDPOINTS"]
    stages = [len(workers.split(",")), len(heters.split(","))]
    environ |= {
        "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST": heters,
        "PADDLE_STAGE_TRAINERS_NUM": str(stages),
        "STAGE_NUM": "2",
        # Nobody meets over gloo here: Paddle knows no such meeting with a second stage.
        "PADDLE_WITH_GLOO": "0",
        # As many threads as a server of a stage answers with; Paddle takes one thread a core else.
        "CPU_NUM": environ.get("CPU_NUM", "1"),
    }
    if environ["TRAINING_ROLE"] == "TRAINER":
        environ |= {"STAGE_ID": "1", "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST": heters}
    if environ["TRAINING_ROLE"] in ("HETER", "HETER_TRAINER"):
        environ |= {
            "TRAINING_ROLE": "HETER_TRAINER",
            "STAGE_ID": "2",
            "HETER_DEVICE_TYPE": environ.get("HETER_DEVICE_TYPE", "cpu"),
            "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST": workers,
        }

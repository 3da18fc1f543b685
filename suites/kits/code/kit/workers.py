"""One process of a training: alone, or one of several that share their gradients.

A worker finds the others by the variables PADDLE_TRAINER_ID, PADDLE_TRAINERS_NUM, PADDLE_TRAINER_ENDPOINTS
and PADDLE_CURRENT_ENDPOINT (or POD_IP and PADDLE_PORT), started directly or by Paddle's launcher.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

import paddle


def join(environ: MutableMapping[str, str] = os.environ) -> tuple[int, int]:
    """The rank of this worker and how many there are."""
    # An operator may name only the pod's address and the job's port; Paddle wants them joined.
    if "PADDLE_CURRENT_ENDPOINT" not in environ and {"POD_IP", "PADDLE_PORT"} <= set(environ):
        environ["PADDLE_CURRENT_ENDPOINT"] = f"{environ['POD_IP']}:{environ['PADDLE_PORT']}"
    if int(environ.get("PADDLE_TRAINERS_NUM", "1")) > 1:
        paddle.distributed.init_parallel_env()
    return paddle.distributed.get_rank(), paddle.distributed.get_world_size()

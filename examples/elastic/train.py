"""Train with however many workers there are, and go on where others stopped.

Every few steps rank 0 writes the model together with how many samples of the epoch have been used; whoever
starts next, alone or with others, reads that and takes the samples that are left.
"""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import paddle

from paddlecloud import ElasticBatchSampler

CHECKPOINT = Path(os.environ.get("CHECKPOINTS", "/checkpoints")) / "last"
SAMPLES, EPOCHS, BATCH = 512, int(os.environ.get("EPOCHS", "6")), 8
PAUSE = float(os.environ.get("PAUSE", "0"))  # seconds a step takes longer, to have time to watch


def main() -> None:
    rank, size = int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PADDLE_TRAINERS_NUM"])
    if size > 1:
        if "PADDLE_CURRENT_ENDPOINT" not in os.environ:  # Paddle's launcher says it, otherwise we do
            os.environ["PADDLE_CURRENT_ENDPOINT"] = f"{os.environ['POD_IP']}:{os.environ['PADDLE_PORT']}"
        paddle.distributed.init_parallel_env()
    paddle.seed(7)
    net = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 1))
    optimizer = paddle.optimizer.SGD(learning_rate=0.02, parameters=net.parameters())
    epoch, taken = read(net)
    print(f"worker {rank} of {size} begins with epoch {epoch} after {taken} samples", flush=True)
    images, labels = data()
    while epoch < EPOCHS:
        sampler = ElasticBatchSampler(SAMPLES, BATCH, epoch=epoch, taken=taken)
        for step, batch in enumerate(sampler, 1):
            loss = ((net(images[batch]) - labels[batch]) ** 2).mean()
            (loss / size).backward()
            add_up(net, size)
            optimizer.step()
            optimizer.clear_grad()
            taken = sampler.taken_after(step)
            if rank == 0 and (step % 4 == 0 or taken == SAMPLES):
                write(net, epoch, taken)
                print(f"epoch {epoch + 1}/{EPOCHS} step {taken}/{SAMPLES} loss {float(loss):.5f}", flush=True)
            time.sleep(PAUSE)
        epoch, taken = epoch + 1, 0
    print(f"worker {rank} of {size} has ended", flush=True)


def data() -> tuple[Any, Any]:
    numbers = np.random.default_rng(3).normal(size=(SAMPLES, 8)).astype("float32")
    wanted = np.tanh(numbers @ np.arange(8, dtype="float32")[:, None] / 8)
    return paddle.to_tensor(numbers), paddle.to_tensor(wanted)


def add_up(net: Any, size: int) -> None:
    """The gradient of all workers together."""
    for parameter in net.parameters() if size > 1 else ():
        paddle.distributed.all_reduce(parameter.grad)


def read(net: Any) -> tuple[int, int]:
    if not CHECKPOINT.exists():
        return 0, 0
    kept = pickle.loads(CHECKPOINT.read_bytes())
    net.set_state_dict({name: paddle.to_tensor(value) for name, value in kept["model"].items()})
    return kept["epoch"], kept["taken"]


def write(net: Any, epoch: int, taken: int) -> None:
    """All at once: a reader finds the last one or this one, never half of it."""
    model = {name: value.numpy() for name, value in net.state_dict().items()}
    half = CHECKPOINT.with_suffix(".half")
    half.write_bytes(pickle.dumps({"model": model, "epoch": epoch, "taken": taken}))
    half.replace(CHECKPOINT)


if __name__ == "__main__":
    main()

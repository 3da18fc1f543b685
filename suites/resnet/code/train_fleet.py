"""Train a small ResNet on flowers, alone or as one of several workers that share their gradients.

Plain Paddle: nothing here knows the system it runs on. A worker finds the others by the variables
PADDLE_TRAINER_ID, PADDLE_TRAINERS_NUM, PADDLE_TRAINER_ENDPOINTS and PADDLE_CURRENT_ENDPOINT (or POD_IP and
PADDLE_PORT), started directly or by `python -m paddle.distributed.launch`.

Rank 0 prints its progress in lines of one shape, and what is true of images it has not seen at the end:

    epoch 2/4 step 10/20 loss 0.4312 accuracy 0.871 samples/s 913
    test accuracy 0.9500 loss 0.1712

With `--checkpoint` the state after every epoch lies in a folder that all workers must see: whoever is started
again goes on from there, with as many workers as there are then.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

# Each worker is given one core: more threads would only fight each other. Must be set before Paddle loads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

STATE = "state.pdparams"
STEPS_BETWEEN_LINES = 5
SEEN, UNSEEN = 0, 1  # the seeds of both splits differ by these


def main() -> int:
    options = arguments()
    complete_endpoint(os.environ)

    import flowers
    import network
    import paddle
    from paddle.distributed import fleet

    fleet.init(is_collective=True)
    paddle.seed(options.seed)
    net = network.resnet(len(flowers.PETALS))
    train(net, flowers.grow(options.images, 2 * options.seed + SEEN), options)
    if fleet.worker_index() == 0:
        test = flowers.grow(max(100, options.images // 8), 2 * options.seed + UNSEEN)
        accuracy, loss = evaluate(net, test)
        print(f"test accuracy {accuracy:.4f} loss {loss:.4f}", flush=True)
        if options.output:
            export(net, options.output)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a small ResNet on flowers.")
    parser.add_argument("--output", type=Path, help="folder for the inference model")
    parser.add_argument("--checkpoint", type=Path, help="folder to keep the state in and to go on from")
    parser.add_argument("--images", type=int, default=1600, help="flowers to train on")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=32, help="images a step and worker")
    parser.add_argument("--learning-rate", type=float, default=0.003)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--gpus", default="", help="taken and left aside: this suite trains on the CPU")
    return parser.parse_args()


def complete_endpoint(environ: MutableMapping[str, str]) -> None:
    """An operator may name only the pod's address and the job's port; Paddle wants them joined."""
    if "PADDLE_CURRENT_ENDPOINT" not in environ and {"POD_IP", "PADDLE_PORT"} <= set(environ):
        environ["PADDLE_CURRENT_ENDPOINT"] = f"{environ['POD_IP']}:{environ['PADDLE_PORT']}"


def train(net: Any, images: Any, options: argparse.Namespace) -> None:
    import paddle
    from paddle.distributed import fleet
    from paddle.io import DataLoader, DistributedBatchSampler

    rank, workers = fleet.worker_index(), fleet.worker_num()
    sampler = DistributedBatchSampler(images, options.batch_size, shuffle=True)
    loader = DataLoader(images, batch_sampler=sampler, use_shared_memory=False)
    learner = paddle.optimizer.Adam(options.learning_rate, parameters=net.parameters())
    done = resume(options.checkpoint, net, learner)
    model = fleet.distributed_model(net) if workers > 1 else net
    steps, told, since = len(sampler), 0, time.monotonic()
    for epoch in range(done + 1, options.epochs + 1):
        sampler.set_epoch(epoch)
        net.train()
        for step, (shown, labels) in enumerate(loader, 1):
            # A function of how far it is, not of what was: the same with any number of workers.
            learner.set_lr(options.learning_rate * falling((epoch - 1 + step / steps) / options.epochs))
            scores = model(shown)
            loss = paddle.nn.functional.cross_entropy(scores, labels)
            loss.backward()
            learner.step()
            learner.clear_grad()
            told += 1
            if rank == 0 and (step % STEPS_BETWEEN_LINES == 0 or step == steps):
                now = time.monotonic()
                speed = told * options.batch_size * workers / max(now - since, 1e-9)
                accuracy = float((scores.argmax(1) == labels).astype("float32").mean())
                print(f"epoch {epoch}/{options.epochs} step {step}/{steps} loss {float(loss):.4f} "
                      f"accuracy {accuracy:.3f} samples/s {speed:.0f}", flush=True)  # fmt: skip
                told, since = 0, now
        if rank == 0 and options.checkpoint:
            keep(options.checkpoint, epoch, net, learner)


def falling(done: float) -> float:
    """From one to almost nothing, slowly at both ends."""
    return 0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2


def resume(folder: Path | None, net: Any, learner: Any) -> int:
    """How many epochs are done; network and optimizer are as they were then."""
    import paddle

    if folder is None or not (folder / STATE).is_file():
        return 0
    state = paddle.load(str(folder / STATE))
    net.set_state_dict(state["network"])
    learner.set_state_dict(state["learner"])
    print(f"goes on after epoch {state['epoch']}", flush=True)
    return int(state["epoch"])


def keep(folder: Path, epoch: int, net: Any, learner: Any) -> None:
    """Write the state in one step: who is killed meanwhile finds the one before."""
    import paddle

    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{STATE}.{os.getpid()}"
    paddle.save({"epoch": epoch, "network": net.state_dict(), "learner": learner.state_dict()}, str(part))
    os.replace(part, folder / STATE)


def evaluate(net: Any, images: Any) -> tuple[float, float]:
    import paddle

    net.eval()
    labels = paddle.to_tensor(images.labels)
    with paddle.no_grad():
        scores = net(paddle.to_tensor(images.images))
    right = (scores.argmax(1) == labels).astype("float32").mean()
    return float(right), float(paddle.nn.functional.cross_entropy(scores, labels))


def export(net: Any, output: Path) -> None:
    import flowers
    import paddle

    served = paddle.nn.Sequential(net, paddle.nn.Softmax())
    served.eval()
    image = paddle.static.InputSpec([None, 3, flowers.SIDE, flowers.SIDE], "float32", "image")
    paddle.jit.save(paddle.jit.to_static(served, input_spec=[image], full_graph=True), str(output / "model"))
    (output / "labels.txt").write_text("".join(f"{petals} petals\n" for petals in flowers.PETALS))
    print(f"exported {output}", flush=True)


if __name__ == "__main__":
    # Paddle keeps the code it traces below the home; a container's user may have none.
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("HOME", home)
        sys.exit(main())

"""Training without servers: one worker alone, or several that share their gradients after every step."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any, Protocol

import clicks
import network
import numpy as np
import paddle
from checkpoints import Checkpoint
from exporting import early_folder, export
from paddle.nn.functional import binary_cross_entropy
from progress import Teller, judged, told
from records import Curves

STATE = "rec.pdparams"


class Keeper(Protocol):
    """Whatever keeps what a training can go on from."""

    def newest(self) -> Checkpoint | None: ...
    def write(self, epoch: int, save: Callable[[Path], None]) -> None: ...


def train(options: Namespace, kept: Keeper, split: clicks.Split, test: clicks.Split) -> Any:
    """The trained network; what it is worth is said by the first worker, who writes it too."""
    complete_endpoint(os.environ)
    if int(os.environ.get("PADDLE_TRAINERS_NUM", "1")) > 1:
        paddle.distributed.init_parallel_env()
    rank, workers = paddle.distributed.get_rank(), paddle.distributed.get_world_size()
    paddle.seed(options.seed)
    net = network.WideDeep(options.shape)
    model = together(net) if workers > 1 else net
    learner = paddle.optimizer.Adam(options.learning_rate, parameters=net.parameters(), lazy_mode=True)
    mine = split.share(rank, workers)
    size = min(options.batch_size, len(mine))
    steps = len(mine) // size
    curves = Curves(options.curves if rank == 0 else None)
    teller = Teller(options.epochs, steps, size * workers, curves)
    for epoch in range(resume(kept, net, learner) + 1, options.epochs + 1):
        order = np.random.default_rng((options.seed, epoch, rank)).permutation(len(mine))
        for step in range(1, steps + 1):
            rows = mine.part(order[(step - 1) * size : step * size])
            chance = model(*tensors(rows))
            loss = binary_cross_entropy(chance, paddle.to_tensor(rows.click).astype("float32"))
            loss.backward()
            learner.step()
            learner.clear_grad()
            if rank == 0:
                teller.step(epoch, step, float(loss), chance.numpy(), rows.click)
        if rank == 0:
            kept.write(epoch, lambda folder: save(folder, net, learner))
            if epoch == options.early and options.output:
                early(net, test, options)
    if rank == 0:
        finish(net, test, options)
    return net


def complete_endpoint(environ: MutableMapping[str, str]) -> None:
    """An operator may name only the pod's address and the job's port; Paddle wants them joined."""
    if "PADDLE_CURRENT_ENDPOINT" not in environ and {"POD_IP", "PADDLE_PORT"} <= set(environ):
        environ["PADDLE_CURRENT_ENDPOINT"] = f"{environ['POD_IP']}:{environ['PADDLE_PORT']}"


def together(net: Any) -> Any:
    # The gradients that workers share are whole: gloo adds up no sparse ones.
    net.table._sparse = False
    return paddle.DataParallel(net)


def tensors(rows: clicks.Split) -> tuple[list[Any], Any]:
    sparse = [paddle.to_tensor(column) for column in network.columns(rows.sparse)]
    return sparse, paddle.to_tensor(rows.dense)


def resume(kept: Keeper, net: Any, learner: Any) -> int:
    """How many epochs are done; network and optimizer are as they were then."""
    found = kept.newest()
    if found is None:
        return 0
    state = paddle.load(str(found.folder / STATE))
    net.set_state_dict(state["network"])
    learner.set_state_dict(state["learner"])
    print(f"goes on after epoch {found.epoch}", flush=True)
    return found.epoch


def save(folder: Path, net: Any, learner: Any) -> None:
    paddle.save({"network": net.state_dict(), "learner": learner.state_dict()}, str(folder / STATE))


def finish(net: Any, test: clicks.Split, options: Namespace) -> None:
    told(export_net(net, test, options.shape, options.output))


def export_net(net: Any, test: clicks.Split, shape: network.Shape, output: Path | None) -> dict[str, float]:
    net.eval()
    with paddle.no_grad():
        metrics = judged(test, net(*tensors(test)).numpy())
    if output:
        export(output, metrics, lambda folder: write(net, shape, folder / "model"))
    return metrics


def early(net: Any, test: clicks.Split, options: Namespace) -> None:
    """The model as it is in the middle of the training."""
    export_net(net, test, options.shape, early_folder(options))
    net.train()


def write(net: Any, shape: network.Shape, prefix: Path) -> None:
    traced = paddle.jit.to_static(net, input_spec=network.specs(shape), full_graph=True)
    paddle.jit.save(traced, str(prefix))

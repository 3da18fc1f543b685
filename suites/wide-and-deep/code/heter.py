"""Training with parameter servers and heterogeneous workers: a network in two stages, each in its own pods.

Workers read the data and look up rows of the table; what follows, the deep part and the loss, is the second
stage, for pods that may have other devices. Activations go forward and gradients back over Paddle's own
connections; both stages push what they learn to the servers. The second stage tells the loss; nothing ends
it but a signal.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import clicks
import heterstages
import network
import numpy as np
import paddle
import paddle.distributed.fleet as fleet
from paddle.distributed.ps.utils.public import get_the_one_recv_context
from paddle.static import device_guard

PULL_EVERY = 0.01
"""Seconds between two looks of the second stage at the weights that the servers hold."""


def serve(options: Namespace) -> None:
    prepare(options)
    fleet.init_server()
    paddle.disable_signal_handler()
    print("serving parameters", flush=True)
    fleet.run_server()


def second_stage(options: Namespace) -> None:
    """Answer the workers until told to end."""
    graph, stage = prepare(options)
    executor = begin()
    paddle.disable_signal_handler()
    threading.Thread(target=keep_fresh, daemon=True).start()
    print("the second stage waits for the workers", flush=True)
    # It reads no data, but Paddle asks for some.
    nothing = paddle.base.DatasetFactory().create_dataset("InMemoryDataset")
    nothing.set_filelist(["None"])
    nothing.set_use_var([graph.click])
    executor.train_from_dataset(stage, nothing, fetch_list=[graph.loss], fetch_info=["loss"], print_period=5)


def first_stage(options: Namespace, split: clicks.Split) -> None:
    graph, stage = prepare(options)
    executor = begin()
    mine = split.share(fleet.worker_index(), fleet.worker_num())
    rows = lines(mine)
    data = paddle.distributed.QueueDataset()
    data.init(batch_size=options.batch_size, thread_num=1, use_var=graph.inputs, pipe_command="cat")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        data.set_filelist([str(path)])
        for epoch in range(1, options.epochs + 1):
            order = np.random.default_rng((options.seed, epoch, fleet.worker_index())).permutation(len(rows))
            path.write_text("".join(rows[row] for row in order), encoding="ascii")
            began = time.perf_counter()
            executor.train_from_dataset(stage, data)
            speed = len(rows) * fleet.worker_num() / (time.perf_counter() - began)
            print(f"epoch {epoch}/{options.epochs}, {speed:.0f} samples/s", flush=True)
    fleet.stop_worker()


def begin() -> Any:
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    fleet.init_worker()
    return executor


def keep_fresh() -> None:
    """Paddle fetches the weights of this stage once, at the start."""
    runtime = fleet.fleet._runtime_handle
    tables = get_the_one_recv_context(runtime.context, split_dense_table=True)
    while True:
        runtime._pull_all_dense([paddle.static.global_scope()], runtime._send_ctx, tables)
        time.sleep(PULL_EVERY)


class Graph:
    """The network in two stages."""

    def __init__(self, shape: network.Shape) -> None:
        specs, numbers = network.specs(shape)
        net = network.WideDeep(shape)
        with device_guard("cpu"):
            *sparse, dense, self.click = self.inputs = [
                paddle.static.data(spec.name, spec.shape, spec.dtype)
                for spec in (*specs, numbers, paddle.static.InputSpec([None, 1], "float32", "click"))
            ]
            joined = paddle.concat([*(paddle.flatten(net.table(slot), 1) for slot in sparse), dense], 1)
        # Whatever the device is: another name than the first stage's makes it the second.
        with device_guard("gpu"):
            chance = paddle.nn.functional.sigmoid(net.wide(dense) + net.deep(joined))
            self.loss = paddle.mean(
                paddle.nn.functional.binary_cross_entropy(chance, self.click, reduction="none")
            )


def prepare(options: Namespace) -> tuple[Graph, Any]:
    """Meet the others; the whole network, and the program of this process's stage."""
    paddle.enable_static()
    stages = heterstages.kept(network.TABLE, options.shape.slots)
    fleet.init()
    paddle.seed(options.seed)
    graph = Graph(options.shape)
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    strategy.pipeline = True
    strategy.pipeline_configs = {"accumulate_steps": 1, "micro_batch_size": options.batch_size}
    learner = paddle.optimizer.Adam(options.learning_rate, lazy_mode=True)
    fleet.distributed_optimizer(learner, strategy).minimize(graph.loss)
    return graph, stages.own()


def lines(rows: clicks.Split) -> list[str]:
    """One line a row, each value or list of values after how many there are."""
    found = []
    for sparse, dense, click in zip(rows.sparse, rows.dense, rows.click, strict=True):
        slots = " ".join(f"1 {number}" for number in sparse)
        numbers = " ".join(f"{number:.6f}" for number in dense)
        found.append(f"{slots} {len(dense)} {numbers} 1 {int(click[0])}\n")
    return found


def refused(options: Namespace) -> bool:
    """Whether something is asked for that this way of training has not."""
    asked = [f"--{name}" for name in ("output", "checkpoint", "curves") if getattr(options, name)]
    if asked:
        words = (
            f"{', '.join(asked)}: not with heterogeneous workers, where no process holds the whole network"
        )
        print(f"{words}; leave it out, or train without `heter`", file=sys.stderr)
    return bool(asked)

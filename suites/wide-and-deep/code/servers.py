"""Training with parameter servers: the servers hold the weights, the workers push what they learn.

Workers do not wait for each other once all have begun. One that comes back finds the weights where they are
and goes on from the newest checkpoint's epoch; when the servers come back too, the weights are those of that
checkpoint.
"""

from __future__ import annotations

import os
import socket
import sys
from argparse import Namespace
from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import clicks
import network
import numpy as np
import paddle
import paddle.distributed.fleet as fleet
from checkpoints import Checkpoints
from exporting import early_folder, export
from paddle.distributed.ps.utils.public import get_the_one_recv_context
from progress import Teller, judged, told
from records import Curves

SHARDS = 8  # files of a server in a checkpoint; Paddle's default is a thousand
ROWS_AT_ONCE = 500


def serve(options: Namespace) -> None:
    """Hold the weights until told to end."""
    prepare(options)
    fleet.init_server()
    # Who is told to end has no reason for a stack trace.
    paddle.disable_signal_handler()
    print("serving parameters", flush=True)
    fleet.run_server()


def train(options: Namespace, kept: Checkpoints, split: clicks.Split, test: clicks.Split) -> None:
    back = comes_back(os.environ)
    graph = prepare(options)
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    fleet.init_worker()
    weights = Weights()
    if back and weights.nobody_put_any(graph):
        executor.run(paddle.static.default_startup_program())
        weights.put()
    rank, workers = fleet.worker_index(), fleet.worker_num()
    begin = resume(kept, back)
    mine = split.share(rank, workers)
    size = min(options.batch_size, len(mine))
    steps = len(mine) // size
    curves = Curves(options.curves if rank == 0 else None)
    teller = Teller(options.epochs, steps, size * workers, curves)
    settled = Mean()
    for epoch in range(begin + 1, options.epochs + 1):
        order = np.random.default_rng((options.seed, epoch, rank)).permutation(len(mine))
        for step in range(1, steps + 1):
            rows = mine.part(order[(step - 1) * size : step * size])
            weights.fetch()
            if rank == 0 and epoch == options.epochs:
                settled.add(weights.values(graph))
            loss, scores = executor.run(feed=feed(options.shape, rows), fetch_list=[graph.loss, graph.chance])
            if rank == 0:
                teller.step(epoch, step, float(loss), scores, rows.click)
        if rank == 0:
            kept.write(epoch, save)
            if epoch == options.early and options.output:
                now = [learnt(executor, graph, options.shape), *weights.values(graph)]
                export_values(executor, now, test, options.shape, early_folder(options))
    if not back:
        wait_for_the_others()
    if rank == 0:
        weights.fetch()
        settled.add(weights.values(graph))
        finish(executor, [learnt(executor, graph, options.shape), *settled.values], test, options)
    fleet.stop_worker()


def comes_back(environ: MutableMapping[str, str]) -> bool:
    """Whether this worker was there before, and then let it begin without waiting for the others.

    The servers open their port when all workers have met, and not before: who finds it open comes too late
    for that, and must neither wait for a meeting nor put fresh weights in the place of the learnt ones.
    """
    if environ.get("PADDLE_WITH_GLOO", "0") == "0":
        return False
    host, _, port = environ["PADDLE_PSERVERS_IP_PORT_LIST"].partition(",")[0].rpartition(":")
    try:
        socket.create_connection((host, int(port)), 2).close()
    except OSError:
        return False
    environ["PADDLE_WITH_GLOO"] = "0"
    environ["TEST_MODE"] = "1"  # Paddle's word for: the weights are there already
    print("the servers are at work: this worker comes back", flush=True)
    return True


class Weights:
    """The dense weights that the servers hold.

    Rows of the table come with every step that needs them; the rest Paddle brings up to date only where it
    reads the data itself too. Here it is fetched before each step.
    """

    def __init__(self) -> None:
        self._runtime = fleet.fleet._runtime_handle
        self._tables = get_the_one_recv_context(self._runtime.context)
        self._scopes = [paddle.static.global_scope()]

    def fetch(self) -> None:
        self._runtime._pull_all_dense(self._scopes, self._runtime._send_ctx, self._tables)

    def values(self, graph: Graph) -> list[np.ndarray]:
        """What was fetched last, in the order of the network's parameters after the table."""
        return [np.array(self._scopes[0].find_var(p.name).get_tensor()) for p in graph.parameters[1:]]

    def put(self) -> None:
        self._runtime._init_all_params(self._scopes, self._runtime._send_ctx, self._tables)

    def nobody_put_any(self, graph: Graph) -> bool:
        """Whether the worker that should have begun with them died before it did."""
        names = [parameter.name for parameter in graph.parameters if parameter.name != network.TABLE]
        return not any(np.any(np.array(self._scopes[0].find_var(n).get_tensor())) for n in names)


class Mean:
    """The mean of weights over the steps of the last epoch.

    Workers that do not wait push what they learnt from weights of a while ago, on a busy machine of a long
    while: the weights swing, and those of any one moment lean to one side.
    """

    def __init__(self) -> None:
        self.values: list[np.ndarray] = []
        self._steps = 0

    def add(self, weights: list[np.ndarray]) -> None:
        self._steps += 1
        before = self.values or weights
        self.values = [mean + (new - mean) / self._steps for mean, new in zip(before, weights, strict=True)]


@dataclass(frozen=True)
class Graph:
    chance: Any
    loss: Any
    rows: Any
    """The rows of the table that the first slot asks for."""
    parameters: list[Any]


def prepare(options: Namespace) -> Graph:
    """Meet the others and describe the network to them."""
    paddle.enable_static()
    fleet.init()
    paddle.seed(options.seed)
    graph = build(options.shape)
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    strategy.sparse_table_configs = {network.TABLE: {f"table_parameters.{network.TABLE}.shard_num": SHARDS}}
    learner = paddle.optimizer.Adam(options.learning_rate, lazy_mode=True)
    fleet.distributed_optimizer(learner, strategy).minimize(graph.loss)
    return graph


def build(shape: network.Shape) -> Graph:
    specs, numbers = network.specs(shape)
    *sparse, dense, click = (
        paddle.static.data(spec.name, spec.shape, spec.dtype)
        for spec in (*specs, numbers, paddle.static.InputSpec([None, 1], "int64", "click"))
    )
    net = network.WideDeep(shape)
    rows = paddle.flatten(net.table(sparse[0]), 1)
    chance = net(sparse, dense)
    loss = paddle.nn.functional.binary_cross_entropy(chance, paddle.cast(click, "float32"))
    return Graph(chance, loss, rows, list(net.parameters()))


def feed(shape: network.Shape, rows: clicks.Split) -> dict[str, Any]:
    columns = [*network.columns(rows.sparse), rows.dense]
    return {**dict(zip(shape.inputs, columns, strict=True)), "click": rows.click}


def resume(kept: Checkpoints, back: bool) -> int:
    """How many epochs are done; fresh servers get the weights of that time."""
    found = kept.newest()
    if found is None:
        return 0
    if not back:
        fleet.load_model(str(found.folder), mode=0)
    print(f"goes on after epoch {found.epoch}", flush=True)
    return found.epoch


def save(folder: Path) -> None:
    # The public call waits for all workers at a barrier; one that is just coming back would never reach it.
    runtime = fleet.fleet._runtime_handle
    runtime._worker.client_flush()
    runtime._worker.save_all_model(str(folder), 0)


def wait_for_the_others() -> None:
    try:
        fleet.util.barrier()
    except Exception as error:
        # One of them died and came back on its own way; what it pushed is in the servers.
        print(f"does not wait for all workers: {str(error).splitlines()[0]}", file=sys.stderr)


def finish(executor: Any, values: list[np.ndarray], test: clicks.Split, options: Namespace) -> None:
    told(export_values(executor, values, test, options.shape, options.output))


def export_values(
    executor: Any, values: list[np.ndarray], test: clicks.Split, shape: network.Shape, output: Path | None
) -> dict[str, float]:
    """Put the weights into a network of our own, judge it and write it."""
    program, begin = paddle.static.Program(), paddle.static.Program()
    scope = paddle.static.Scope()
    with (
        paddle.static.scope_guard(scope),
        paddle.static.program_guard(program, begin),
        paddle.utils.unique_name.guard(),
    ):
        alone = build(shape)
        executor.run(begin)
        for parameter, value in zip(alone.parameters, values, strict=True):
            scope.find_var(parameter.name).get_tensor().set(value, paddle.CPUPlace())
        inputs = [program.global_block().var(name) for name in shape.inputs]
        scores = [
            executor.run(
                program,
                feed=feed(shape, test.part(slice(i, i + ROWS_AT_ONCE))),
                fetch_list=[alone.chance],
            )[0]
            for i in range(0, len(test), ROWS_AT_ONCE)
        ]
        metrics = judged(test, np.concatenate(scores))
        if output:
            export(
                output,
                metrics,
                lambda folder: paddle.static.save_inference_model(
                    str(folder / "model"), inputs, [alone.chance], executor, program=program
                ),
            )
    return metrics


def learnt(executor: Any, graph: Graph, shape: network.Shape) -> np.ndarray:
    """The table, as the servers hold it."""
    rows = []
    for first in range(0, shape.features, ROWS_AT_ONCE):
        wanted = np.arange(first, min(first + ROWS_AT_ONCE, shape.features), dtype="int64")[:, None]
        asked = {name: wanted for name in shape.inputs[:-1]}
        asked |= {"dense_input": np.zeros([len(wanted), shape.dense], "float32"), "click": wanted * 0}
        # The chance is asked for too: what is not needed for an answer is not in the pruned graph.
        found, _ = executor.run(feed=asked, fetch_list=[graph.rows, graph.chance], use_prune=True)
        rows.append(found)
    return np.concatenate(rows)

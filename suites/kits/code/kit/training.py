"""The loop that all model suites train in: a `Task` says what is learnt, a `Plan` how long and where to.

The first worker tells how far it is in the words of the suite, writes the curves, judges now and then on what
was not trained on, and keeps the newest and the best.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import paddle
from paddle.io import DataLoader, DistributedBatchSampler

from kit import checkpoints
from kit.checkpoints import State
from kit.exporting import Served
from kit.records import Curves


@dataclass(frozen=True)
class Plan:
    epochs: int
    batch_size: int
    learning_rate: float
    folder: Path
    """Where checkpoints go."""
    inference: Path
    """Where the exported model goes."""
    falling: bool = False
    """The learning rate falls along a cosine."""
    warmup: float = 0.0
    """Epochs in which the learning rate rises."""
    print_steps: int = 10
    judge_steps: tuple[int, int] = (0, 0)
    """After which step, and then every how many; no number: after every epoch."""
    keep_epochs: int = 0
    """Every how many epochs a checkpoint is kept beside the newest; 0: none."""
    curves: Path | None = None
    pretrained: Path | None = None
    checkpoint: Path | None = None
    seed: int = 7


@dataclass(frozen=True)
class Moment:
    """How far a training is, as its lines tell it."""

    epoch: int
    epochs: int
    step: int
    """Of the epoch."""
    steps: int
    done: int
    """Steps of the whole training."""
    rate: float
    losses: dict[str, float]
    batch_cost: float
    reader_cost: float
    samples: float
    """A step, of all workers."""
    eta: float


class Form(Protocol):
    """The words of a suite."""

    newest: str
    best: str

    def say(self, text: str) -> None: ...
    def step(self, now: Moment) -> str: ...
    def verdict(self, epoch: int, metrics: dict[str, float]) -> str: ...
    def champion(self, best: dict[str, float]) -> str: ...
    def kept(self, prefix: Path, best: bool) -> str: ...


class Task(Protocol):
    plan: Plan
    form: Form
    network: Any
    indicator: str
    """The metric by which the best is known; more is better."""
    samples: Any
    """To train on: a `paddle.io.Dataset`."""

    remarks: list[str]
    """What its user had better know before it begins."""

    def losses(self, model: Any, batch: list[Any]) -> dict[str, Any]:
        """What the batch costs; `loss` is what is learnt from."""
        ...

    def judge(self) -> dict[str, float]: ...
    def served(self) -> Served: ...


@dataclass
class Meter:
    """Collects what the steps since the last line gave."""

    losses: list[dict[str, float]] = field(default_factory=list)
    reading: float = 0.0
    since: float = field(default_factory=time.monotonic)

    def means(self) -> dict[str, float]:
        return {name: sum(row[name] for row in self.losses) / len(self.losses) for name in self.losses[0]}


def train(task: Task, rank: int, workers: int) -> State:
    plan, form = task.plan, task.form
    model = paddle.DataParallel(task.network) if workers > 1 else task.network
    learnt = [p for p in task.network.parameters() if not p.stop_gradient]
    learner = paddle.optimizer.Adam(plan.learning_rate, parameters=learnt)
    state = begin(task, learner)
    whole = len(task.samples) >= plan.batch_size * workers
    sampler = DistributedBatchSampler(task.samples, plan.batch_size, shuffle=True, drop_last=whole)
    loader = DataLoader(task.samples, batch_sampler=sampler, use_shared_memory=False)
    steps = len(sampler)
    with Curves(plan.curves if rank == 0 else None) as curves:
        meter = Meter()
        for epoch in range(state.epoch + 1, plan.epochs + 1):
            sampler.set_epoch(epoch)
            task.network.train()
            asked = time.monotonic()
            for step, batch in enumerate(loader, 1):
                meter.reading += time.monotonic() - asked
                done = (epoch - 1) * steps + step
                learner.set_lr(rate_at(plan, (done - 1) / steps))
                costs = task.losses(model, batch)
                costs["loss"].backward()
                learner.step()
                learner.clear_grad()
                meter.losses.append({name: float(cost) for name, cost in costs.items()})
                if rank == 0 and (done % plan.print_steps == 0 or done == plan.epochs * steps):
                    meter = tell(task, meter, (epoch, step, steps), learner.get_lr(), workers, curves)
                state = replace(state, epoch=epoch if step == steps else epoch - 1, step=done)
                if rank == 0 and due(plan, epoch, step, steps, done):
                    state = judged(task, learner, state, epoch, curves)
                    task.network.train()
                asked = time.monotonic()
            if rank == 0:
                keep(task, learner, state, plan.folder / form.newest)
                if plan.keep_epochs and epoch % plan.keep_epochs == 0:
                    keep(task, learner, state, plan.folder / f"iter_epoch_{epoch}")
    return state


def begin(task: Task, learner: Any) -> State:
    plan = task.plan
    if plan.checkpoint is not None:
        state = checkpoints.resume(plan.checkpoint, task.network, learner)
        task.form.say(f"resume from {plan.checkpoint} after epoch {state.epoch}")
        return state
    if plan.pretrained is not None:
        count = checkpoints.load(plan.pretrained, task.network)
        task.form.say(f"load pretrain successful from {plan.pretrained} ({count} tensors)")
    return State()


def rate_at(plan: Plan, epochs: float) -> float:
    """The learning rate after so many epochs: a function of how far it is, not of what was."""
    if epochs < plan.warmup:
        return plan.learning_rate * (epochs + 0.1) / (plan.warmup + 0.1)
    if not plan.falling:
        return plan.learning_rate
    part = (epochs - plan.warmup) / max(plan.epochs - plan.warmup, 1e-9)
    return plan.learning_rate * (0.01 + 0.99 * (1 + math.cos(math.pi * part)) / 2)


def due(plan: Plan, epoch: int, step: int, steps: int, done: int) -> bool:
    """Whether it is time to judge; the end of the training always is."""
    start, every = plan.judge_steps
    if step == steps and (epoch == plan.epochs or not every):
        return True
    return bool(every) and done > start and (done - start) % every == 0


def tell(
    task: Task, meter: Meter, place: tuple[int, int, int], rate: float, workers: int, curves: Curves
) -> Meter:
    epoch, step, steps = place
    plan, count, now = task.plan, len(meter.losses), time.monotonic()
    cost = (now - meter.since) / count
    done = (epoch - 1) * steps + step
    losses = meter.means()
    moment = Moment(
        epoch, plan.epochs, step, steps, done, rate, losses, cost, meter.reading / count,
        float(plan.batch_size * workers), cost * (plan.epochs * steps - done),
    )  # fmt: skip
    task.form.say(task.form.step(moment))
    for name, value in {**losses, "lr": rate}.items():
        curves.add(f"TRAIN/{name}", value, done)
    return Meter()


def judged(task: Task, learner: Any, state: State, epoch: int, curves: Curves) -> State:
    """Judge, and keep the model if it is the best so far."""
    metrics = without_gradients(task.network, task.judge)
    task.form.say(task.form.verdict(epoch, metrics))
    for name, value in metrics.items():
        curves.add(f"EVAL/{name}", value, state.step)
    if metrics[task.indicator] >= state.best.get(task.indicator, -math.inf):
        state = replace(state, best={**metrics, "best_epoch": float(epoch)})
        keep(task, learner, state, task.plan.folder / task.form.best, best=True)
    task.form.say(task.form.champion(state.best))
    return state


def keep(task: Task, learner: Any, state: State, prefix: Path, best: bool = False) -> None:
    checkpoints.save(prefix, task.network, learner, state)
    task.form.say(task.form.kept(prefix, best))


def without_gradients(network: Any, judge: Callable[[], dict[str, float]]) -> dict[str, float]:
    network.eval()
    with paddle.no_grad():
        return judge()

"""The models of one server: each with its engine, its queue, its processor and its counts.

A model is asked for arrays by arrays; what went over the wire before and after is not known here. The set of
names is fixed at the start; a name answers `Unavailable` until its model has been loaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from ..errors import NotFound, Unavailable
from .batcher import Batcher
from .batching import Rule
from .engine import Effort
from .loading import load
from .metrics import Metrics
from .processors import Processor, load_processor
from .signature import Arrays, Signature


@dataclass
class Model:
    name: str
    batcher: Batcher
    metrics: Metrics
    processor: Processor | None = None

    @property
    def signature(self) -> Signature:
        return self.batcher.engine.signature

    @property
    def platform(self) -> str:
        return self.batcher.engine.platform

    async def infer(self, arrays: Arrays, wanted: list[str]) -> Arrays:
        """The outputs of these names. Raises what the engine raised."""
        return dict(zip(wanted, await self.batcher.infer(wanted, arrays), strict=True))


@dataclass(frozen=True)
class Means:
    """What the models of a server share."""

    effort: Effort
    rule: Rule
    threads: Executor


class Models:
    """The models by name, in the order they were given."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self.folders = folders
        self.loaded: dict[str, Model] = {}

    @property
    def ready(self) -> bool:
        return len(self.loaded) == len(self.folders)

    async def load(self, means: Means) -> None:
        """Load them all, one after the other. Raises `Failed` with the reason of the first that does not."""
        for name, folder in self.folders.items():
            self.loaded[name] = await asyncio.to_thread(open_model, name, folder, means)

    def named(self, name: str) -> Model:
        """Raises `NotFound` for a name that is not served, `Unavailable` for one that is not loaded yet."""
        if model := self.loaded.get(name):
            return model
        if name in self.folders:
            raise Unavailable(f"the model {name} is being loaded")
        raise NotFound(f"there is no model {name}; served are: {', '.join(self.folders)}")

    def of_service(self, service: str) -> Model:
        """The model a service path means: the one of that name, or the only one under any name."""
        if len(self.folders) == 1 and service not in self.folders:
            service = next(iter(self.folders))
        return self.named(service)

    def only(self) -> Model:
        """The model of a protocol that names none: the first."""
        return self.named(next(iter(self.folders)))


def open_model(name: str, folder: Path, means: Means) -> Model:
    loaded = load(folder, means.effort)
    metrics = Metrics(name)
    rule = means.rule if loaded.rows_independent else Rule(most_rows=1)
    batcher = Batcher(loaded.engine, rule, means.threads, means.effort.concurrent, metrics.batch)
    return Model(name, batcher, metrics, load_processor(folder))

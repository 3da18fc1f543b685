"""What the walk can be walked with: a suite that draws its data and trains on it, and what is enough.

A course says nothing about the way itself; that is the same for all of them (`pipelines.walk`).
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from types import ModuleType

from ..pipelines.walk import Way
from ..settings import shipped

SEED = 7


@dataclass(frozen=True)
class Course:
    name: str
    """Of the model and of everything made on the way."""
    suite: str
    data: str
    """What the data is, in a few words."""
    train: int
    test: int
    servers: int
    """Parameter servers; 0: the workers share their gradients themselves."""
    epochs: int
    enough: float
    """How often a model is right that learnt something."""

    def way(self, workers: int, epochs: int | None) -> Way:
        return Way(
            model=self.name,
            image=f"paddlecloud/{self.suite}",
            samples=f"--train {self.train} --test {self.test} --seed {SEED}",
            epochs=epochs or self.epochs,
            workers=workers,
            servers=self.servers,
        )


COURSES = {
    # Of four shapes a model that learnt nothing is right in one case of four.
    "collective": Course("shapes", "shapes", "images of shapes", 1600, 400, 0, 8, enough=0.9),
    # Clicks are a matter of chance: who knows the chances exactly is right in about five cases of six.
    "ps": Course("clicks", "wide-and-deep", "rows of clicks", 16_000, 400, 2, 4, enough=0.75),
}


def suite_code(suite: str, name: str) -> ModuleType:
    """A module of a shipped suite that needs nothing but Python itself."""
    path = shipped("suites") / suite / "code" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{suite.replace('-', '_')}_{name}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module

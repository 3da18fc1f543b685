"""What the walk can be walked with: data, the suite that trains on it, and questions with known answers.

A course says nothing about the way itself; that is the same for all of them.
"""

from __future__ import annotations

import importlib.util
import secrets
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ..settings import Home, shipped
from .pictures import pixels

Question = tuple[dict[str, Any], int]
"""What the model is fed with, and the right answer."""
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
    questions: Callable[[Path], Iterator[Question]]
    answer: Callable[[list[float]], int]
    """What the scores of one answer mean."""
    enough: float
    """How often a model is right that learnt something."""

    @property
    def image(self) -> str:
        return f"paddlecloud/{self.suite}"


def images_of_shapes(source: Path) -> Iterator[Question]:
    for line in (source / "test_list.txt").read_text().splitlines():
        path, _, label = line.rpartition(" ")
        yield {"image": [pixels(source / path)]}, int(label)


def rows_of_clicks(source: Path) -> Iterator[Question]:
    for line in (source / "slot_test_data_full" / "part-0").read_text().splitlines():
        words = [word.partition(":")[::2] for word in line.split()]
        dense = [float(value) for name, value in words if name == "dense_feature"]
        slots = {f"C{name}": [int(value)] for name, value in words if name.isdigit()}
        yield {**slots, "dense_input": dense}, int(dict(words)["click"])


def highest(scores: list[float]) -> int:
    return scores.index(max(scores))


def likely(scores: list[float]) -> int:
    return int(scores[0] > 0.5)


COURSES = {
    # Of four shapes a model that learnt nothing is right in one case of four.
    "collective": Course(
        "shapes", "shapes", "images of shapes", 1600, 400, 0, 8, images_of_shapes, highest, enough=0.9
    ),
    # Clicks are a matter of chance: who knows the chances exactly is right in about five cases of six.
    "ps": Course(
        "clicks", "wide-and-deep", "rows of clicks", 16_000, 400, 2, 4, rows_of_clicks, likely, enough=0.75
    ),
}


def make_data(home: Home, course: Course) -> Path:
    """The generated data set; made once, the same for everybody."""
    home.make()
    folder = home.root / "demo" / f"{course.name}-{course.train}-{course.test}-{SEED}"
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}.part")
        part.parent.mkdir(parents=True, exist_ok=True)
        suite_code(course.suite, "make_data").make(part, course.train, course.test, SEED)
        part.rename(folder)
    return folder


def suite_code(suite: str, name: str) -> ModuleType:
    """A module of a shipped suite that needs nothing but Python itself."""
    path = shipped("suites") / suite / "code" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{suite.replace('-', '_')}_{name}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module

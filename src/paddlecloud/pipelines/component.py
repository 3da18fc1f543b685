"""A component: a program with named inputs and outputs, the same on every cluster.

On the command line an input is a flag; the outputs go to the termination message as JSON, from where
the executor takes them. A component that cannot do its work says why in one sentence and exits non-zero.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import PaddleCloudError
from ..sdk.client import Client
from ..sdk.connecting import connect

IMAGE = "paddlecloud/core"
Inputs = Mapping[str, str]
Work = Callable[[Client, Inputs], dict[str, str]]


@dataclass(frozen=True)
class Component:
    name: str
    help: str
    inputs: dict[str, str] = field(default_factory=dict)
    """Name to default; an input without a default has to be given."""
    required: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return f"paddlecloud.pipelines.components.{self.name}"

    def command(self) -> list[str]:
        """The command of a step, with a placeholder for every input."""
        flags = [part for name in self.all_inputs() for part in (flag(name), f"{{{{{name}}}}}")]
        return ["python", "-m", self.module, *flags]

    def all_inputs(self) -> tuple[str, ...]:
        return (*self.required, *self.inputs)


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def program(component: Component, work: Work, arguments: list[str] | None = None) -> int:
    """Parse, work, hand over the outputs."""
    parser = argparse.ArgumentParser(prog=component.name, description=component.help)
    for name in component.required:
        parser.add_argument(flag(name), required=True)
    for name, default in component.inputs.items():
        parser.add_argument(flag(name), default=default)
    inputs = vars(parser.parse_args(arguments))
    try:
        with connect() as client:
            outputs = work(client, inputs)
    except PaddleCloudError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    hand_over(outputs)
    return 0


def hand_over(outputs: dict[str, str]) -> None:
    for name, value in outputs.items():
        print(f"output {name}: {value}", flush=True)
    path = os.environ.get("TERMINATION_MESSAGE_PATH")
    if path:
        Path(path).write_text(json.dumps({"outputs": outputs}))

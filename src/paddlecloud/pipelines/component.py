"""A component: a program with named inputs and outputs, the same on every cluster.

On the command line an input is a flag. The outputs go to the termination message as JSON, from where our
executor takes them, and to files where `--write NAME PATH` asks for it, as Kubeflow Pipelines does. A
component that cannot do its work says why in one sentence and exits non-zero.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import PaddleCloudError, WrongUse
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
    types: dict[str, str] = field(default_factory=dict)
    """Integer or Boolean; what is not named is a String."""

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
    parser.add_argument("--write", nargs=2, action="append", default=[], metavar=("OUTPUT", "PATH"))
    inputs = vars(parser.parse_args(arguments))
    places = dict(inputs.pop("write"))
    try:
        check_types(component, inputs)
        with connect() as client:
            outputs = work(client, inputs)
    except PaddleCloudError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    hand_over(outputs, places)
    return 0


def check_types(component: Component, inputs: dict[str, str]) -> None:
    """Raises `WrongUse` for a number or a yes that is none; both spellings of yes are known."""
    for name, kind in component.types.items():
        text = inputs[name]
        if kind == "Integer" and text and not text.lstrip("-").isdigit():
            raise WrongUse(f"{name} is to be a whole number and is {text!r}")
        if kind == "Boolean" and text.lower() not in ("", "true", "false"):
            raise WrongUse(f"{name} is to be True or False and is {text!r}")


def yes(text: str) -> bool:
    return text.lower() == "true"


def hand_over(outputs: dict[str, str], places: Mapping[str, str] | None = None) -> None:
    for name, value in outputs.items():
        print(f"output {name}: {value}", flush=True)
    for name, place in (places or {}).items():
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_text(outputs.get(name, ""))
    path = os.environ.get("TERMINATION_MESSAGE_PATH")
    # A step that writes files is told by whoever started it.
    if path and not places:
        Path(path).write_text(json.dumps({"outputs": outputs}))

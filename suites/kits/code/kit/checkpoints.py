"""What a training leaves and goes on from: `NAME.pdparams`, `NAME.pdopt` and `NAME.states`.

Every file is replaced in one step, `.states` last: a name whose states can be read is whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import paddle

from kit.configuration import BadConfiguration


@dataclass(frozen=True)
class State:
    epoch: int = 0
    """How many epochs are done."""
    step: int = 0
    best: dict[str, float] = field(default_factory=dict)
    """The metrics of the best model so far, with `best_epoch`."""


def save(prefix: Path, network: Any, learner: Any, state: State) -> None:
    prefix.parent.mkdir(parents=True, exist_ok=True)
    replaced(suffixed(prefix, ".pdparams"), lambda part: paddle.save(network.state_dict(), str(part)))
    replaced(suffixed(prefix, ".pdopt"), lambda part: paddle.save(learner.state_dict(), str(part)))
    replaced(suffixed(prefix, ".states"), lambda part: part.write_text(json.dumps(asdict(state)) + "\n"))


def resume(prefix: Path, network: Any, learner: Any) -> State:
    """Network and optimizer as they were; raises `BadConfiguration` where that cannot be."""
    load(prefix, network)
    try:
        learner.set_state_dict(paddle.load(str(suffixed(prefix, ".pdopt"))))
        return State(**json.loads(suffixed(prefix, ".states").read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise BadConfiguration(f"the checkpoint {prefix} is not whole: {error}") from error


def load(prefix: Path, network: Any) -> int:
    """Fill the network with weights; how many of its tensors were there and of the same shape.

    Raises `BadConfiguration` when there is no such file, or nothing in it fits.
    """
    file = suffixed(prefix, ".pdparams") if prefix.suffix != ".pdparams" else prefix
    try:
        found = paddle.load(str(file))
    except (OSError, ValueError) as error:
        raise BadConfiguration(f"no weights can be read from {file}: {error}") from error
    own = network.state_dict()
    fitting = {
        name: value
        for name, value in found.items()
        if name in own and tuple(value.shape) == tuple(own[name].shape)
    }
    if not fitting:
        raise BadConfiguration(
            f"the weights in {file} are of another network; those of this suite come with it (README.md)"
        )
    network.set_state_dict({**own, **fitting})
    return len(fitting)


def suffixed(prefix: Path, suffix: str) -> Path:
    return prefix.with_name(prefix.name + suffix)


def replaced(path: Path, write: Callable[[Path], object]) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    write(part)
    os.replace(part, path)

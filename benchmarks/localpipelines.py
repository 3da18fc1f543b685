"""Runs with the SDK of Kubeflow Pipelines 2 alone: writes packages, and times the SDK's own runner.

    python localpipelines.py packages FOLDER
    python localpipelines.py time STEPS

It needs nothing of ours, so that the interpreter of the SDK's environment can run it.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from kfp import compiler, dsl, local

CHAINS, FANS, RUN = (5, 10, 25, 50, 100), (25, 50, 100, 200), 8


@dsl.component
def add(a: int, b: int) -> int:
    return a + b


@dsl.component(install_kfp_package=False)
def add_bare(a: int, b: int) -> int:
    return a + b


@dsl.container_component
def count(number: int, said: dsl.OutputPath(int)):
    return dsl.ContainerSpec(
        image="busybox", command=["sh", "-c", 'echo $(($0 + 1)) > "$1"'], args=[number, said]
    )


def chain(component, length):
    @dsl.pipeline(name=f"chain-{length}")
    def steps(start: int):
        value = start
        for _ in range(length):
            value = component(a=value, b=1).output

    return steps


def fan(width):
    @dsl.pipeline(name=f"fan-{width}")
    def steps(start: int):
        for _ in range(width):
            count(number=start)

    return steps


def relay(length, name):
    @dsl.pipeline(name=name)
    def steps(start: int):
        value = start
        for _ in range(length):
            value = count(number=value).output

    return steps


def packages(folder: Path) -> None:
    for length in CHAINS:
        compiler.Compiler().compile(chain(add, length), str(folder / f"python-{length}.yaml"))
        compiler.Compiler().compile(relay(length, f"relay-{length}"), str(folder / f"relay-{length}.yaml"))
    for width in FANS:
        compiler.Compiler().compile(fan(width), str(folder / f"fan-{width}.yaml"))
    compiler.Compiler().compile(relay(RUN, "eight"), str(folder / "eight.yaml"))


def timed(component, steps: int) -> float:
    """Seconds a step."""
    with tempfile.TemporaryDirectory() as folder:
        local.init(local.SubprocessRunner(use_venv=False), pipeline_root=folder, raise_on_error=True)
        began = time.perf_counter()
        chain(component, steps)(start=1)
        return (time.perf_counter() - began) / steps


if __name__ == "__main__":
    if sys.argv[1] == "packages":
        packages(Path(sys.argv[2]))
    else:
        count = int(sys.argv[2])
        print(json.dumps({"pip": timed(add, count), "bare": timed(add_bare, count)}))

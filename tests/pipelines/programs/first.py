"""Pipelines of the first generation that between them use every construct; compiles one to a file.

python first.py NAME FILE
"""

import sys

import kfp
from kfp import components, dsl
from kfp.components import InputPath, OutputPath


def add_numbers(a: int, b: int) -> int:
    return a + b


def list_numbers(count: int) -> list:
    return list(range(count))


def write_text(text: str, written_path: OutputPath(str)):
    with open(written_path, "w") as file:
        file.write(text)


def read_text(written_path: InputPath(str)) -> str:
    with open(written_path) as file:
        return file.read() + "!"


def give_up():
    raise ValueError("no luck")


add = components.create_component_from_func(add_numbers, base_image="python:3.11")
numbers = components.create_component_from_func(list_numbers, base_image="python:3.11")
write = components.create_component_from_func(write_text, base_image="python:3.11")
read = components.create_component_from_func(read_text, base_image="python:3.11")
fail = components.create_component_from_func(give_up, base_image="python:3.11")


@dsl.pipeline(name="sum-up", description="Adds two numbers and one more.")
def chain(a: int = 1, b: int = 2):
    first = add(a, b)
    add(first.output, 10)


@dsl.pipeline(name="loop")
def loop(count: int = 3):
    listed = numbers(count)
    with dsl.ParallelFor(listed.output, parallelism=2) as item:
        add(item, 1)
    with dsl.ParallelFor([{"a": 1, "b": 2}, {"a": 3, "b": 4}]) as pair:
        add(pair.a, pair.b)


@dsl.pipeline(name="choose")
def branches(a: int = 1):
    first = add(a, 1)
    with dsl.Condition(first.output == 2):
        add(first.output, 100)
    with dsl.Condition(first.output > 2):
        add(first.output, 200)


@dsl.pipeline(name="with-artifacts")
def artifacts(text: str = "hello"):
    read(write(text).output)


@dsl.pipeline(name="with-exit")
def exits():
    last = dsl.ContainerOp(
        name="tell",
        image="busybox",
        command=["sh", "-c", "echo {{workflow.status}} > /tmp/status"],
        file_outputs={"status": "/tmp/status"},
    )
    with dsl.ExitHandler(last):
        fail()


@dsl.pipeline(name="retried")
def retried():
    fail().set_retry(1)


@dsl.pipeline(name="with-volume")
def volume():
    made = dsl.VolumeOp(
        name="Make Volume",
        resource_name="kept",
        storage_class="task-center",
        size="1Gi",
        modes=dsl.VOLUME_MODE_RWM,
    )
    first = dsl.ContainerOp(
        name="write",
        image="busybox",
        command=["sh", "-c", "echo kept > /mnt/kept/file"],
        pvolumes={"/mnt/kept": made.volume},
    )
    second = dsl.ContainerOp(
        name="read",
        image="busybox",
        command=["sh", "-c", "cp /mnt/kept/file /tmp/out/said"],
        file_outputs={"said": "/tmp/out/said"},
        pvolumes={"/mnt/kept": first.pvolume},
    )
    made.delete().after(second)


if __name__ == "__main__":
    kfp.compiler.Compiler().compile(globals()[sys.argv[1]], sys.argv[2])

"""Pipelines of the second generation that between them use every construct; compiles one to a file.

python second.py NAME FILE
"""

import sys

from kfp import compiler, dsl
from kfp.dsl import Dataset, Input, Metrics, Output, PipelineTaskFinalStatus


@dsl.component
def add(a: int, b: int) -> int:
    return a + b


@dsl.component
def numbers(count: int) -> list[int]:
    return list(range(count))


@dsl.component
def total(values: list[int]) -> int:
    return sum(values)


@dsl.component
def write(text: str, data: Output[Dataset], scores: Output[Metrics]):
    with open(data.path, "w") as file:
        file.write(text)
    data.metadata["letters"] = len(text)
    scores.log_metric("accuracy", 0.5)


@dsl.component
def read(data: Input[Dataset]) -> str:
    with open(data.path) as file:
        return f"{file.read()} {data.metadata['letters']}"


@dsl.component
def fail(message: str):
    raise ValueError(message)


@dsl.component
def tell(status: PipelineTaskFinalStatus) -> str:
    print("ended as", status.state, status.pipeline_task_name)
    return status.state


@dsl.container_component
def shout(text: str, twice: bool, said: dsl.OutputPath(str)):
    return dsl.ContainerSpec(
        image="busybox",
        command=["sh", "-c", 'echo "$0$1" > "$2"'],
        args=[text, dsl.IfPresentPlaceholder("twice", [twice], ["no"]), said],
    )


@dsl.pipeline(name="sum-up", description="Adds two numbers and one more.")
def chain(a: int = 1, b: int = 2) -> int:
    first = add(a=a, b=b)
    second = add(a=first.output, b=10)
    return second.output


@dsl.pipeline(name="loop-and-collect")
def loop(count: int = 3) -> int:
    listed = numbers(count=count)
    with dsl.ParallelFor(listed.output, parallelism=2) as item:
        more = add(a=item, b=1)
    return total(values=dsl.Collected(more.output)).output


@dsl.pipeline(name="choose")
def branches(a: int = 1) -> int:
    first = add(a=a, b=1)
    with dsl.If(first.output == 2, name="two"):
        left = add(a=first.output, b=100)
    with dsl.Else():
        right = add(a=first.output, b=200)
    return dsl.OneOf(left.output, right.output)


@dsl.pipeline(name="with-artifacts")
def artifacts(text: str = "hello") -> str:
    written = write(text=text)
    return read(data=written.outputs["data"]).output


@dsl.pipeline(name="with-exit")
def exits(message: str = "no luck"):
    last = tell()
    with dsl.ExitHandler(last):
        add(a=1, b=1)
        fail(message=message)


@dsl.pipeline(name="retried")
def retried():
    fail(message="again").set_retry(2, backoff_duration="0s")


@dsl.pipeline(name="containers")
def containers(text: str = "oh") -> str:
    return shout(text=text, twice=True).outputs["said"]


@dsl.pipeline(name="with-volume")
def volume():
    from kfp import kubernetes

    made = kubernetes.CreatePVC(
        pvc_name_suffix="-kept", access_modes=["ReadWriteMany"], size="1Gi", storage_class_name="task-center"
    )
    first = add(a=1, b=1)
    kubernetes.mount_pvc(first, pvc_name=made.outputs["name"], mount_path="/mnt/kept")
    kubernetes.use_secret_as_env(
        first, secret_name="none", secret_key_to_env={"absent": "ABSENT"}, optional=True
    )
    gone = kubernetes.DeletePVC(pvc_name=made.outputs["name"])
    gone.after(first)


@dsl.pipeline(name="imports")
def imports(place: str = "file:///data/words.txt") -> str:
    known = {"letters": 5, "of": place}
    dsl.importer(artifact_uri="file:///data/words.txt", artifact_class=dsl.Dataset, metadata=known)
    again = dsl.importer(
        artifact_uri=place, artifact_class=dsl.Dataset, reimport=True, metadata={"letters": 7}
    )
    return read(data=again.output).output


if __name__ == "__main__":
    compiler.Compiler().compile(globals()[sys.argv[1]], sys.argv[2])

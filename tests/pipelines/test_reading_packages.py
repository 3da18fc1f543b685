"""What packages become, and what is said about those that cannot be run."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from typing import Any

import pytest
import yaml
from tests.pipelines.playing import PACKAGES, graph_of_package

from paddlecloud.errors import WrongUse
from paddlecloud.pipelines.argo.reading import V2
from paddlecloud.pipelines.durations import duration
from paddlecloud.pipelines.ir.conditions import condition
from paddlecloud.pipelines.ir.lightweight import prepared
from paddlecloud.pipelines.reading import package_of, read_package

CHAIN = (PACKAGES / "second-chain.yaml").read_bytes()
OLD_CHAIN = (PACKAGES / "first-chain.yaml").read_bytes()


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("pipeline.yaml", content)
    return file.getvalue()


def tarred(content: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        entry = tarfile.TarInfo("pipeline.yaml")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


@pytest.mark.parametrize(
    "pack", [lambda c: c, zipped, tarred, lambda c: json.dumps(yaml.safe_load(c)).encode()]
)
@pytest.mark.parametrize("content, generation", [(CHAIN, "v2"), (OLD_CHAIN, "v1")])
def test_a_package_is_the_same_however_it_is_packed(pack: Any, content: bytes, generation: str) -> None:
    package = read_package(pack(content))

    assert (package.generation, package.title) == (generation, "sum-up")
    assert package.graph.digest() == read_package(content).graph.digest()


def test_every_package_becomes_a_graph_that_ends() -> None:
    for file in sorted(PACKAGES.glob("*.yaml")):
        graph = graph_of_package(file.stem)
        assert graph.after_skipped == file.stem.startswith("first")
        assert graph.steps


def test_a_volume_of_the_first_generation_is_made_mounted_and_deleted() -> None:
    steps = {s.name: s for s in graph_of_package("first-volume").steps}

    assert (
        steps["make-volume"].pod["action"] == "create"
        and "task-center" in steps["make-volume"].pod["manifest"]
    )
    assert steps["write"].pod["spec"]["volumes"] == [
        {"name": "make-volume", "persistentVolumeClaim": {"claimName": "{{input.make-volume-name}}"}}
    ]
    assert steps["kubernetes-resource-delete"].pod["kind"] == "PersistentVolumeClaim"


def test_platform_settings_of_the_second_generation_reach_the_pod() -> None:
    steps = {s.name: s for s in graph_of_package("second-volume").steps}
    pod = steps["add"].pod["spec"]

    assert pod["volumes"] == [{"name": "claim-0", "persistentVolumeClaim": {"claimName": "{{extra.0}}"}}]
    assert steps["add"].extras["0"].output == "createpvc.name" and "createpvc" in steps["add"].needs()
    assert pod["containers"][0]["env"][0]["valueFrom"]["secretKeyRef"]["name"] == "none"


IMPORTS = (PACKAGES / "second-imports.yaml").read_bytes()
IMPORTED = "deploymentSpec/executors/exec-importer/importer/artifactUri/constant"


def changed(content: bytes, path: str, value: Any) -> bytes:
    body = yaml.safe_load(content)
    inner = body
    *keys, last = path.split("/")
    for key in keys:
        inner = inner[int(key) if isinstance(inner, list) else key]
    if value is None:
        del inner[last]
    else:
        inner[int(last) if isinstance(inner, list) else last] = value
    return yaml.safe_dump(body).encode()


@pytest.mark.parametrize(
    "content, said",
    [
        (b"{", "is no YAML"),
        (b"\xff\xfe", "is no YAML"),
        (b"", "holds no pipeline"),
        (b"- 1", "holds no pipeline"),
        (b"a: 1", "neither a Workflow of kfp 1.8 nor a pipeline of kfp 2"),
        (b"PK\x03\x04broken", "damaged archive"),
        (
            changed(CHAIN, "schemaVersion", "2.9.0"),
            "has schema 2.9.0 (written by kfp-2.17.0); this service reads 2.1",
        ),
        (changed(CHAIN, "root/dag/tasks/add/dependentTasks", ["add-2"]), "steps wait for each other"),
        (changed(CHAIN, "root/dag/tasks/add/dependentTasks", ["ghost"]), "needs step ghost"),
        (changed(CHAIN, "components/comp-add", None), "the package is damaged"),
        (changed(CHAIN, "root", None), "the package is damaged"),
        (changed(IMPORTS, IMPORTED, "gs://bucket/x"), "task importer: gs://bucket/x cannot be imported"),
        (changed(OLD_CHAIN, "spec/entrypoint", "ghost"), "the Workflow has no"),
        (changed(OLD_CHAIN, "metadata/annotations", {V2: "true"}), "V2_COMPATIBLE"),
        (changed(OLD_CHAIN, "apiVersion", "argoproj.io/v9"), "a Workflow of argoproj.io/v9; this"),
    ],
)
def test_what_cannot_be_run_is_refused_in_words(content: bytes, said: str) -> None:
    with pytest.raises(WrongUse) as refused:
        read_package(content, "it.yaml")
    assert said in str(refused.value)


def test_a_job_of_another_cloud_is_refused() -> None:
    with pytest.raises(WrongUse, match="PipelineJob"):
        package_of({"pipelineSpec": {"root": {}}, "runtimeConfig": {}})


@pytest.mark.parametrize(
    "text, seconds", [("30s", 30), ("1h30m", 5400), ("P0D", 0), ("P1DT2H", 93600), ("PT1H", 3600), (5, 5)]
)
def test_lengths_of_time(text: Any, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "P", "1x", "-3s"])
def test_what_is_no_length_of_time(text: str) -> None:
    with pytest.raises(WrongUse, match="no length of time"):
        duration(text)


def test_conditions_are_read_with_their_parentheses() -> None:
    when = condition("!(int(inputs.parameter_values['a']) == 2) && inputs.parameter_values['b'] != 'x'")

    assert [part.negated for part in when.every] == [True, False]
    assert when.every[1].right is not None and when.every[1].right.value == "x"


BOOTSTRAP = (
    "\nif x; then y\nfi\nPIP_DISABLE_PIP_VERSION_CHECK=1 {more}python3 -m pip install --quiet 'kfp==2.17.0' "
    '\'--no-deps\' \'typing-extensions>=3.7.4,<5; python_version<"3.9"\' && "$0" "$@"\n'
)


WRITER = (
    'program_path=$(mktemp -d)\n\nprintf "%s" "$0" > "$program_path/ephemeral_component.py"\n'
    "_KFP_RUNTIME=true python3 -m kfp.dsl.executor_main            --component_module_path            "
    '"$program_path/ephemeral_component.py"            "$@"\n'
)


def test_a_function_needs_no_shell_where_nothing_is_installed() -> None:
    run = ["sh", "-ec", WRITER, "source"]

    assert prepared("python:3.11", ["sh", "-c", BOOTSTRAP.format(more=""), *run]) == (
        "paddlecloud/kfp",
        ["python3", "-m", "functionstep", "source"],
    )
    assert (
        prepared("python:3.9", ["sh", "-c", BOOTSTRAP.format(more="python3 -m pip install 'six' && "), *run])[
            1
        ][3:]
        == run
    )


def test_a_function_finds_the_sdk_where_it_runs_and_installs_nothing() -> None:
    run = ["sh", "-ec", "run", "source"]

    assert prepared("python:3.11", ["sh", "-c", BOOTSTRAP.format(more=""), *run]) == ("paddlecloud/kfp", run)
    assert prepared("mine", ["sh", "-c", BOOTSTRAP.format(more=""), *run])[0] == "mine"
    image, command = prepared(
        "python:3.9", ["sh", "-c", BOOTSTRAP.format(more="python3 -m pip install 'six' && "), *run]
    )
    assert image == "paddlecloud/kfp" and "'six'" in command[2] and "kfp==" not in command[2]

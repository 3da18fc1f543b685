"""Unmodified clients of both generations of Kubeflow Pipelines, on a cluster that is up."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.pipelines.environment import HERE, command, run
from tests.pipelines.playing import PACKAGES
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.embedded.identity import known

pytestmark = pytest.mark.long
PROGRAMS = HERE / "programs"


def service(cluster: PdcHome) -> str:
    identity = known(cluster.home)
    assert identity is not None
    return identity.pipelines


def lines(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    assert done.returncode == 0, done.stdout + done.stderr
    said = (line.partition(" ")[::2] for line in done.stdout.splitlines() if "details:" not in line)
    return dict(said)


def test_the_client_of_the_second_generation(cluster: PdcHome, tmp_path: Path) -> None:
    said = lines(run(2, PROGRAMS / "second_client.py", service(cluster), str(PACKAGES), home=tmp_path))

    assert said == {
        "experiment": "True",
        "state": "SUCCEEDED",
        "tasks": "[('add', 'SUCCEEDED'), ('add-2', 'SUCCEEDED')]",
        "pipeline": "True",
        "versions": "['kept', 'two']",
        "version": "run SUCCEEDED",
        "runs": "['five', 'of a version']",
        "archived": "ARCHIVED",
        "unknown": "400 True",
        "failed": "FAILED True",
        "left": "[]",
    }


def test_the_client_of_the_first_generation(cluster: PdcHome, tmp_path: Path) -> None:
    said = lines(run(1, PROGRAMS / "first_client.py", service(cluster), str(PACKAGES), home=tmp_path))

    assert said == {
        "experiment": "True",
        "status": "Succeeded",
        "nodes": "[('add-numbers', 'Succeeded'), ('add-numbers-2', 'Succeeded')]",
        "versions": "['older', 'two']",
        "version": "run Succeeded",
        "runs": "['five', 'of a version']",
        "unknown": "400 True",
        "failed": "Failed True",
        "left": "[]",
    }


@pytest.mark.parametrize("generation", [1, 2])
def test_what_cannot_be_run_is_told_by_the_clients(cluster: PdcHome, generation: int, tmp_path: Path) -> None:
    before = cluster.ok("get", "wfr", "-n", "kubeflow", "-o", "name")
    done = run(generation, PROGRAMS / "mistakes.py", service(cluster), str(PACKAGES), home=tmp_path)
    said = lines(done)
    reads = "this service reads " + ("argoproj.io/v1alpha1" if generation == 1 else "2.1")
    words = {
        "circle": "steps wait for each other",
        "circle-upload": "steps wait for each other",
        "newer": reads,
        "newer-upload": reads,
        "malformed": "while parsing a flow node",  # the client reads it first
        "malformed-upload": "malformed.yaml is no YAML",
        "nothing-upload": "nothing.yaml holds no pipeline",
        "unknown": "has no parameter 'nobody'; it has a, b",
        "type": "is to be a whole number and is 'many'",
        "missing": "No such file or directory: 'missing.yaml'",
        "missing-upload": "No such file or directory: 'missing.yaml'",
    }

    assert [name for name, sentence in words.items() if sentence not in said[name]] == [], said
    assert cluster.ok("get", "wfr", "-n", "kubeflow", "-o", "name") == before


def test_recurring_runs_of_the_second_generation(cluster: PdcHome, tmp_path: Path) -> None:
    said = lines(run(2, PROGRAMS / "second_recurring.py", service(cluster), str(PACKAGES), home=tmp_path))

    assert said == {
        "made": "ENABLED * * * * * * 1",
        "ran": "True DISABLED",
        "of": "True",
        "version": "True",
        "listed": "[('often', 'ENABLED')]",
        "left": "[] True",
        "late": "3600 2090 DISABLED 3",
        "refused": "400 True",
    }


def test_recurring_runs_of_the_first_generation(cluster: PdcHome, tmp_path: Path) -> None:
    said = lines(run(1, PROGRAMS / "first_recurring.py", service(cluster), str(PACKAGES), home=tmp_path))

    assert said == {
        "made": "True 1 1",
        "ran": "True False",
        "creator": "True",
        "listed": "['often']",
        "left": "[] True",
        "late": "0 30 2 * * ? 2090 False",
        "refused": "400 True",
    }


def test_the_command_line_of_the_second_generation(cluster: PdcHome, tmp_path: Path) -> None:
    line = ["kfp", "--endpoint", service(cluster), "run", "create", "--experiment-name", "by hand"]
    done = command(2, [*line, "--package-file", str(PACKAGES / "second-volume.yaml"), "--watch"], tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCEEDED" in done.stdout


@pytest.mark.parametrize("generation, program", [(1, "first"), (2, "second")])
def test_the_packages_are_what_the_compilers_write(generation: int, program: str, tmp_path: Path) -> None:
    """But for the moment of compilation."""
    for file in sorted(PACKAGES.glob(f"{program}-*.yaml")):
        made = tmp_path / file.name
        name = file.stem.removeprefix(f"{program}-")
        done = run(generation, PROGRAMS / f"{program}.py", name, str(made), home=tmp_path)
        assert done.returncode == 0, done.stderr
        assert timeless(made) == timeless(file)


def timeless(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if "pipeline_compilation_time" not in line]

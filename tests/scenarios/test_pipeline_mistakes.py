"""What goes wrong with packages and runs, told where the user looks; on a cluster that is up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.waiting import until
from tests.pipelines.playing import PACKAGES
from tests.scenarios.pdc_home import PdcHome

pytestmark = pytest.mark.long
IMPORTS = str(PACKAGES / "second-imports.yaml")


def greeting(folder: Path, name: str, script: str, image: str = "busybox") -> str:
    file = folder / f"{name}.json"
    command = ["sh", "-c", script, "{{$.outputs.parameters['said'].output_file}}"]
    body = {
        "components": {
            "say": {
                "executorLabel": "say",
                "outputDefinitions": {"parameters": {"said": {"parameterType": "STRING"}}},
            }
        },
        "deploymentSpec": {"executors": {"say": {"container": {"image": image, "command": command}}}},
        "pipelineInfo": {"name": name},
        "root": {"dag": {"tasks": {"say": {"componentRef": {"name": "say"}}}}},
        "schemaVersion": "2.1.0",
    }
    file.write_text(json.dumps(body))
    return str(file)


def status(cluster: PdcHome, run: str) -> Any:
    return json.loads(cluster.ok("get", "wfr", run, "-n", "kubeflow", "-o", "json"))["status"]


def test_an_image_that_nobody_has_is_told_while_the_run_waits(cluster: PdcHome, tmp_path: Path) -> None:
    file = greeting(tmp_path, "no-image", "true", image="localhost:1/no/such:7")
    cluster.ok("pipeline", "run", file, "--name", "no-image", "-d")

    until(lambda: "no/such:7" in cluster.ok("pipeline", "show", "no-image"), what="a word about the image")
    [told] = status(cluster, "no-image")["conditions"]
    assert (told["status"], told["reason"]) == ("False", "StepCannotStart")
    cluster.ok("delete", "wfr", "no-image", "-n", "kubeflow")


@pytest.mark.parametrize(
    "name, script, sentence",
    [
        ("no-output", "true", "the step wrote no output said"),
        ("much", 'head -c 100000000 /dev/zero > "$0"', "output said has 100000000 bytes, more than"),
    ],
)
def test_a_step_that_did_not_do_its_part(
    cluster: PdcHome, tmp_path: Path, name: str, script: str, sentence: str
) -> None:
    done = cluster.pdc("pipeline", "run", greeting(tmp_path, name, script), "--name", name)

    assert done.code != 0 and sentence in done.text
    assert sentence in status(cluster, name)["nodes"]["say"]["message"]


def test_two_runs_with_one_name(cluster: PdcHome, tmp_path: Path) -> None:
    file = greeting(tmp_path, "twice", 'echo hello > "$0"')
    cluster.ok("pipeline", "run", file, "--name", "twice")
    done = cluster.pdc("pipeline", "run", file, "--name", "twice")

    assert done.code != 0 and "there is a run twice in namespace kubeflow already" in done.text


def test_what_is_imported_is_read_and_what_is_not_there_is_said(cluster: PdcHome, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("one two")
    place = (tmp_path / "words.txt").as_uri()
    cluster.ok("pipeline", "run", IMPORTS, "--name", "imported", "--set", f"place={place}")
    (tmp_path / "words.txt").unlink()
    done = cluster.pdc("pipeline", "run", IMPORTS, "--name", "gone", "--set", f"place={place}")

    assert status(cluster, "imported")["nodes"]["read"]["outputs"] == {"Output": "one two 7"}
    assert done.code != 0 and "words.txt, which the run imports, is not there" in done.text

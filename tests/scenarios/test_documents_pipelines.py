"""The pipelines of the documents, from data to a served model with live curves, with unmodified clients.

The bucket of the documents is a folder of drawn pages behind `mirrors.yaml`; the GPU is pretended.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kubernetes.waiting import until
from tests.pipelines.environment import run
from tests.scenarios.pdc_home import PdcHome, fresh_home
from tests.suites.kits import module

from paddlecloud.api.core import PersistentVolumeClaim
from paddlecloud.api.model import ModelVersion
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.api.paddleservice import PaddleService
from paddlecloud.api.workflowrun import WorkflowRun
from paddlecloud.embedded.identity import known
from paddlecloud.embedded.node.vdlrecords import scalars, whole_records
from paddlecloud.pipelines.components.serving import ready
from paddlecloud.sdk.waiting import wait_for

pytestmark = pytest.mark.long
EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "ppocr-detection"
HOST = "http://www.my-pipeline-ui.com:80"
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "data-source", "namespace": "kubeflow"},
    "stringData": {"access-key": "any", "secret-key": "any"},
}
BROWSER = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--virtual-time-budget=15000", "--dump-dom",
)  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PdcHome]:
    public = tmp_path_factory.mktemp("public")
    module("make_data").make("icdar2015", public / "icdar2015", 16, 4)
    with fresh_home() as made:
        made.home.make()
        made.home.mirrors.write_text(
            yaml.safe_dump({"bos://paddleflow-public.hkg.bcebos.com": public.as_uri()})
        )
        made.ok("up", "--detach", "--pretend-gpus", "1")
        made.apply(SECRET)
        yield made


@pytest.fixture(scope="module")
def notebook(home: PdcHome, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the components where the programs of the documents look for them."""
    folder = tmp_path_factory.mktemp("work")
    for place in ("operator/work/yaml", "components"):
        home.ok("pipeline", "components", str(folder / place))
    return folder / "operator" / "work"


@pytest.fixture(scope="module")
def first(home: PdcHome, notebook: Path) -> set[str]:
    """The steps of the first program, all done."""
    return done_by(home, notebook, "pipeline-demo.py", "paddle ocr detection demo")


def done_by(home: PdcHome, notebook: Path, program: str, name: str) -> set[str]:
    """Run a program of kfp 1.8, changed in nothing but the host; the steps of the run it makes, all done."""
    text = (EXAMPLES / program).read_text()
    assert text.count(HOST) == 1
    (notebook / program).write_text(text.replace(HOST, service(home)))
    done = run(1, notebook / program, home=notebook)
    assert done.returncode == 0, done.stderr
    with home.client() as client:
        [made] = [r for r in client.list(WorkflowRun, "kubeflow").items if r.spec.display_name == name]
        end = wait_for(client, WorkflowRun, made.key, lambda r: r.status.phase.final, 120).status
    assert end.phase == "Succeeded", {n: (s.phase, s.message) for n, s in end.nodes.items()}
    return set(end.nodes)


def service(home: PdcHome) -> str:
    identity = known(home.home)
    assert identity is not None
    return identity.pipelines


@contextlib.contextmanager
def forwarded(home: PdcHome, name: str) -> Iterator[str]:
    with home.running("port-forward", f"svc/{name}", "-n", "kubeflow", "0:8040") as way:
        way.until_said("Forwarding from ")
        found = re.search(r"Forwarding from (\S+) -> 8040", way.text())
        assert found
        yield f"http://{found[1]}"


def asked(server: str, what: str, **words: str) -> Any:
    url = f"{server}/app/api/{what}?{urllib.parse.urlencode(words)}"
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)["data"]


def written(home: PdcHome, job: str) -> dict[str, list[list[float]]]:
    """All numbers in the records of a job: time, step and value under their tags."""
    with home.client() as client:
        worker = client.get(PaddleJob, "kubeflow", job).spec.roles()["worker"]
        claims = (v.get("persistentVolumeClaim") for v in worker.template["spec"]["volumes"])
        name = next(claim["claimName"] for claim in claims if claim)
        volume = client.get(PersistentVolumeClaim, "kubeflow", name).spec["volumeName"]
    [file] = [p for p in home.home.root.rglob("vdlrecords.*.log") if volume in str(p)]
    data, found = file.read_bytes(), dict[str, list[list[float]]]()
    for begin, end in whole_records(data):
        for one in scalars(data[begin:end]):
            found.setdefault(one.tag, []).append([one.time, one.step, one.value])
    return found


def test_the_program_of_the_first_case_runs_to_its_end_unedited(home: PdcHome, first: set[str]) -> None:
    assert first == {"ppocr-detection-pvc", "dataset", "training", "modelhub", "serving"}
    with home.client() as client:
        served = client.get(PaddleService, "kubeflow", "ppocr-det")
    assert ready(served) and served.status.default and served.status.default.model_version == "ppocr-det-1"


def test_the_curves_of_a_training_are_served_as_they_were_written(home: PdcHome, first: set[str]) -> None:
    there = written(home, "ppocr-det")
    assert len(there["TRAIN/loss"]) >= 3 and there["EVAL/hmean"]
    with forwarded(home, "ppocr-det-visualdl") as server:
        [run] = asked(server, "runs")
        # As the page does: with this question VisualDL reads what is new.
        assert "scalar" in asked(server, "component_tabs")
        assert set(asked(server, "scalar/tags")["tags"][0]) == set(there)
        assert {tag: asked(server, "scalar/list", run=run, tag=tag) for tag in there} == there


def test_a_browser_shows_the_curves(home: PdcHome, first: set[str], tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("no Chromium is installed here")
    looks = itertools.count()

    def drawn() -> bool:
        # A busy machine may end the browser's time before the page is whole, or the browser itself.
        line = [browser, *BROWSER, f"--user-data-dir={tmp_path / str(next(looks))}", server]
        try:
            page = subprocess.run(line, capture_output=True, text=True, timeout=30).stdout
        except subprocess.TimeoutExpired:
            return False
        # The titles of the charts are drawn, those of the groups are text.
        return "TRAIN" in page and "EVAL" in page and page.count("<canvas") >= 3

    with forwarded(home, "ppocr-det-visualdl") as server:
        until(drawn, what="a page with its curves", limit=180)


def test_the_component_of_the_second_program_serves_curves_too(
    home: PdcHome, notebook: Path, first: set[str]
) -> None:
    assert "visualdl" in done_by(home, notebook, "visualdl-demo.py", "paddle ocr visualdl demo")
    losses = written(home, "ppocr")["TRAIN/loss"]
    with forwarded(home, "ppocr-visualdl") as server:
        assert asked(server, "scalar/list", run="vdl", tag="TRAIN/loss") == losses


def test_the_same_workflow_in_the_second_generation(home: PdcHome, notebook: Path, first: set[str]) -> None:
    done = run(2, EXAMPLES / "pipeline-demo-kfp2.py", service(home), home=notebook)
    assert "ended as SUCCEEDED" in done.stdout, done.stdout + done.stderr
    with home.client() as client:
        made = client.get(ModelVersion, "kubeflow", "ppocr-kfp2-1")
    assert made.spec.lineage.sample_set == "icdar2015" and "hmean" in made.spec.metrics

"""`pdc get`, `describe` and `why` of jobs, and the same from Python, on a running cluster."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from tests.scenarios.pdc_home import PdcHome

from paddlecloud import PaddleJob
from paddlecloud.errors import AlreadyExists, Failed, NotFound, TimedOut, WrongUse
from paddlecloud.sdk.client import Client

# Both workers run for a moment at the same time: else nobody could say that all of them did.
SCRIPT = """
import time
for step in range(1, 4):
    print(f"epoch 1/1 step {step}/3 loss {1 / step:.3f}", flush=True)
time.sleep(2)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("code") / "fit.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture(scope="module")
def done(cluster: PdcHome, script: Path) -> str:
    cluster.ok("train", str(script), "--name", "commands", "--image", "python", "--workers", "2", "--follow")
    return "commands"


@pytest.mark.parametrize("kind", ["job", "jobs", "pdj", "paddlejob", "paddlejobs"])
def test_a_job_is_called_by_many_names(cluster: PdcHome, done: str, kind: str) -> None:
    head, row = cluster.ok("get", kind, done).splitlines()

    assert head.split() == ["NAME", "STATUS", "MODE", "PS", "WORKER", "AGE"]
    assert row.split()[:3] == [done, "Completed", "Collective"]


def test_every_form_of_an_answer(cluster: PdcHome, done: str) -> None:
    assert cluster.ok("get", "jobs", done, "-o", "name") == f"paddlejob/{done}\n"
    body = json.loads(cluster.ok("get", f"job/{done}", "-o", "json"))
    assert body["status"]["progress"]["metrics"] == {"loss": 0.333, "epoch": 1}
    assert yaml.safe_load(cluster.ok("get", f"job/{done}", "-o", "yaml")) == body
    assert "NAME" in cluster.ok("get", "jobs", "-o", "wide")


def test_jobs_are_watched(cluster: PdcHome, done: str, script: Path, name: str) -> None:
    with cluster.running("get", "jobs", "-w") as watching:
        watching.until_said(done)
        made = cluster.ok("train", str(script), "--name", name, "--image", "python", "-o", "name")
        assert made == f"paddlejob/{name}\n"
        watching.until(lambda: re.search(rf"{name} +Completed", watching.text()) is not None, "its end")
        watching.interrupt()
        said = watching.ended()
    assert said.code == 130 and said.text.count("STATUS") == 1 and re.search(rf"{name} +Pending", said.text)
    assert cluster.pdc("get", "all", "-w").code == 2
    cluster.ok("delete", "job", name)


def test_a_job_is_described(cluster: PdcHome, done: str) -> None:
    text = cluster.ok("describe", f"job/{done}")

    assert "Progress:     epoch 1 of 1  3/3 steps  loss 0.3330" in text
    assert text.index("all pods are running") < text.index("the workers succeeded")
    assert cluster.ok("describe", "pdj", done) == text
    assert cluster.pdc("describe", "job/nobody").code == 1


def test_why_a_job_that_is_done_or_waits(cluster: PdcHome, done: str, script: Path, name: str) -> None:
    assert cluster.ok("why", f"job/{done}").splitlines()[0] == f"paddlejob/{done}: Completed"
    cluster.ok("train", str(script), "--name", name, "--image", "python", "--data", "nowhere")
    cluster.ok("wait", f"job/{name}", "--for", "Pending")
    assert "waits for SampleSet nowhere, which does not exist; create it" in cluster.ok("why", f"job/{name}")
    cluster.ok("delete", "job", name)


@pytest.fixture
def client(cluster: PdcHome) -> Client:
    return cluster.client()


def test_a_job_from_python(client: Client, script: Path, name: str) -> None:
    job = PaddleJob.from_script(script, "--lr", "0.1", name=name, workers=2, image="python")
    assert job.status.phase == "Pending"
    with pytest.raises(NotFound):
        job.refresh(client)
    job.submit()

    lines = list(job.logs(follow=True))
    assert lines.count("[worker-1] epoch 1/1 step 3/3 loss 0.333") == 1 and len(lines) == 6
    assert job.wait(timeout=60) is job and job.status.phase == "Completed"
    assert job.status.progress is not None and job.status.progress.done == 3
    assert list(job.logs(tail=1)) == [f"[worker-{n}] epoch 1/1 step 3/3 loss 0.333" for n in (0, 1)]
    with pytest.raises(AlreadyExists):
        PaddleJob.from_script(script, name=name).submit(client)
    job.delete()
    job.delete()
    with pytest.raises(NotFound):
        job.wait(timeout=60)


def test_a_job_from_a_file(client: Client, tmp_path: Path, name: str) -> None:
    container = {"name": "main", "image": "python", "command": ["sh", "-c", "echo sorry; sleep 1; exit 3"]}
    body = {
        "apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob", "metadata": {"name": name},
        "spec": {"worker": {"replicas": 1, "template": {"spec": {"containers": [container]}}}},
    }  # fmt: skip
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(body))
    job = PaddleJob.load(tmp_path / "job.yaml").submit(client)

    with pytest.raises(TimedOut):
        job.wait(timeout=0.01)
    with pytest.raises(Failed, match=f"pod {name}-worker-0 failed .exit code 3.; its last lines:\nsorry"):
        job.wait(timeout=120)
    assert job.status.phase == "Failed" and list(job.logs()) == ["sorry"]
    job.delete()


@pytest.mark.parametrize("text", ["a: [", "kind: Pod", "kind: PaddleJob\n---\nkind: Pod\n", ""])
def test_a_file_that_is_no_job_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "job.yaml").write_text(text)

    with pytest.raises(WrongUse, match=r"job\.yaml"):
        PaddleJob.load(tmp_path / "job.yaml")

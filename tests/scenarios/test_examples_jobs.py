"""The jobs of the requirement documents, as printed, on one cluster that pretends to have what they ask for.

They are handed in together and run side by side: each alone would wait for its own start.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.kubectl import Kubectl, own_program
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome, fresh_home

from paddlecloud.api.core import PersistentVolumeClaim, Pod
from paddlecloud.api.meta import Key
from paddlecloud.api.paddlejob import PaddleJob, Phase
from paddlecloud.cli.courses import suite_code
from paddlecloud.sdk.waiting import wait_for
from paddlecloud.settings import shipped

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS, EXAMPLES = ROOT / "deploy" / "examples", ROOT / "examples"
SYSTEM = "paddle-system"
LIMIT = 240.0
# Three of them have the same name: two go elsewhere, as their files name no namespace.
JOBS = {
    "wide_and_deep": (DOCUMENTS / "wide_and_deep.yaml", SYSTEM),
    "resnet": (DOCUMENTS / "resnet.yaml", SYSTEM),
    "wide_and_deep_service": (DOCUMENTS / "wide_and_deep_service.yaml", "default"),
    "wide_and_deep_podip": (DOCUMENTS / "wide_and_deep_podip.yaml", "default"),
    "wide_and_deep_volcano": (DOCUMENTS / "wide_and_deep_volcano.yaml", "kubeflow"),
    "paddlejob-demo-1": (EXAMPLES / "jobs" / "paddlejob-demo-1.yaml", SYSTEM),
    "wide-deep": (EXAMPLES / "wide-deep" / "wide-deep.yaml", SYSTEM),
    "ps-demo": (EXAMPLES / "jobs" / "ps-demo.yaml", SYSTEM),
    "ppocrv3": (EXAMPLES / "ppocrv3" / "ppocrv3.yaml", "paddlecloud"),
}
BUCKET = "bos://paddleflow-public.hkg.bcebos.com"


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PdcHome]:
    """A cluster that was given everything; what the documents take from elsewhere comes from here."""
    data = suite_code("wide-and-deep", "make_data").make(
        tmp_path_factory.mktemp("criteo") / "data", 4000, 500
    )
    public = tmp_path_factory.mktemp("public")
    suite_code("kits", "make_data").make("hiertext", public / "ppocr" / "hiertext", 96, 24)
    with fresh_home() as home:
        home.home.make()
        home.home.mirrors.write_text(yaml.safe_dump({BUCKET: public.as_uri()}))
        home.ok("up", "-d", "--pretend-gpus", "8", "--node-label", "accelerator=nvidia-tesla-p100")
        for name in ("criteo", "imagenet"):
            home.apply(sample_set(name, data))
        config = (EXAMPLES / "wide-deep" / "wide_deep_config.yaml").read_text()
        home.apply(config_map("wide-deep-config", {"wide_deep_config.yaml": config}))
        home.ok("apply", "-f", str(EXAMPLES / "ppocrv3" / "hiertext.yaml"))
        home.ok("apply", "-f", str(EXAMPLES / "wide-deep" / "local-model-center.yaml"))
        home.ok("apply", "-n", SYSTEM, "-f", str(EXAMPLES / "jobs" / "local-pvc.yaml"))
        shutil.copytree(
            shipped("suites") / "wide-and-deep" / "code", volume(home, "nfs-pvc") / "wide_and_deep"
        )
        for file, namespace in JOBS.values():
            home.ok("apply", "-n", namespace, "-f", str(file))
        yield home


@pytest.fixture
def kubectl(submitted: PdcHome, tmp_path: Path) -> Kubectl:
    program = own_program().path
    if program is None:
        pytest.skip("kubectl is not built: make test-kubernetes builds it")
    return Kubectl(program, submitted.home.kubeconfig, SYSTEM, tmp_path)


def sample_set(name: str, folder: Path) -> dict[str, object]:
    return {
        "apiVersion": "batch.paddlepaddle.org/v1alpha1",
        "kind": "SampleSet",
        "metadata": {"name": name, "namespace": SYSTEM},
        "spec": {"partitions": 1, "source": {"uri": folder.as_uri()}},
    }


def config_map(name: str, data: dict[str, str]) -> dict[str, object]:
    metadata = {"name": name, "namespace": SYSTEM}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def volume(home: PdcHome, claim: str) -> Path:
    """The folder behind a claim."""

    def bound() -> str:
        with home.client() as client:
            return str(client.get(PersistentVolumeClaim, SYSTEM, claim).spec.get("volumeName") or "")

    return home.home.root / "volumes" / until(bound, what=f"the volume of {claim}")


def key(example: str) -> Key:
    file, namespace = JOBS[example]
    job = next(body for body in yaml.safe_load_all(file.read_text()) if body["kind"] == "PaddleJob")
    return Key(namespace, str(job["metadata"]["name"]))


def ended(home: PdcHome, example: str) -> PaddleJob:
    """The job when it is over; a watch waits for it: the machine has better to do than to answer."""
    with home.client() as client:
        return wait_for(client, PaddleJob, key(example), lambda job: job.status.phase.final, LIMIT)


@pytest.mark.parametrize(
    "example, row",
    [
        # As the documents print them.
        ("wide_and_deep", r"wide-ande-deep +Completed +PS +2/2 +0/2 "),
        ("resnet", r"resnet +Completed +Collective +0/2 "),
        ("wide_and_deep_service", r"wide-ande-deep +Completed +PS +2/2 +0/2 "),
        ("wide_and_deep_podip", r"wide-ande-deep-podip +Completed +PS +2/2 +0/2 "),
        ("wide_and_deep_volcano", r"wide-ande-deep +Completed +PS +2/2 +0/2 "),
        ("paddlejob-demo-1", r"paddlejob-demo-1 +Completed +PS +2/2 +0/2 "),
        ("wide-deep", r"wide-deep +Completed +Collective +0/1 "),
        ("ppocrv3", r"ppocrv3 +Completed +Single +0/1 "),
    ],
)
def test_a_job_of_the_documents_ends_well(submitted: PdcHome, example: str, row: str) -> None:
    job = ended(submitted, example)

    assert job.status.phase is Phase.COMPLETED, [c.message for c in job.status.conditions]
    assert re.search(rf"^{row}", submitted.ok("get", "pdj", "-n", job.namespace), re.MULTILINE)


@pytest.mark.parametrize(
    "example, metric, least",
    [
        ("wide_and_deep", "auc", 0.85),
        ("resnet", "accuracy", 0.6),
        ("paddlejob-demo-1", "auc", 0.85),
        ("ppocrv3", "hmean", 0.6),
    ],
)
def test_it_learnt_something(submitted: PdcHome, example: str, metric: str, least: float) -> None:
    progress = ended(submitted, example).status.progress

    assert progress and progress.done == progress.total > 0
    assert progress.metrics[metric] >= least


def test_policies_keep_or_clean_the_pods(submitted: PdcHome) -> None:
    """`Never` leaves servers running, which is the 2/2 of the documents; `OnCompletion` cleans."""

    def pods(example: str) -> dict[str, str]:
        ended(submitted, example)
        with submitted.client() as client:
            there = client.list(Pod, key(example).namespace).items
        return {p.name: p.phase for p in there if p.name.startswith(f"{key(example).name}-")}

    assert set(pods("wide_and_deep").values()) == {"Running", "Succeeded"}
    until(lambda: not pods("wide_and_deep_podip"), what="the pods of the job to go", limit=60)


def test_the_recommender_keeps_a_model_an_epoch_and_exports_the_last(submitted: PdcHome) -> None:
    ended(submitted, "wide-deep")
    kept = volume(submitted, "model-center")

    assert {"0", "1", "2", "3", "wide-deep", "log"} <= {path.name for path in kept.iterdir()}
    assert {"rec_inference.pdmodel", "rec_inference.pdiparams"} <= {p.name for p in (kept / "3").iterdir()}


def test_a_job_that_only_serves_its_data_runs_on(submitted: PdcHome) -> None:
    with submitted.client() as client:
        wait_for(client, PaddleJob, key("ps-demo"), lambda job: job.status.phase is Phase.RUNNING, LIMIT)
    seen = submitted.ok("exec", "-n", SYSTEM, "ps-demo-worker-0", "--", "ls", "/mnt/imagenet")
    assert "slot_train_data_full" in seen.split()


def test_kubectl_prints_what_the_documents_print(submitted: PdcHome, kubectl: Kubectl) -> None:
    ended(submitted, "wide_and_deep")
    kubectl("wait", "--for=condition=Completed", "pdj/wide-ande-deep", "--timeout=10s")
    header, *rows = kubectl("get", "pdj", "wide-ande-deep").splitlines()

    assert header.split() == ["NAME", "STATUS", "MODE", "PS", "WORKER", "AGE"]
    assert [row.split()[:5] for row in rows] == [["wide-ande-deep", "Completed", "PS", "2/2", "0/2"]]


@pytest.mark.parametrize(
    "file, told",
    [
        ("resnet.yaml", ["asks for a GPU, which no node has to give", "pdc up --pretend-gpus 2"]),
        ("wide_and_deep_service.yaml", ["a node with accelerator=nvidia-tesla-p100", "pdc up --node-label"]),
    ],
)
def test_what_a_plain_cluster_lacks_is_said_with_the_ways_out(
    cluster: PdcHome, file: str, told: list[str]
) -> None:
    cluster.ok("apply", "-f", str(DOCUMENTS / file))
    name = yaml.safe_load((DOCUMENTS / file).read_text())["metadata"]["name"]
    try:
        until(lambda: told[0] in cluster.ok("why", f"job/{name}"), what="the shortage to be told")
        said = cluster.ok("why", f"job/{name}")
        assert all(part in said for part in told), said
    finally:
        cluster.ok("delete", "job", name)


def test_the_file_a_document_calls_by_another_name_is_the_same() -> None:
    first, second = EXAMPLES / "jobs" / "demo-wide-and-deep.yaml", DOCUMENTS / "wide_and_deep.yaml"
    assert first.read_bytes() == second.read_bytes()

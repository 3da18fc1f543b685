"""What a person types: the real kubectl on our kinds and on pods."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.contracts.objects import config_map, jobs, paddle_job, pod, worker
from tests.kubectl import Kubectl, Program
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.kubectl
DEPLOY = Path(__file__).parent.parent.parent / "deploy"


def test_the_client_and_the_server_tell_their_versions(kubectl: Kubectl, kubectl_program: Program) -> None:
    versions = kubectl.json("version")
    assert versions["clientVersion"]["gitVersion"] == kubectl_program.version
    assert versions["serverVersion"]["minor"] == "33"


def test_create_get_and_delete_a_job(kubectl: Kubectl) -> None:
    assert (
        kubectl("create", "-f", "-", stdin=paddle_job()) == "paddlejob.batch.paddlepaddle.org/train created\n"
    )
    header, row = kubectl("get", "paddlejobs").splitlines()
    assert header.split() == ["NAME", "STATUS", "MODE", "PS", "WORKER", "AGE"]
    assert row.split()[0] == "train"
    assert kubectl("delete", "pdj", "train").startswith('paddlejob.batch.paddlepaddle.org "train" deleted')
    assert "No resources found" in kubectl.run("get", "pdj").stderr


def test_apply_creates_changes_and_leaves_alone(kubectl: Kubectl) -> None:
    name = "paddlejob.batch.paddlepaddle.org/train"
    first, second = (paddle_job(worker=worker(n), elastic=1) for n in (1, 3))
    assert kubectl("apply", "-f", "-", stdin=first) == f"{name} created\n"
    assert kubectl("apply", "-f", "-", stdin=first) == f"{name} unchanged\n"
    assert kubectl("apply", "-f", "-", stdin=second) == f"{name} configured\n"
    assert kubectl.json("get", "pdj", "train")["spec"]["worker"]["replicas"] == 3


def test_apply_takes_away_what_is_no_longer_written(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=paddle_job(worker=worker(), cleanPodPolicy="Never"))
    kubectl("apply", "-f", "-", stdin=paddle_job(worker=worker()))
    assert "cleanPodPolicy" not in kubectl.json("get", "pdj", "train")["spec"]


def test_a_file_of_several_objects(kubectl: Kubectl) -> None:
    text = yaml.safe_dump_all([config_map(), paddle_job(), pod()])
    assert kubectl("create", "-f", "-", stdin=text).splitlines() == [
        "configmap/settings created",
        "paddlejob.batch.paddlepaddle.org/train created",
        "pod/sleeper created",
    ]


def test_describe_shows_a_job(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=paddle_job())
    text = kubectl("describe", "pdj", "train")
    assert "Name:         train" in text
    assert "Kind:         PaddleJob" in text
    assert "Replicas:  2" in text
    assert "Events:" in text


def test_a_misspelt_field_is_refused_by_name(kubectl: Kubectl) -> None:
    done = kubectl.run("create", "-f", "-", stdin=paddle_job(worker=worker(), cleanPodPolicies="Never"))
    assert done.returncode == 1
    assert 'unknown field "spec.cleanPodPolicies"' in done.stderr


def test_a_bad_value_is_refused_in_words(kubectl: Kubectl) -> None:
    done = kubectl.run("create", "-f", "-", stdin=paddle_job(worker=worker(-1)))
    assert done.returncode == 1
    assert "spec.worker.replicas in body should be greater than or equal to 0" in done.stderr


def test_wait_for_a_phase(kubectl: Kubectl, rest: Rest) -> None:
    kubectl("create", "-f", "-", stdin=paddle_job())
    path = jobs(kubectl.namespace, "train/status")
    rest.merge(path, {"status": {"phase": "Completed"}}).expect(200)
    text = kubectl("wait", "pdj/train", "--for=jsonpath={.status.phase}=Completed", "--timeout=10s")
    assert text == "paddlejob.batch.paddlepaddle.org/train condition met\n"


def test_wait_for_a_deletion_that_has_happened(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=paddle_job())
    kubectl("delete", "pdj", "train", "--wait=true")
    kubectl("wait", "pdj/train", "--for=delete", "--timeout=10s")


def test_pods_are_shown_described_and_deleted(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=pod())
    header, row = kubectl("get", "pods").splitlines()
    assert header.split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert row.split()[:4] == ["sleeper", "0/1", "Pending", "0"]
    assert "Status:           Pending" in kubectl("describe", "pod", "sleeper")
    assert kubectl("delete", "pod", "sleeper").startswith('pod "sleeper" deleted')


def test_a_missing_pod_is_told_as_ever(kubectl: Kubectl) -> None:
    done = kubectl.run("get", "pod", "x")
    assert (done.returncode, done.stderr) == (1, 'Error from server (NotFound): pods "x" not found\n')
    assert kubectl("get", "pod", "x", "--ignore-not-found") == ""


def test_explain_knows_our_fields(kubectl: Kubectl) -> None:
    text = kubectl("explain", "paddlejob.spec.cleanPodPolicy")
    assert "KIND:       PaddleJob" in text
    assert "Which pods are removed when the job ends" in text


def test_api_resources_lists_our_kinds(kubectl: Kubectl) -> None:
    lines = kubectl("api-resources", "--api-group=batch.paddlepaddle.org", "--no-headers").splitlines()
    assert [line.split() for line in lines] == [
        ["paddlejobs", "pdj", "batch.paddlepaddle.org/v1", "true", "PaddleJob"],
        ["samplejobs", "batch.paddlepaddle.org/v1alpha1", "true", "SampleJob"],
        ["samplesets", "batch.paddlepaddle.org/v1alpha1", "true", "SampleSet"],
    ]


def test_labels_and_patches(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=paddle_job())
    kubectl("label", "pdj", "train", "team=vision")
    assert kubectl("get", "pdj", "-l", "team=vision", "-o", "name").strip() == (
        "paddlejob.batch.paddlepaddle.org/train"
    )
    said = kubectl("patch", "pdj", "train", "--type=merge", "-p", '{"metadata":{"labels":{"team":"vision"}}}')
    assert said == "paddlejob.batch.paddlepaddle.org/train patched (no change)\n"


def test_what_installs_the_controllers_is_taken(kubectl: Kubectl) -> None:
    place = ("-n", "paddle-system")
    files = ("-f", str(DEPLOY / "v1" / "crd.yaml"), "-f", str(DEPLOY / "v1" / "operator.yaml"))
    made = kubectl("apply", "--server-side", "--force-conflicts", *place, *files).splitlines()
    try:
        assert made[-1] == "deployment.apps/paddle-controller-manager serverside-applied"
        kinds = "customresourcedefinition.apiextensions.k8s.io/paddlejobs.batch.paddlepaddle.org"
        assert f"{kinds} serverside-applied" in made
    finally:
        kubectl("delete", "deployment", "paddle-controller-manager", *place)

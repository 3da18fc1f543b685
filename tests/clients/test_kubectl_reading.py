"""kubectl that reads: selections, orders, pages, columns, watches, and what the server says of itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests.contracts.objects import config_map, paddle_job, pod
from tests.kubectl import Kubectl
from tests.kubernetes.processes import running
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

pytestmark = pytest.mark.kubectl


@pytest.fixture
def pods(kubectl: Kubectl) -> Kubectl:
    made = [pod("b", {"app": "x", "at": "2"}), pod("a", {"app": "x", "at": "3"}), pod("c", {"app": "z"})]
    kubectl("create", "-f", "-", stdin=yaml.safe_dump_all(made))
    return kubectl


@pytest.mark.parametrize(
    "words, names",
    [
        ((), "a b c"),
        (("-l", "app=x"), "a b"),
        (("-l", "app in (x,z),at!=2"), "a c"),
        (("-l", "app notin (x)"), "c"),
        (("-l", "!at"), "c"),
        (("--selector", "at"), "a b"),
        (("--field-selector=metadata.name=a",), "a"),
        (("--field-selector=metadata.name!=a,status.phase=Pending",), "b c"),
        (("--field-selector=spec.nodeName=nowhere",), ""),
        (("-l", "app=x", "--field-selector=metadata.name!=a"), "b"),
        (("--chunk-size=1",), "a b c"),
        (("--chunk-size=2", "-l", "app=x"), "a b"),
    ],
)
def test_a_selection(pods: Kubectl, words: tuple[str, ...], names: str) -> None:
    found = pods("get", "pods", "-o", "name", *words).splitlines()
    assert [line.removeprefix("pod/") for line in found] == names.split()


@pytest.mark.parametrize(
    "by, names",
    [(".metadata.name", "a b c"), ("{.metadata.labels.at}", "c b a"), (".spec.containers[0].image", "a b c")],
)
def test_an_order(pods: Kubectl, by: str, names: str) -> None:
    rows = pods("get", "pods", "--no-headers", f"--sort-by={by}").splitlines()
    assert [row.split()[0] for row in rows] == names.split()


def test_labels_as_columns(pods: Kubectl) -> None:
    header, *rows = pods("get", "pods", "-L", "app,at").splitlines()
    assert header.split()[-2:] == ["APP", "AT"]
    assert [row.split()[-2:] for row in rows[:2]] == [["x", "3"], ["x", "2"]]
    assert pods("get", "pods", "c", "--show-labels").splitlines()[1].split()[-1] == "app=z"


def test_all_namespaces_are_a_column(pods: Kubectl) -> None:
    where = f"--field-selector=metadata.namespace={pods.namespace}"
    header, *rows = pods("get", "pods", "-A", where).splitlines()
    assert header.split()[:2] == ["NAMESPACE", "NAME"]
    assert [row.split()[:2] for row in rows] == [[pods.namespace, name] for name in "abc"]


def test_get_all_shows_ours_too(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=yaml.safe_dump_all([paddle_job(), pod(), config_map()]))
    found = kubectl("get", "all", "-o", "name").splitlines()
    assert {"pod/sleeper", "paddlejob.batch.paddlepaddle.org/train"} <= set(found)
    assert "configmap/settings" not in found


def test_several_kinds_and_names_at_once(pods: Kubectl) -> None:
    pods("create", "-f", "-", stdin=config_map(k="v"))
    said = pods("get", "pod/a", "cm/settings", "-o", "name").split()
    assert said == ["pod/a", "configmap/settings"]
    done = pods.run("get", "pods", "a", "nope", "-o", "name")
    assert (done.returncode, done.stdout) == (1, "pod/a\n")
    assert done.stderr == 'Error from server (NotFound): pods "nope" not found\n'


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("get", "nothings"), 'error: the server doesn\'t have a resource type "nothings"\n'),
        (("get", "pods", "--field-selector=spec.nope=1"), "field label not supported: spec.nope"),
        (("explain", "pod.spec.nope"), 'error: field "nope" does not exist\n'),
        (("get", "pdj", "x", "--subresource=scale"), '(NotFound): paddlejobs.batch.paddlepaddle.org "x" not'),
    ],
)
def test_a_question_without_an_answer(kubectl: Kubectl, words: tuple[str, ...], sentence: str) -> None:
    done = kubectl.run(*words)
    assert done.returncode == 1 and sentence in done.stderr, done.stderr


def test_a_watch_shows_what_comes_and_goes(kubectl: Kubectl, rest: Rest, tmp_path: Path) -> None:
    words = [f"--kubeconfig={kubectl.kubeconfig}", f"--namespace={kubectl.namespace}", "get", "cm", "-w"]
    form = "-o=custom-columns=T:.type,N:.object.metadata.name,V:.object.data.k"
    words += ["--watch-only", "--output-watch-events", "-l", "seen=yes", "--no-headers", form]
    path = f"/api/v1/namespaces/{kubectl.namespace}/configmaps"
    with running(kubectl.program, words, tmp_path / "watch", kubectl.environment()) as process:

        def said() -> list[list[str]]:
            process.check()
            return [line.split() for line in process.log.read_text().splitlines()]

        # Nothing tells when a watch has begun but its first event.
        def begun() -> bool:
            rest.post(path, config_map("first", {"seen": "yes"}))
            rest.delete(f"{path}/first")
            return bool(said())

        until(begun, what="the first event")
        rest.post(path, config_map("x", {"seen": "yes"}, k="1")).expect(201)
        rest.merge(f"{path}/x", {"data": {"k": "2"}}).expect(200)
        rest.delete(f"{path}/x").expect(200)
        wanted = [["ADDED", "x", "1"], ["MODIFIED", "x", "2"], ["DELETED", "x", "2"]]
        until(lambda: [e for e in said() if e[1:2] == ["x"]] == wanted, what="what happened to x")


def test_scale_and_status_are_shown_for_themselves(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=example/web", "--replicas=0")
    header, row = kubectl("get", "deployment", "web", "--subresource=scale").splitlines()
    assert header.split() == ["NAME", "DESIRED", "AVAILABLE", "AGE"]
    assert row.split()[:3] == ["web", "0", "0"]
    shown = json.loads(kubectl("get", "deployment", "web", "--subresource=scale", "-o", "json"))
    assert (shown["kind"], shown["status"]["selector"]) == ("Scale", "app=web")
    assert kubectl("get", "deployment", "web", "--subresource=status", "-o", "name").endswith("/web\n")


def test_the_server_says_what_it_serves(kubectl: Kubectl) -> None:
    versions = kubectl("api-versions").split()
    assert {"v1", "apps/v1", "batch/v1", "batch.paddlepaddle.org/v1", "serving.paddlepaddle.org/v1"} <= set(
        versions
    )
    wide = kubectl("api-resources", "--namespaced=true", "--verbs=list,watch", "-o", "wide").splitlines()
    assert wide[0].split()[-2:] == ["VERBS", "CATEGORIES"]
    names = kubectl("api-resources", "--categories=paddle", "-o", "name").split()
    assert {"paddlejobs.batch.paddlepaddle.org", "paddleservices.serving.paddlepaddle.org"} <= set(names)
    assert "pods" not in names
    assert kubectl("cluster-info").count("is running at") >= 1
    assert kubectl("get", "--raw", "/readyz") == "ok"


@pytest.mark.parametrize(
    "path, words",
    [
        ("pdj.spec", ["cleanPodPolicy", "worker"]),
        ("hpa.spec.metrics", ["FIELD: metrics <[]MetricSpec>", "containerResource"]),
        ("crd.spec.versions.schema.openAPIV3Schema", ["x-kubernetes-validations", "properties"]),
        ("cronjob.spec.jobTemplate.spec.template.spec.volumes.configMap", ["defaultMode", "items"]),
    ],
)
def test_explain(kubectl: Kubectl, path: str, words: list[str]) -> None:
    text = kubectl("explain", path)
    assert all(word in text for word in words), text


def test_names_are_completed(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=paddle_job())
    assert kubectl("__complete", "get", "pdj", "").splitlines()[0] == "train"

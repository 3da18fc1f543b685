"""kubectl that makes objects from words: `create`, `run`, `expose`, `autoscale`, `scale`, `set`."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.definitions import definition, served, version
from tests.contracts.objects import config_map, paddle_job, sample_set
from tests.kubectl import Kubectl
from tests.kubernetes import certificates
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.kubectl


def spec_of(kubectl: Kubectl, *what: str) -> dict[str, Any]:
    spec: dict[str, Any] = kubectl.json("get", *what)["spec"]
    return spec


@pytest.fixture
def web(kubectl: Kubectl) -> Kubectl:
    kubectl("create", "deployment", "web", "--image=example/web:1", "--replicas=0", "--port=80")
    return kubectl


def test_a_config_map_of_a_file_of_variables(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "env").write_text("A=1\n# not this\nB=two words\n")
    kubectl("create", "configmap", "x", f"--from-env-file={tmp_path / 'env'}")
    assert kubectl.json("get", "cm", "x")["data"] == {"A": "1", "B": "two words"}


def test_a_config_map_of_a_folder(kubectl: Kubectl, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "train.py").write_text("print(1)\n")
    (folder / "more.py").write_text("print(2)\n")
    kubectl("create", "configmap", "x", f"--from-file={folder}")
    assert kubectl.json("get", "cm", "x")["data"] == {"train.py": "print(1)\n", "more.py": "print(2)\n"}
    kubectl("create", "configmap", "y", f"--from-file=main={folder / 'train.py'}")
    assert kubectl.json("get", "cm", "y")["data"] == {"main": "print(1)\n"}


def test_a_secret_for_a_registry(kubectl: Kubectl) -> None:
    words = ("--docker-server=registry.example.org", "--docker-username=u", "--docker-password=p")
    kubectl("create", "secret", "docker-registry", "x", *words)
    made = kubectl.json("get", "secret", "x")
    assert made["type"] == "kubernetes.io/dockerconfigjson"
    content = json.loads(base64.b64decode(made["data"][".dockerconfigjson"]))
    assert content["auths"]["registry.example.org"]["auth"] == base64.b64encode(b"u:p").decode()


def test_a_secret_for_tls(kubectl: Kubectl, tmp_path: Path) -> None:
    made = certificates.make(tmp_path / "pki", datetime.now(UTC))
    kubectl("create", "secret", "tls", "x", f"--cert={made.server}", f"--key={made.server_key}")
    found = kubectl.json("get", "secret", "x")
    assert (found["type"], sorted(found["data"])) == ("kubernetes.io/tls", ["tls.crt", "tls.key"])
    assert base64.b64decode(found["data"]["tls.crt"]) == made.server.read_bytes()
    assert kubectl("get", "secret", "x").splitlines()[1].split()[:3] == ["x", "kubernetes.io/tls", "2"]


@pytest.mark.parametrize(
    "words, wanted",
    [
        (("nodeport", "x", "--tcp=80:8080", "--node-port=30731"), {"type": "NodePort"}),
        (("externalname", "x", "--external-name=example.org"), {"externalName": "example.org"}),
        (("loadbalancer", "x", "--tcp=80"), {"type": "LoadBalancer", "selector": {"app": "x"}}),
        (("clusterip", "x", "--clusterip=None"), {"clusterIP": "None"}),
    ],
)
def test_a_service(kubectl: Kubectl, words: tuple[str, ...], wanted: dict[str, Any]) -> None:
    assert kubectl("create", "service", *words) == "service/x created\n"
    spec = spec_of(kubectl, "service", "x")
    assert wanted.items() <= spec.items()


@pytest.mark.parametrize(
    "words, rules",
    [
        (
            ("--verb=get,list", "--resource=pods,paddlejobs"),
            [
                {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
                {
                    "apiGroups": ["batch.paddlepaddle.org"],
                    "resources": ["paddlejobs"],
                    "verbs": ["get", "list"],
                },
            ],
        ),
        (("--verb=get", "--non-resource-url=/x"), [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]),
    ],
)
def test_a_cluster_role(kubectl: Kubectl, words: tuple[str, ...], rules: list[dict[str, Any]]) -> None:
    name = kubectl.namespace
    kubectl("create", "clusterrole", name, *words)
    try:
        assert kubectl.json("get", "clusterrole", name)["rules"] == rules
        assert name in kubectl("describe", "clusterrole", name)
    finally:
        kubectl("delete", "clusterrole", name)


def test_a_role_for_what_is_not_served_is_refused(kubectl: Kubectl) -> None:
    done = kubectl.run("create", "role", "x", "--verb=get", "--resource=nothings")
    assert done.returncode == 1
    assert 'the server doesn\'t have a resource type "nothings"' in done.stderr


@pytest.mark.parametrize("way", ["client", "server"])
def test_run_without_running(kubectl: Kubectl, way: str) -> None:
    words = ("run", "x", "--image=example/image", "--env=A=B", "--port=80", f"--dry-run={way}")
    body = kubectl.json(*words)
    assert body["spec"]["containers"][0]["env"] == [{"name": "A", "value": "B"}]
    # Only the server knows what is left out.
    assert ("schedulerName" in body["spec"]) == (way == "server")
    assert kubectl.run("get", "pod", "x").returncode == 1


def test_nothing_of_a_dry_run_stays(web: Kubectl) -> None:
    said = web("create", "cm", "x", "--dry-run=server")
    assert said == "configmap/x created (server dry run)\n"
    assert web("delete", "deployment", "web", "--dry-run=server").endswith("(server dry run)\n")
    assert web("scale", "deployment", "web", "--replicas=9", "--dry-run=server").startswith("deployment.apps")
    assert web("label", "deployment", "web", "a=b", "--dry-run=server").startswith("deployment.apps/web")
    made = web.json("get", "deployment", "web")
    assert made["spec"]["replicas"] == 0 and "a" not in made["metadata"]["labels"]
    assert web.run("get", "cm", "x").returncode == 1


def test_expose_makes_a_service(web: Kubectl) -> None:
    assert web("expose", "deployment", "web", "--target-port=8080") == "service/web exposed\n"
    spec = spec_of(web, "service", "web")
    assert spec["selector"] == {"app": "web"}
    assert spec["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 8080}]
    assert "TargetPort:" in web("describe", "service", "web")


def test_autoscale_makes_an_autoscaler(web: Kubectl) -> None:
    web("autoscale", "deployment", "web", "--min=1", "--max=3")
    spec = spec_of(web, "hpa", "web")
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 3)
    assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def test_set_changes_the_template(web: Kubectl) -> None:
    web("create", "cm", "settings", "--from-literal=LEVEL=debug")
    assert web("set", "image", "deployment/web", "web=example/web:2").endswith("image updated\n")
    assert web("set", "env", "deployment/web", "A=B").endswith("env updated\n")
    assert web("set", "env", "deployment/web", "--from=configmap/settings").endswith("env updated\n")
    assert "A=B" in web("set", "env", "deployment/web", "--list")
    web("set", "resources", "deployment", "web", "--limits=cpu=200m,memory=512Mi")
    web("set", "serviceaccount", "deployment", "web", "default")
    pod = spec_of(web, "deployment", "web")["template"]["spec"]
    [container] = pod["containers"]
    assert container["image"] == "example/web:2"
    assert container["resources"] == {"limits": {"cpu": "200m", "memory": "512Mi"}}
    assert [e["name"] for e in container["env"]] == ["A", "LEVEL"]
    assert pod["serviceAccountName"] == "default"
    done = web.run("set", "image", "deployment/web", "nope=example/web:3")
    assert (done.returncode, 'unable to find container named "nope"' in done.stderr) == (1, True)


def test_a_list_in_a_file_is_all_of_its_objects(kubectl: Kubectl) -> None:
    items = [config_map("a"), paddle_job("b")]
    body = {"apiVersion": "v1", "kind": "List", "items": items}
    assert kubectl("create", "-f", "-", stdin=body).splitlines() == [
        "configmap/a created",
        "paddlejob.batch.paddlepaddle.org/b created",
    ]


@pytest.mark.parametrize(
    "api_version, kind", [("volcano.sh/v1beta1", "PodGroup"), ("v1", "Nope"), ("v9", "ConfigMap")]
)
def test_a_kind_nobody_serves_is_told_as_such(kubectl: Kubectl, api_version: str, kind: str) -> None:
    body = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}
    done = kubectl.run("create", "-f", "-", stdin=body)
    assert done.returncode == 1
    assert f'no matches for kind "{kind}" in version "{api_version}"' in done.stderr, done.stderr


def test_a_custom_kind_is_scaled_and_autoscaled(kubectl: Kubectl, rest: Rest) -> None:
    numbers = {"type": "object", "properties": {"replicas": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": numbers, "status": numbers}}
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    body = definition(version(schema, subresources={"status": {}, "scale": paths}))
    with served(rest, kubectl.namespace, body) as widgets:
        widgets.create(replicas=1).expect(201)
        name = f"widgets.{widgets.group}"
        assert kubectl("scale", name, "x", "--replicas=3").endswith("/x scaled\n")
        done = kubectl.run("scale", name, "x", "--replicas=5", "--current-replicas=9")
        assert (done.returncode, "Expected replicas to be 9, was 3" in done.stderr) == (1, True)
        assert spec_of(kubectl, name, "x") == {"replicas": 3}
        patch = ("--type=merge", "-p", '{"status":{"replicas":2}}')
        kubectl("patch", name, "x", "--subresource=status", *patch)
        rows = kubectl("get", name, "x", "--subresource=scale").splitlines()
        assert rows[1].split()[:3] == ["x", "3", "2"]
        kubectl("autoscale", name, "x", "--max=4")
        assert spec_of(kubectl, "hpa", "x")["scaleTargetRef"]["kind"] == "Widget"


def test_a_stateful_set_is_scaled(kubectl: Kubectl) -> None:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"schedulerName": "nobody", "containers": [
        {"name": "main", "image": "example/image"}]}}  # fmt: skip
    spec = {
        "replicas": 0,
        "serviceName": "x",
        "selector": {"matchLabels": {"app": "x"}},
        "template": template,
    }
    body = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "x"}, "spec": spec}
    kubectl("create", "-f", "-", stdin=body)
    assert kubectl("scale", "sts/x", "--replicas=2") == "statefulset.apps/x scaled\n"
    assert spec_of(kubectl, "sts", "x")["replicas"] == 2


def test_what_has_no_scale_is_not_scaled(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=sample_set())
    done = kubectl.run("scale", "samplesets", "digits", "--replicas=3")
    assert done.returncode == 1
    assert 'samplesets.batch.paddlepaddle.org "digits" not found' in done.stderr

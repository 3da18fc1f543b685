"""What a person types about built-in kinds: kubectl's subcommands send protobuf, its files JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.contracts.built_ins import MANIFESTS, SELECTOR, containers, template
from tests.kubectl import Kubectl

pytestmark = pytest.mark.kubectl


def spec_of(kubectl: Kubectl, *what: str) -> dict[str, Any]:
    spec: dict[str, Any] = kubectl.json("get", *what)["spec"]
    return spec


def manifest(kind: str, api_version: str, **body: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **body}


def deployment(**spec: Any) -> dict[str, Any]:
    return manifest("Deployment", "apps/v1", spec={"selector": SELECTOR, "template": template(), **spec})


def test_create_a_config_map_from_words_and_files(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("one\ntwo\n")
    (tmp_path / "bytes").write_bytes(b"\xff\x00\xfe")
    said = kubectl(
        "create", "configmap", "x", "--from-literal=a=1",
        f"--from-file={tmp_path / 'text'}", f"--from-file={tmp_path / 'bytes'}",
    )  # fmt: skip
    assert said == "configmap/x created\n"
    made = kubectl.json("get", "configmap", "x")
    assert (made["data"], made["binaryData"]) == ({"a": "1", "text": "one\ntwo\n"}, {"bytes": "/wD+"})


@pytest.mark.parametrize(
    "words, kind, data",
    [
        (("generic", "x", "--from-literal=a=1"), "Opaque", {"a": "MQ=="}),
        (("generic", "x", "--type=example.org/y", "--from-literal=a="), "example.org/y", {"a": ""}),
    ],
)
def test_create_a_secret(kubectl: Kubectl, words: tuple[str, ...], kind: str, data: dict[str, str]) -> None:
    kubectl("create", "secret", *words)
    made = kubectl.json("get", "secret", "x")
    assert (made["type"], made["data"]) == (kind, data)


def test_create_a_service_account_and_a_token_for_it(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "x")
    token = kubectl("create", "token", "x", "--duration=1h").strip()
    assert token.count(".") == 2


def test_create_a_deployment(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "x", "--image=example/image:1", "--replicas=0", "--port=80")
    spec = spec_of(kubectl, "deployment", "x")
    assert (spec["replicas"], spec["selector"]) == (0, {"matchLabels": {"app": "x"}})
    [container] = spec["template"]["spec"]["containers"]
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert container["imagePullPolicy"] == "IfNotPresent"


def test_create_a_job_and_a_cron_job_and_a_job_of_it(kubectl: Kubectl) -> None:
    kubectl("create", "job", "x", "--image=example/image", "--", "true")
    assert spec_of(kubectl, "job", "x")["template"]["spec"]["containers"][0]["command"] == ["true"]
    kubectl("create", "cronjob", "y", "--image=example/image", "--schedule=0 0 1 1 *", "--", "date", "-u")
    kubectl("create", "job", "z", "--from=cronjob/y")
    made = kubectl.json("get", "job", "z")
    assert made["metadata"]["ownerReferences"][0]["kind"] == "CronJob"
    assert made["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"] == "manual"
    [container] = made["spec"]["template"]["spec"]["containers"]
    assert (container["command"], container["name"]) == (["date", "-u"], "y")


def test_a_job_of_a_cron_job_keeps_everything_of_its_template(kubectl: Kubectl) -> None:
    main = containers(
        envFrom=[{"configMapRef": {"name": "a"}}],
        env=[{"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}, {"name": "E"}],
        livenessProbe={"httpGet": {"port": "http"}, "timeoutSeconds": 5},
        lifecycle={"preStop": {"exec": {"command": ["true"]}}},
        resources={"limits": {"cpu": "1500m", "memory": "1Gi"}},
        volumeMounts=[{"name": "v", "mountPath": "/v", "readOnly": True}],
        securityContext={"runAsUser": 0, "privileged": False, "capabilities": {"add": ["NET_ADMIN"]}},
    )
    pod = {
        "restartPolicy": "Never",
        "containers": main,
        "volumes": [
            {"name": "v", "emptyDir": {"sizeLimit": "1Gi"}},
            {"name": "c", "configMap": {"name": "a", "items": [{"key": "k", "path": "p", "mode": 0}]}},
            {"name": "p", "projected": {"sources": [{"secret": {"name": "s"}}]}},
        ],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]}}},
        "tolerations": [{"operator": "Exists", "tolerationSeconds": 0, "effect": "NoExecute"}],
    }  # fmt: skip
    cron = manifest("CronJob", "batch/v1", spec={
        "schedule": "0 0 1 1 *", "suspend": True,
        "jobTemplate": {"spec": {"backoffLimit": 0, "template": {"spec": pod}}}})  # fmt: skip
    kubectl("create", "-f", "-", stdin=cron)
    kubectl("create", "job", "y", "--from=cronjob/x")
    wanted = spec_of(kubectl, "cronjob", "x")["jobTemplate"]["spec"]
    made = spec_of(kubectl, "job", "y")
    assert made["template"]["spec"] == wanted["template"]["spec"]
    assert made["backoffLimit"] == 0


def test_create_roles_and_bindings(kubectl: Kubectl) -> None:
    kubectl("create", "role", "x", "--verb=get,list", "--resource=pods,deployments.apps")
    assert kubectl.json("get", "role", "x")["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]},
    ]
    kubectl("create", "rolebinding", "x", "--role=x", "--user=u", f"--serviceaccount={kubectl.namespace}:s")
    subjects = kubectl.json("get", "rolebinding", "x")["subjects"]
    assert [s["kind"] for s in subjects] == ["User", "ServiceAccount"]
    name = f"{kubectl.namespace}-x"
    try:
        kubectl("create", "clusterrolebinding", name, "--clusterrole=view", "--group=g")
        [subject] = kubectl.json("get", "clusterrolebinding", name)["subjects"]
        assert subject == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "g"}
    finally:
        kubectl("delete", "clusterrolebinding", name, "--ignore-not-found")


def test_create_a_quota(kubectl: Kubectl) -> None:
    kubectl("create", "quota", "x", "--hard=cpu=1000m,pods=3")
    assert spec_of(kubectl, "quota", "x") == {"hard": {"cpu": "1", "pods": "3"}}


def test_create_an_ingress_and_a_service(kubectl: Kubectl) -> None:
    kubectl("create", "ingress", "x", "--rule=example.org/a*=web:http")
    [rule] = spec_of(kubectl, "ingress", "x")["rules"]
    backend = {"service": {"name": "web", "port": {"name": "http"}}}
    assert rule == {
        "host": "example.org",
        "http": {"paths": [{"path": "/a", "pathType": "Prefix", "backend": backend}]},
    }
    kubectl("create", "service", "clusterip", "x", "--tcp=80:http")
    [port] = spec_of(kubectl, "service", "x")["ports"]
    assert port == {"name": "80-http", "port": 80, "protocol": "TCP", "targetPort": "http"}


def test_create_a_namespace(kubectl: Kubectl) -> None:
    name = f"{kubectl.namespace}-x"
    assert kubectl("create", "namespace", name) == f"namespace/{name} created\n"
    kubectl("delete", "namespace", name, "--wait=false")


def test_create_a_disruption_budget_and_a_priority_class(kubectl: Kubectl) -> None:
    kubectl("create", "pdb", "x", "--selector=app=x", "--min-available=50%")
    assert spec_of(kubectl, "pdb", "x") == {"minAvailable": "50%", "selector": {"matchLabels": {"app": "x"}}}
    name = f"{kubectl.namespace}-x"
    try:
        kubectl("create", "priorityclass", name, "--value=5")
        assert kubectl.json("get", "priorityclass", name)["value"] == 5
    finally:
        kubectl("delete", "priorityclass", name, "--ignore-not-found")


def test_who_am_i(kubectl: Kubectl) -> None:
    user = kubectl.json("auth", "whoami")["status"]["userInfo"]
    assert user["username"] and "system:authenticated" in user["groups"]


@pytest.mark.parametrize(
    "path, words",
    [
        ("deployment.spec.strategy", ["FIELD: strategy <DeploymentStrategy>", "rollingUpdate", "type"]),
        ("pod.spec.containers.livenessProbe", ["FIELD: livenessProbe <Probe>", "httpGet", "periodSeconds"]),
        ("service.spec.ports.targetPort", ["FIELD: targetPort <IntOrString>"]),
        ("pod.spec.restartPolicy", ["FIELD: restartPolicy <string>", "ENUM:", "OnFailure"]),
        ("paddlejob.metadata.ownerReferences", ["FIELD: ownerReferences <[]OwnerReference>", "uid"]),
    ],
)
def test_explain_knows_the_fields_of_built_in_kinds(kubectl: Kubectl, path: str, words: list[str]) -> None:
    text = kubectl("explain", path)
    assert all(word in text for word in words), text


def test_apply_knows_how_lists_of_built_in_kinds_are_merged(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=deployment())
    two = [*containers(), {"name": "side", "image": "example/side"}]
    kubectl("apply", "-f", "-", stdin=deployment(template=template(containers=two)))
    assert kubectl("apply", "-f", "-", stdin=deployment()) == "deployment.apps/x configured\n"
    [left] = spec_of(kubectl, "deployment", "x")["template"]["spec"]["containers"]
    assert left["name"] == "main"


def test_a_misspelt_field_of_a_deployment_is_refused_or_told(kubectl: Kubectl) -> None:
    wrong = deployment(template=template(containers=containers(imagee="x")))
    done = kubectl.run("apply", "--validate=strict", "-f", "-", stdin=wrong)
    assert done.returncode == 1
    assert 'unknown field "spec.template.spec.containers[0].imagee"' in done.stderr
    done = kubectl.run("apply", "--validate=warn", "-f", "-", stdin=wrong)
    assert (done.returncode, done.stdout) == (0, "deployment.apps/x created\n")
    assert 'Warning: unknown field "spec.template.spec.containers[0].imagee"' in done.stderr


@pytest.mark.parametrize("key", ["deployment", "job", "cronjob", "service", "ingress", "hpa", "budget"])
def test_create_from_a_file_and_describe(kubectl: Kubectl, key: str) -> None:
    kinds = {"hpa": "HorizontalPodAutoscaler", "budget": "PodDisruptionBudget", "cronjob": "CronJob"}
    kind = kinds.get(key, key.capitalize())
    body = {**manifest(kind, MANIFESTS[key].api_version), **MANIFESTS[key].body}
    kubectl("create", "-f", "-", stdin=body)
    assert kubectl("describe", kind.lower(), "x").startswith("Name:")
    assert kubectl("delete", kind.lower(), "x", "--wait=false")

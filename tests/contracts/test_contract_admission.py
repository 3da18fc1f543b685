"""What new objects get from others, and why those refuse them: the plug-ins every Kubernetes has on."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.objects import core
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
RUNTIMES = "/apis/node.k8s.io/v1/runtimeclasses"
GOOD = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
SAFE = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
UNSAFE = (
    'allowPrivilegeEscalation != false (container "m" must set '
    "securityContext.allowPrivilegeEscalation=false), "
    'unrestricted capabilities (container "m" must set securityContext.capabilities.drop=["ALL"]), '
    'runAsNonRoot != true (pod or container "m" must set securityContext.runAsNonRoot=true), '
    'seccompProfile (pod or container "m" must set securityContext.seccompProfile.type to "RuntimeDefault" '
    'or "Localhost")'
)


def pod(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "m", "image": "example/image:1", **(container or {})}]
    plain = {"schedulerName": "nobody", "automountServiceAccountToken": False, "containers": containers}
    return {"metadata": {"name": "x"}, "spec": {**plain, **spec}}


def tried(rest: Rest, namespace: str, body: dict[str, Any]) -> Any:
    """The answer to a new pod; a real server hears of other objects a moment later, so ask again."""
    return rest.post(core(namespace, "pods"), body, dryRun="All")


def refusal(rest: Rest, namespace: str, body: dict[str, Any], part: str) -> str:
    def there() -> str:
        answer = tried(rest, namespace, body)
        return str(answer.body["message"]) if answer.status == 403 and part in answer.text else ""

    return until(there, what=f"a refusal with {part!r}")


@pytest.fixture
def priority(rest: Rest) -> Iterator[str]:
    name = f"p-{secrets.token_hex(4)}"
    body = {"metadata": {"name": name}, "value": 1000, "preemptionPolicy": "Never"}
    rest.post(PRIORITIES, body).expect(201)
    yield name
    rest.delete(f"{PRIORITIES}/{name}")


def test_a_priority_class_gives_its_number(rest: Rest, namespace: str, priority: str) -> None:
    body = pod(priorityClassName=priority)
    until(lambda: tried(rest, namespace, body).status == 201, what="the class known")
    spec = tried(rest, namespace, body).expect(201)["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (1000, "Never")
    own = "must not be provided in pod spec; priority admission controller computed 1000 from the given"
    assert refusal(rest, namespace, pod(priorityClassName=priority, priority=5), "integer") == (
        f'pods "x" is forbidden: the integer value of priority (5) {own} PriorityClass name'
    )


@pytest.mark.parametrize(
    "spec, message",
    [
        ({"priorityClassName": "none-such"}, "no PriorityClass with name none-such was found"),
        ({"runtimeClassName": "none-such"}, 'pod rejected: RuntimeClass "none-such" not found'),
        (
            {"serviceAccountName": "none-such"},
            'error looking up service account NAMESPACE/none-such: serviceaccount "none-such" not found',
        ),
        (
            {"overhead": {"cpu": "1"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
    ],
)
def test_a_pod_that_names_what_is_not_there_is_refused(
    rest: Rest, namespace: str, spec: dict[str, Any], message: str
) -> None:
    answer = tried(rest, namespace, pod(**spec)).expect(403)
    assert answer["message"] == f'pods "x" is forbidden: {message.replace("NAMESPACE", namespace)}'
    assert answer["details"] == {"name": "x", "kind": "pods"}


def test_the_priorities_of_the_system_are_there(rest: Rest, namespace: str) -> None:
    spec = tried(rest, namespace, pod(priorityClassName="system-node-critical")).expect(201)["spec"]
    assert spec["priority"] == 2000001000


def test_a_runtime_class_adds_what_it_needs(rest: Rest, namespace: str) -> None:
    name = f"r-{secrets.token_hex(4)}"
    scheduling = {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "operator": "Exists"}]}
    body = {"metadata": {"name": name}, "handler": "h", "overhead": {"podFixed": {"cpu": "10m"}}}
    rest.post(RUNTIMES, {**body, "scheduling": scheduling}).expect(201)
    try:
        wanted = pod(runtimeClassName=name)
        until(lambda: tried(rest, namespace, wanted).status == 201, what="the class known")
        spec = tried(rest, namespace, wanted).expect(201)["spec"]
        assert (spec["overhead"], spec["nodeSelector"]) == ({"cpu": "10m"}, {"a": "b"})
        assert {"key": "k", "operator": "Exists"} in spec["tolerations"]
        assert refusal(rest, namespace, pod(runtimeClassName=name, nodeSelector={"a": "c"}), "conflict") == (
            'pods "x" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[a] = b; '
            "pod.spec.nodeSelector[a] = c"
        )
    finally:
        rest.delete(f"{RUNTIMES}/{name}")


def test_a_pod_takes_the_pull_secrets_of_its_account(rest: Rest, namespace: str) -> None:
    account = {"metadata": {"name": "puller"}, "imagePullSecrets": [{"name": "s"}]}
    rest.post(core(namespace, "serviceaccounts"), account).expect(201)
    until(lambda: tried(rest, namespace, pod(serviceAccountName="puller")).status == 201, what="the account")
    given = tried(rest, namespace, pod(serviceAccountName="puller")).expect(201)["spec"]
    assert given["imagePullSecrets"] == [{"name": "s"}]
    own = pod(serviceAccountName="puller", imagePullSecrets=[{"name": "mine"}])
    assert tried(rest, namespace, own).expect(201)["spec"]["imagePullSecrets"] == [{"name": "mine"}]


@pytest.mark.parametrize(
    "classes, spec, path, body, field",
    [
        (
            "/apis/storage.k8s.io/v1/storageclasses",
            {"provisioner": "example.org/none"},
            "/api/v1/namespaces/NAMESPACE/persistentvolumeclaims",
            {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            "storageClassName",
        ),
        (
            "/apis/networking.k8s.io/v1/ingressclasses",
            {"spec": {"controller": "example.org/none"}},
            "/apis/networking.k8s.io/v1/namespaces/NAMESPACE/ingresses",
            {"defaultBackend": {"service": {"name": "x", "port": {"number": 80}}}},
            "ingressClassName",
        ),
    ],
    ids=["storage", "ingress"],
)
def test_the_default_class_is_filled_in(
    rest: Rest, namespace: str, classes: str, spec: Any, path: str, body: Any, field: str
) -> None:
    name = f"d-{secrets.token_hex(4)}"
    kind = classes.rpartition("/")[2].removesuffix("es")
    marked = {"name": name, "annotations": {f"{kind}.kubernetes.io/is-default-class": "true"}}
    rest.post(classes, {"metadata": marked, **spec}).expect(201)
    here = path.replace("NAMESPACE", namespace)

    def chosen() -> bool:
        made = rest.post(here, {"metadata": {"name": "x"}, "spec": body}, dryRun="All").expect(201)
        return bool(made["spec"].get(field) == name)

    try:
        until(chosen, what="the default class")
    finally:
        rest.delete(f"{classes}/{name}")


LIMITS = [
    {
        "type": "Container", "min": {"cpu": "100m", "memory": "64Mi"}, "max": {"cpu": "1", "memory": "1Gi"},
        "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "200m"}, "maxLimitRequestRatio": {"cpu": "4"},
    },
    {"type": "Pod", "max": {"cpu": "2"}},
    {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "5Gi"}},
]  # fmt: skip


@pytest.fixture
def limited(rest: Rest, namespace: str) -> str:
    body = {"metadata": {"name": "l"}, "spec": {"limits": LIMITS}}
    rest.post(core(namespace, "limitranges"), body).expect(201)
    until(lambda: noted(rest, namespace), what="the limits in force")
    return namespace


def noted(rest: Rest, namespace: str) -> bool:
    made = tried(rest, namespace, pod()).expect(201)
    return "kubernetes.io/limit-ranger" in (made["metadata"].get("annotations") or {})


def test_a_container_gets_the_defaults_of_its_namespace(rest: Rest, limited: str) -> None:
    made = tried(rest, limited, pod()).expect(201)
    resources = {"limits": {"cpu": "500m", "memory": "1Gi"}, "requests": {"cpu": "200m", "memory": "1Gi"}}
    assert made["spec"]["containers"][0]["resources"] == resources
    assert made["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu, memory request for container m; "
        "cpu, memory limit for container m"
    }
    assert made["status"]["qosClass"] == "Burstable"


@pytest.mark.parametrize(
    "resources, problem",
    [
        ({"limits": {"cpu": "2"}}, "maximum cpu usage per Container is 1, but limit is 2"),
        ({"limits": {"memory": "1Mi"}}, "minimum memory usage per Container is 64Mi, but request is 1Mi"),
        (
            {"limits": {"cpu": "1"}, "requests": {"cpu": "100m"}},
            "cpu max limit to request ratio per Container is 4, but provided ratio is 10.000000",
        ),
    ],
)
def test_a_container_outside_the_limits_is_refused(
    rest: Rest, limited: str, resources: dict[str, Any], problem: str
) -> None:
    answer = tried(rest, limited, pod({"resources": resources})).expect(403)
    assert answer["message"] == f'pods "x" is forbidden: {problem}'


def test_a_pod_is_limited_as_a_whole(rest: Rest, limited: str) -> None:
    containers = [
        {"name": f"c{i}", "image": "i", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}
        for i in range(3)
    ]
    answer = tried(rest, limited, pod(containers=containers)).expect(403)
    assert answer["message"] == 'pods "x" is forbidden: maximum cpu usage per Pod is 2, but limit is 3'


@pytest.mark.parametrize(
    "size, problem",
    [
        ("500Mi", "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi"),
        ("10Gi", "maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 10Gi"),
    ],
)
def test_a_claim_outside_the_limits_is_refused(rest: Rest, limited: str, size: str, problem: str) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    body = {"metadata": {"name": "c"}, "spec": spec}
    answer = rest.post(core(limited, "persistentvolumeclaims"), body, dryRun="All").expect(403)
    assert answer["message"] == f'persistentvolumeclaims "c" is forbidden: {problem}'


def labelled(rest: Rest, namespace: str, mode: str, level: str) -> None:
    labels = {f"pod-security.kubernetes.io/{mode}": level}
    rest.merge(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}}).expect(200)


@pytest.mark.parametrize(
    "body, problem",
    [
        (pod(hostNetwork=True, hostPID=True), "host namespaces (hostNetwork=true, hostPID=true)"),
        (pod(volumes=[{"name": "v", "hostPath": {"path": "/"}}]), 'hostPath volumes (volume "v")'),
        (
            pod({"ports": [{"containerPort": 80, "hostPort": 80}]}),
            'hostPort (container "m" uses hostPort 80)',
        ),
        (
            pod({"securityContext": {"capabilities": {"add": ["NET_ADMIN", "CHOWN"]}}}),
            'non-default capabilities (container "m" must not include "NET_ADMIN" in '
            "securityContext.capabilities.add)",
        ),
        (
            pod(securityContext={"seccompProfile": {"type": "Unconfined"}}),
            'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
        ),
        (
            pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}),
            "forbidden sysctls (kernel.msgmax)",
        ),
    ],
    ids=["host", "hostPath", "hostPort", "capabilities", "seccomp", "sysctls"],
)
def test_the_baseline_is_enforced(rest: Rest, namespace: str, body: dict[str, Any], problem: str) -> None:
    labelled(rest, namespace, "enforce", "baseline")
    assert refusal(rest, namespace, body, "PodSecurity") == (
        f'pods "x" is forbidden: violates PodSecurity "baseline:latest": {problem}'
    )
    tried(rest, namespace, pod()).expect(201)


def test_the_restricted_standard_wants_everything_said(rest: Rest, namespace: str) -> None:
    labelled(rest, namespace, "enforce", "restricted")
    assert refusal(rest, namespace, pod(), "PodSecurity") == (
        f'pods "x" is forbidden: violates PodSecurity "restricted:latest": {UNSAFE}'
    )
    tried(rest, namespace, pod({"securityContext": GOOD}, securityContext=SAFE)).expect(201)


def test_a_warning_lets_the_object_through(rest: Rest, namespace: str) -> None:
    labelled(rest, namespace, "warn", "restricted")
    until(lambda: "Warning" in tried(rest, namespace, pod()).headers, what="the warning")
    quoted = UNSAFE.replace('"', '\\"')
    warning = tried(rest, namespace, pod()).headers["Warning"]
    assert warning == f'299 - "would violate PodSecurity \\"restricted:latest\\": {quoted}"'


def test_a_level_nobody_knows_is_refused(rest: Rest, namespace: str) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "odd"}
    answer = rest.merge(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}}).expect(422)
    assert answer["message"] == (
        f'Namespace "{namespace}" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: '
        'Invalid value: "odd": must be one of privileged, baseline, restricted'
    )

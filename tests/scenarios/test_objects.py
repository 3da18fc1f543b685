"""Objects on a running cluster do what Kubernetes says they do."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from ipaddress import ip_address

import pytest
import urllib3
import yaml
from tests.kubernetes.waiting import until
from tests.scenarios.manifests import CORE, Body, in_namespace, job, pod, shell, web_service
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.core import ConfigMap, Namespace, Pod, Service
from paddlecloud.api.knative import KnativeService, Revision
from paddlecloud.api.meta import Key, Resource
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.sdk.client import Client

ADDRESS = [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]


# The first process of a container is asked to end in vain unless it listens, as in any container.
LIVES = "trap 'exit 0' TERM; sleep 600 & wait"


def settled(cluster: PdcHome, name: str, phase: str = "Succeeded") -> str:
    """The log of a pod once it has come to *phase*."""
    cluster.ok("wait", f"pod/{name}", "--for", phase, "--timeout", "120")
    return cluster.ok("logs", name)


def count(client: Client, kind: type[Resource], name: str, namespace: str = "default") -> int:
    return sum(1 for o in client.list(kind, namespace).items if o.name.startswith(name))


def test_a_job_of_one_worker_runs_to_its_end(cluster: PdcHome, name: str) -> None:
    cluster.apply(job(name, "echo trained", cleanPodPolicy="Never"))

    cluster.ok("wait", f"job/{name}", "--for", "Completed", "--timeout", "120")

    assert cluster.ok("logs", f"job/{name}") == "trained\n"
    status = yaml.safe_load(cluster.ok("get", "job", name, "-o", "yaml"))["status"]
    assert (status["mode"], status["worker"]["succeeded"]) == ("Single", 1)


@pytest.mark.parametrize(
    "policy, script, end, left",
    [
        ("OnCompletion", "true", "Completed", 0),
        ("OnCompletion", "false", "Failed", 2),
        ("OnFailure", "false", "Failed", 0),
        ("Always", "true", "Completed", 0),
        ("Never", "true", "Completed", 2),
    ],
)
def test_the_pods_of_a_finished_job_go_as_the_policy_says(
    cluster: PdcHome, name: str, policy: str, script: str, end: str, left: int
) -> None:
    # Both workers end alike, but not at once: neither may fail before the other exists.
    cluster.apply(job(name, f"sleep 0.5; {script}", workers=2, cleanPodPolicy=policy))

    cluster.ok("wait", f"job/{name}", "--for", end, "--timeout", "120")

    with cluster.client() as client:
        until(lambda: count(client, Pod, f"{name}-") == left, what=f"{left} pods left")


def test_what_belongs_to_a_job_goes_with_it(cluster: PdcHome, name: str) -> None:
    cluster.apply(job(name, LIVES, workers=2))
    cluster.ok("wait", f"job/{name}", "--for", "Running", "--timeout", "120")
    with cluster.client() as client:
        assert count(client, Pod, name) == 2 and count(client, ConfigMap, name) == 1

        cluster.ok("delete", f"job/{name}")

        until(lambda: not count(client, Pod, name) and not count(client, ConfigMap, name), what="an end")


def test_what_belongs_to_a_service_goes_with_it(cluster: PdcHome, name: str) -> None:
    server = "trap 'exit 0' TERM; python -m http.server 8080 --bind $POD_IP & wait"
    endpoint = {"containerImage": CORE, "tag": "any", "port": 8080, "arg": server}
    cluster.apply(
        {
            "apiVersion": "serving.paddlepaddle.org/v1",
            "kind": "PaddleService",
            "metadata": {"name": name},
            "spec": {"default": endpoint},
        }
    )
    cluster.ok("wait", f"paddleservice/{name}", "--for", "Ready", "--timeout", "120")
    cluster.ok("logs", f"paddleservice/{name}")
    kinds: tuple[type[Resource], ...] = (KnativeService, Revision, Pod)
    with cluster.client() as client:
        assert [count(client, k, name) for k in kinds] == [1, 1, 1]

        cluster.ok("delete", f"paddleservice/{name}")

        until(lambda: not any(count(client, k, name) for k in kinds), what="an end of all it owned")


def test_a_namespace_is_emptied_and_goes(cluster: PdcHome, name: str) -> None:
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    cluster.apply(
        in_namespace(name, pod("runs", LIVES)),
        in_namespace(name, job("trains", LIVES)),
        in_namespace(name, config_map("says", {"a": "b"})),
    )
    cluster.ok("wait", "pod/runs", "--for", "Running", "--timeout", "120", "-n", name)

    cluster.ok("delete", f"namespace/{name}")

    with cluster.client() as client:
        until(lambda: client.find(Namespace, "", name) is None, what="the end of the namespace", limit=60)
        assert not client.list(Pod, name).items


def config_map(name: str, data: dict[str, str]) -> Body:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def secret(name: str, data: dict[str, str]) -> Body:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


def test_a_pod_reads_its_volumes(cluster: PdcHome, name: str) -> None:
    volumes = [
        {"name": "c", "configMap": {"name": name}},
        {"name": "s", "secret": {"secretName": name}},
        {"name": "e", "emptyDir": {}},
    ]
    mounts = [{"name": v["name"], "mountPath": f"/mnt/{v['name']}"} for v in volumes]
    script = "cat /mnt/c/greeting /mnt/s/password; echo here > /mnt/e/f; cat /mnt/e/f"
    cluster.apply(
        config_map(name, {"greeting": "hello\n"}),
        secret(name, {"password": "sesame\n"}),
        pod(name, script, volumes=volumes, container={"volumeMounts": mounts}),
    )

    assert settled(cluster, name) == "hello\nsesame\nhere\n"


def test_a_claimed_volume_outlives_the_pod_that_wrote_it(cluster: PdcHome, name: str) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}},
    }
    volume = {
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}],
        "container": {"volumeMounts": [{"name": "v", "mountPath": "/data"}]},
    }
    cluster.apply(claim, pod(f"{name}-w", "echo kept > /data/f", **volume))
    settled(cluster, f"{name}-w")
    cluster.ok("delete", f"pod/{name}-w")
    cluster.apply(pod(f"{name}-r", "cat /data/f", **volume))

    assert settled(cluster, f"{name}-r") == "kept\n"


def test_a_pod_is_told_about_itself(cluster: PdcHome, name: str) -> None:
    fields = {
        "N": "metadata.name",
        "NS": "metadata.namespace",
        "L": "metadata.labels['app']",
        "IP": "status.podIP",
        "NODE": "spec.nodeName",
    }
    env = [{"name": k, "valueFrom": {"fieldRef": {"fieldPath": path}}} for k, path in fields.items()]
    script = "echo $N $NS $L $IP $NODE $POD_IP"
    cluster.apply(pod(name, script, metadata={"labels": {"app": "x"}}, container={"env": env}))

    words = settled(cluster, name).split()

    assert words[:3] == [name, "default", "x"] and words[4] == "node-0"
    assert words[3] == words[5] and ip_address(words[3]).is_private


def test_a_job_rests_and_goes_on_and_deletes_itself(cluster: PdcHome, name: str) -> None:
    cluster.apply(job(name, "echo trained", suspend=True, ttlSecondsAfterFinished=1))
    with cluster.client() as client:

        def told() -> dict[str, str]:
            return {c.type: c.status for c in client.get(PaddleJob, "default", name).status.conditions}

        until(lambda: told().get("Suspended") == "True", what="a job that rests")
        assert count(client, Pod, name) == 0
        client.patch(PaddleJob, Key("default", name), {"spec": {"suspend": False}})
        until(lambda: client.find(PaddleJob, "default", name) is None, what="the end of a job that ended")
        until(lambda: count(client, ConfigMap, name) == 0, what="the end of all that was left of it")


def test_a_job_that_takes_too_long_fails_and_its_pods_end(cluster: PdcHome, name: str) -> None:
    cluster.apply(job(name, LIVES, activeDeadlineSeconds=3, cleanPodPolicy="Never"))
    cluster.ok("wait", f"job/{name}", "--for", "Failed", "--timeout", "60")
    with cluster.client() as client:
        until(lambda: count(client, Pod, name) == 0, what="the end of its pods")
    assert "activeDeadlineSeconds" in cluster.ok("why", f"job/{name}")


def test_a_service_leads_to_the_pods_that_are_ready(cluster: PdcHome, name: str) -> None:
    labels, web = {"app": name}, "python -m http.server 8000 --bind $A"
    probe = {"httpGet": {"path": "/ready", "port": 8000}, "periodSeconds": 1}
    spec = {"env": ADDRESS, "volumeMounts": [{"name": "w", "mountPath": "/web"}], "readinessProbe": probe}
    shared = {"volumes": [{"name": "w", "persistentVolumeClaim": {"claimName": name}}]}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Mi"}}},
    }
    # Not every level lets programs of the machine reach the address of a Service, but all its port.
    service = web_service(name, labels, [{"port": 80, "targetPort": 8000}])
    service["spec"]["type"] = "NodePort"
    cluster.apply(
        claim,
        pod(name, f"cd /web && exec {web}", metadata={"labels": labels}, container=spec, **shared),
        service,
    )
    cluster.ok("wait", f"pod/{name}", "--for", "Running", "--timeout", "120")
    with cluster.client() as client:
        address = f"127.0.0.1:{client.get(Service, 'default', name).spec['ports'][0]['nodePort']}"
        assert not is_ready(client, name) and answer(address) is None

        # What the probe asks for appears: now the pod is ready and the service leads to it.
        cluster.apply(pod(f"{name}-w", "echo yes > /web/ready", container=spec_without_probe(spec), **shared))
        until(lambda: is_ready(client, name), what="a ready pod")

        assert until(lambda: answer(address), what="an answer through the service") == b"yes\n"


def test_a_port_on_the_host_leads_to_the_pod(cluster: PdcHome, name: str) -> None:
    port = free_port()
    serve = "echo yes > ready && exec python -m http.server 8000 --bind $A"
    ports = [{"containerPort": 8000, "hostPort": port}]
    container = {"env": ADDRESS, "ports": ports}
    cluster.apply(pod(name, f"cd /tmp && {serve}", container=container, terminationGracePeriodSeconds=1))

    assert until(lambda: answer(f"127.0.0.1:{port}"), what="an answer through the host") == b"yes\n"
    cluster.ok("delete", f"pod/{name}")
    until(lambda: answer(f"127.0.0.1:{port}") is None, what="silence at the port of a pod that is gone")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def spec_without_probe(spec: Body) -> Body:
    return {k: v for k, v in spec.items() if k != "readinessProbe"}


def is_ready(client: Client, name: str) -> bool:
    return client.get(Pod, "default", name).ready


def answer(address: str) -> bytes | None:
    """What the service says at /ready; None when nobody answers."""
    with urllib3.PoolManager(retries=False, timeout=2.0) as web:
        try:
            reply = web.request("GET", f"http://{address}/ready")
        except urllib3.exceptions.HTTPError:
            return None
        return reply.data if reply.status == 200 else None


@pytest.mark.parametrize(
    "policy, script, check",
    [
        ("Never", "exit 1", lambda s: s["phase"] == "Failed" and restarts(s) == 0),
        ("OnFailure", "exit 0", lambda s: s["phase"] == "Succeeded" and restarts(s) == 0),
        ("OnFailure", "exit 1", lambda s: s["phase"] == "Running" and restarts(s) >= 1),
        ("Always", "exit 0", lambda s: s["phase"] == "Running" and restarts(s) >= 1),
    ],
)
def test_a_container_that_ended_comes_back_as_the_policy_says(
    cluster: PdcHome, name: str, policy: str, script: str, check: Callable[[Body], bool]
) -> None:
    cluster.apply(pod(name, script, restartPolicy=policy))

    def status() -> Body:
        found: Body = json.loads(cluster.ok("get", "pod", name, "-o", "json"))["status"]
        return found

    until(lambda: "containerStatuses" in (s := status()) and check(s), what="the state", limit=40)
    cluster.ok("delete", f"pod/{name}")


def restarts(status: Body) -> int:
    return int(status["containerStatuses"][0]["restartCount"])


def test_a_followed_log_goes_on_with_the_pods_that_come_later(cluster: PdcHome, name: str) -> None:
    labels = {"app": name}
    container = shell("trap 'exit 0' TERM; echo up in $POD_UID; while :; do sleep 0.05; done")
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    cluster.apply(
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": name},
            "spec": {"serviceName": name, "selector": {"matchLabels": labels}, "template": template},
        }
    )
    until(lambda: "up in" in cluster.pdc("logs", f"statefulset/{name}").text, what="the first pod")
    with cluster.running("logs", "-f", f"statefulset/{name}") as following:
        until(lambda: following.text().count("up in") == 1, what="what the first pod said")
        cluster.ok("delete", f"pod/{name}-0")
        until(lambda: following.text().count("up in") == 2, what="what its successor says")
        assert len(set(following.text().split("\n"))) == 3, "two pods, and the end of the text"
        cluster.ok("delete", f"statefulset/{name}")
        assert following.process.wait(60) == 0

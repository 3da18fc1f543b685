"""Clients nobody here wrote, unmodified, on the server under test."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.clients.environment import HERE, binaries, command, run
from tests.contracts.objects import core, jobs, paddle_job
from tests.kubernetes.processes import running
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.servers import Server


def lines(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    assert done.returncode == 0, done.stdout + done.stderr
    pairs = (line.partition(" ")[::2] for line in done.stdout.splitlines())
    return dict(pairs)


def test_the_official_python_client(server: Server, namespace: str, tmp_path: Path) -> None:
    said = lines(run("python_client.py", namespace, home=tmp_path, kubeconfig=server.kubeconfig))
    assert said == {
        "created": "{'k': 'v'}",
        "patched": "{'k': 'w'}",
        "missing": "404 Not Found",
        "watched": "[('ADDED', 'typed'), ('DELETED', 'typed')]",
        "dynamic": "0",
        "custom": "1",
        "pods": "0",
        "nodes": "True",
        "async": "True",
    }


def test_kr8s(server: Server, namespace: str, tmp_path: Path) -> None:
    said = lines(run("kr8s_client.py", namespace, home=tmp_path, kubeconfig=server.kubeconfig))
    assert said == {
        "version": "1",
        "exists": "True",
        "listed": "['kr8s']",
        "data": "w",
        "job": "0",
        "gone": "True",
    }


def test_a_kopf_operator(server: Server, rest: Rest, namespace: str, tmp_path: Path) -> None:
    arguments = ["run", "--standalone", "--namespace", namespace, str(HERE / "programs" / "kopf_operator.py")]
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "KUBECONFIG": str(server.kubeconfig)}
    # It signs with a name, and not every user of a machine has an entry with one.
    environ["USER"] = "somebody"
    job = paddle_job()
    job["spec"]["worker"]["replicas"] = 0
    with running(binaries() / "kopf", arguments, tmp_path / "kopf", environ):
        rest.post(jobs(namespace), job).expect(201)
        path = f"{jobs(namespace)}/train"

        def annotations() -> dict[str, Any]:
            return dict(rest.get(path).expect(200)["metadata"].get("annotations") or {})

        until(lambda: annotations().get("example.org/noticed") == "train", what="the operator's note")
    # kopf holds what it watches with a finalizer until it has seen the end of it.
    rest.merge(path, {"metadata": {"finalizers": None}}).expect(200)


CHART = {
    "Chart.yaml": "apiVersion: v2\nname: small\nversion: 0.1.0\n",
    "values.yaml": "colour: red\n",
    "templates/config.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-config}\n"
        "data: {colour: {{ .Values.colour }}}\n"
    ),
    "templates/service.yaml": (
        "apiVersion: v1\nkind: Service\nmetadata: {name: {{ .Release.Name }}}\n"
        "spec: {selector: {app: small}, ports: [{port: 80}]}\n"
    ),
}


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    for name, text in CHART.items():
        (tmp_path / "chart" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "chart" / name).write_text(text)
    return tmp_path / "chart"


def test_helm_installs_upgrades_rolls_back_and_uninstalls(
    server: Server, rest: Rest, namespace: str, chart: Path, tmp_path: Path
) -> None:
    def helm(*arguments: str) -> str:
        line = [str(binaries() / "helm"), "--namespace", namespace, *arguments]
        done = command(line, tmp_path, server.kubeconfig)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def colour() -> str:
        return str(rest.get(core(namespace, "configmaps", "web-config")).expect(200)["data"]["colour"])

    helm("install", "web", str(chart))
    assert colour() == "red"
    helm("upgrade", "web", str(chart), "--set", "colour=blue")
    assert colour() == "blue"
    helm("rollback", "web", "1")
    assert colour() == "red"
    listed = yaml.safe_load(helm("list", "--output", "yaml"))
    assert [(r["name"], r["revision"], r["status"]) for r in listed] == [("web", "3", "deployed")]
    helm("uninstall", "web")
    assert rest.get(core(namespace, "configmaps", "web-config")).status == 404
    assert rest.get(core(namespace, "services", "web")).status == 404

"""Logs, commands, files and ports with clients nobody here wrote, on a cluster with nodes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.clients.environment import run
from tests.kubectl import Kubectl, Program
from tests.kubernetes.processes import running
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome, fresh_home

SERVER = (
    "mkdir -p $HOME/w && cd $HOME/w && echo hello > greeting && head -c 3000000 /dev/urandom > big && "
    "exec python3 -u -m http.server 8000 --bind $POD_IP"
)
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "containers": [
            {
                "name": "main",
                "image": "python",
                "command": ["sh", "-c", SERVER],
                "ports": [{"containerPort": 8000, "name": "http"}],
                "readinessProbe": {"tcpSocket": {"port": 8000}, "periodSeconds": 1},
            }
        ]
    },
}
SERVICE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]},
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[PdcHome]:
    with fresh_home() as made:
        made.ok("up", "--detach")
        for body in (POD, SERVICE):
            made.ok("apply", "-f", "-", stdin=json.dumps(body))
        made.ok("wait", "pod/web", "--for", "Ready", "--timeout", "60")
        yield made


@pytest.fixture
def ctl(kubectl_program: Program, cluster: PdcHome, tmp_path: Path) -> Kubectl:
    if not kubectl_program.path:
        pytest.skip(f"kubectl {kubectl_program.version} is not built: make test-kubernetes builds it")
    return Kubectl(kubectl_program.path, cluster.home.kubeconfig, "default", tmp_path)


def test_kubectl_runs_commands(ctl: Kubectl) -> None:
    done = ctl.run("exec", "web", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert done.stderr == "err\ncommand terminated with exit code 3\n"


def test_kubectl_copies_files_both_ways(ctl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(os.urandom(2_000_000))
    ctl("cp", str(tmp_path / "there"), "web:/tmp/copied")
    ctl("cp", "web:/tmp/copied", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == (tmp_path / "there").read_bytes()


@contextmanager
def forwarding(ctl: Kubectl, tmp_path: Path, *words: str) -> Iterator[int]:
    """The local port kubectl chose."""
    arguments = ["--kubeconfig", str(ctl.kubeconfig), "port-forward", *words]
    with running(ctl.program, arguments, tmp_path / "forwarding", {"HOME": str(tmp_path)}) as process:
        until(lambda: "Forwarding" in process.log.read_text(), what="kubectl to listen")
        found = re.search(r"127\.0\.0\.1:(\d+)", process.log.read_text())
        assert found
        yield int(found[1])


@pytest.mark.parametrize("target, port", [("pod/web", ":8000"), ("svc/web", ":80")])
def test_kubectl_forwards_ports(ctl: Kubectl, tmp_path: Path, target: str, port: str) -> None:
    with (
        forwarding(ctl, tmp_path, target, port) as local,
        urllib.request.urlopen(f"http://127.0.0.1:{local}/big", timeout=30) as answer,
    ):
        got = hashlib.sha256(answer.read()).hexdigest()
    assert got in ctl("exec", "web", "--", "sh", "-c", "sha256sum $HOME/w/big")


def test_kubectl_reads_logs(ctl: Kubectl) -> None:
    line = ctl("logs", "web", "--tail=1", "--timestamps", "--prefix")
    assert re.match(r"\[pod/web/main\] \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ", line)
    assert ctl("logs", "-l", "app=web", "--limit-bytes=7") == "Serving"
    done = ctl.run("logs", "web", "--previous")
    assert 'previous terminated container "main" in pod "web" not found' in done.stderr


def test_kubectl_runs_a_pod_and_speaks_to_it(ctl: Kubectl) -> None:
    words = ["run", "spoken", "-i", "--rm", "--restart=Never", "--image=busybox", "--command", "--"]
    command = [str(ctl.program), "--kubeconfig", str(ctl.kubeconfig), *words, "sh", "-c", "cat; exit 4"]
    environ = {"HOME": str(ctl.home)}
    done = subprocess.run(
        command, input="to be heard\n", text=True, capture_output=True, timeout=60, env=environ
    )
    assert (done.returncode, "to be heard" in done.stdout) == (4, True), done.stderr


def test_kubectl_top_and_proxies(ctl: Kubectl) -> None:
    assert "node-0" in ctl("top", "node")
    assert re.search(r"web\s+main\s+\d+m\s+\d+Mi", ctl("top", "pod", "--containers", "--sort-by=cpu"))
    base = "/api/v1/namespaces/default"
    assert ctl("get", "--raw", f"{base}/services/web:80/proxy/greeting") == "hello\n"
    assert ctl("get", "--raw", f"{base}/pods/web/proxy/greeting") == "hello\n"
    assert ctl("get", "--raw", "/api/v1/nodes/node-0/proxy/healthz") == "ok"


def said(program: str, cluster: PdcHome, tmp_path: Path) -> dict[str, str]:
    done = run(program, "default", "web", home=tmp_path, kubeconfig=cluster.home.kubeconfig)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(line.partition(" ")[::2] for line in done.stdout.splitlines())


def test_the_official_python_client(cluster: PdcHome, tmp_path: Path) -> None:
    told = said("python_streams.py", cluster, tmp_path)
    assert told.pop("log")
    assert told == {"exec": "['err', 'out']", "talk": "42 3", "ports": "hello None"}


def test_kr8s(cluster: PdcHome, tmp_path: Path) -> None:
    told = said("kr8s_streams.py", cluster, tmp_path)
    assert told.pop("log")
    assert told == {"exec": "out err 3", "ports": "hello"}


@pytest.mark.parametrize(
    "words, code, text",
    [
        (("exec", "web", "--", "sh", "-c", "echo hi; exit 5"), 5, "hi\n"),
        (("exec", "web"), 2, "at least one command"),
        (("exec", "web", "-c", "other", "--", "ls"), 1, "container other is not valid for pod web"),
        (("exec", "nobody", "--", "ls"), 1, 'pods "nobody" not found'),
        (("logs", "web", "--limit-bytes", "7"), 0, "Serving"),
        (("logs", "svc/web", "--tail", "1", "--prefix"), 0, "[pod/web]"),
        (("logs", "web", "--since", "soon"), 2, "is no duration"),
        (("logs",), 2, "name a pod"),
        (("top", "pods"), 0, "web"),
        (("top", "nodes"), 0, "node-0"),
        (("cp", "web:/no/such/file", "here"), 1, "ended with exit code"),
        (("cp", "a", "b"), 2, "one side is a file here"),
    ],
)
def test_pdc_does_the_same(cluster: PdcHome, words: tuple[str, ...], code: int, text: str) -> None:
    done = cluster.pdc(*words, limit=60)
    assert (done.code, text in done.text) == (code, True), done.text


def test_a_client_of_pdc_port_forward_that_takes_nothing_holds_up_no_other(cluster: PdcHome) -> None:
    with cluster.running("port-forward", "web", "0:8000") as way:
        found = until(lambda: re.search(r"127\.0\.0\.1:(\d+)", way.text()), what="pdc to listen")
        port = int(found[1])
        with ExitStack() as stack:
            for _ in range(3):
                stuck = stack.enter_context(socket.socket())
                stuck.settimeout(20)
                stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                stuck.connect(("127.0.0.1", port))
                stuck.sendall(b"GET /big HTTP/1.0\r\n\r\n")
                # It has begun to come, and will not be taken.
                assert stuck.recv(1) == b"H"
            for _ in range(3):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/greeting", timeout=20) as answer:
                    assert answer.read() == b"hello\n"

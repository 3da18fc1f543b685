"""Logs and commands of running containers, as clients ask for them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.node_pods import NodePods
from tests.kubectl import own_program
from tests.servers import Server

WRITES = "echo one; sleep 1; echo two >&2; sleep 1; echo three; exec sleep 600"
AGAIN = "test -e /kept/tried && { echo second; exec sleep 600; }; touch /kept/tried; echo first; exit 3"
PODS: dict[str, Any] = {
    "writes": {"containers": [{"command": ["sh", "-c", WRITES]}]},
    "two": {
        "containers": [
            {"name": "a", "command": ["sh", "-c", "echo of a; sleep 600"]},
            {"name": "b", "command": ["sh", "-c", "echo of b; sleep 600"]},
        ]
    },
    "again": {
        "restartPolicy": "OnFailure",
        "volumes": [{"name": "kept", "emptyDir": {}}],
        "containers": [
            {"command": ["sh", "-c", AGAIN], "volumeMounts": [{"name": "kept", "mountPath": "/kept"}]}
        ],
    },
    "never": {"containers": [{"image": "localhost/absent:1", "imagePullPolicy": "Never"}]},
}


@pytest.fixture(scope="module")
def writing(pods: NodePods) -> NodePods:
    for name, spec in PODS.items():
        pods.make(name, spec)
    pods.logged("writes", "one\ntwo\nthree\n")
    pods.wait("two", "ready")
    pods.wait("again", "restarted")
    pods.wait("never", "ErrImageNeverPull")
    return pods


@pytest.mark.parametrize(
    "pod, query, text",
    [
        ("writes", {}, "one\ntwo\nthree\n"),
        ("writes", {"tailLines": 2}, "two\nthree\n"),
        ("writes", {"tailLines": 0}, ""),
        ("writes", {"limitBytes": 5}, "one\nt"),
        ("writes", {"tailLines": 2, "limitBytes": 3}, "two"),
        ("writes", {"sinceSeconds": 3600}, "one\ntwo\nthree\n"),
        ("writes", {"sinceTime": "2020-01-01T00:00:00Z"}, "one\ntwo\nthree\n"),
        ("writes", {"sinceTime": "2100-01-01T00:00:00Z"}, ""),
        ("two", {"container": "b"}, "of b\n"),
        ("again", {}, "second\n"),
        ("again", {"previous": "true"}, "first\n"),
    ],
)
def test_a_log_is_read(writing: NodePods, pod: str, query: dict[str, Any], text: str) -> None:
    assert writing.log(pod, **query) == text


def test_a_log_since_a_moment_leaves_out_what_was_before(writing: NodePods) -> None:
    stamped = writing.log("writes", timestamps="true").splitlines()

    moment = stamped[-1].split()[0]
    assert writing.log("writes", sinceTime=moment) == "three\n"


def test_stamps_are_of_the_moment_of_writing_and_grow(writing: NodePods) -> None:
    lines = [line.split(" ", 1) for line in writing.log("writes", timestamps="true").splitlines()]

    assert [text for _, text in lines] == ["one", "two", "three"]
    stamps = [stamp for stamp, _ in lines]
    assert stamps == sorted(stamps)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", stamp) for stamp in stamps)


@pytest.mark.parametrize(
    "pod, query, code, message",
    [
        ("two", {}, 400, "a container name must be specified for pod two, choose one of: [a b]"),
        ("two", {"container": "c"}, 400, "container c is not valid for pod two"),
        (
            "writes",
            {"previous": "true"},
            400,
            'previous terminated container "main" in pod "writes" not found',
        ),
        ("never", {}, 400, 'container "main" in pod "never" is waiting to start: ErrImageNeverPull'),
        ("absent", {}, 404, 'pods "absent" not found'),
    ],
)
def test_a_log_that_cannot_be_read_is_refused(
    writing: NodePods, pod: str, query: dict[str, Any], code: int, message: str
) -> None:
    assert writing.ask_log(pod, **query).expect(code)["message"] == message


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run(writing: NodePods, node_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """kubectl, with what it is given to read."""
    program = own_program().path
    if not program:
        pytest.skip("kubectl is not built: make test-kubernetes builds it")
    cache: Path = tmp_path_factory.mktemp("kubectl")

    def command(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        where = [f"--kubeconfig={node_server.kubeconfig}", f"--namespace={writing.namespace}"]
        return subprocess.run(
            [program, *where, *words], input=stdin, capture_output=True, text=True, timeout=60,
            env={"KUBECACHEDIR": str(cache), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip

    return command


@pytest.mark.parametrize(
    "words, stdin, code, out, err",
    [
        (["exec", "writes", "--", "echo", "a b"], "", 0, "a b\n", ""),
        (["exec", "writes", "--", "sh", "-c", "echo out; echo err >&2; exit 7"], "", 7, "out\n", "err\n"),
        (["exec", "-i", "writes", "--", "cat"], "hello", 0, "hello", ""),
        (["exec", "two", "-c", "b", "--", "true"], "", 0, "", ""),
        (["exec", "two", "-c", "c", "--", "true"], "", 1, "", "container c is not valid for pod two"),
        (["exec", "absent", "--", "true"], "", 1, "", 'pods "absent" not found'),
        (["logs", "two", "--all-containers", "--prefix"], "", 0, "[pod/two/a] of a\n[pod/two/b] of b\n", ""),
        (["logs", "again", "--previous"], "", 0, "first\n", ""),
    ],
)
def test_kubectl(run: Run, words: list[str], stdin: str, code: int, out: str, err: str) -> None:
    done = run(*words, stdin=stdin)

    # Containers are asked in no certain order.
    assert (done.returncode, sorted(done.stdout.splitlines())) == (code, sorted(out.splitlines())), done
    assert err in done.stderr


def test_a_command_that_is_not_there_cannot_be_executed(run: Run) -> None:
    done = run("exec", "writes", "--", "no-such-command")

    assert done.returncode != 0
    assert "no-such-command" in done.stderr

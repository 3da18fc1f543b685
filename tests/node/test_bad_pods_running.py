"""Programs that misbehave: each ends or goes on with the status, reason and event a kubelet has for it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.node.isolation_levels import levels_or_skip
from tests.node.pod_yard import NODE, Yard

from paddlecloud.embedded.node import procfs

pytestmark = pytest.mark.asyncio(loop_scope="module")
NUMBERS: Iterator[int] = count()
SERVE = "trap 'exit 0' TERM; while :; do sleep 0.05; done"
STUBBORN = "trap '' TERM; echo up; while :; do sleep 0.05; done"
LONG = 10_000_000


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["root", "plain"])
async def yard(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Yard]:
    it = Yard(tmp_path_factory.mktemp("bad"), levels_or_skip(request.param))
    yield it
    await it.close()


@pytest.fixture
def name() -> str:
    return f"p{next(NUMBERS)}"


def state(yard: Yard, name: str) -> dict[str, Any]:
    return dict(yard.now(name).status["containerStatuses"][0])


def ended(yard: Yard, name: str) -> dict[str, Any]:
    return dict(state(yard, name)["state"]["terminated"])


def told(yard: Yard, name: str, reason: str) -> list[str]:
    return [e.message for e in yard.shelf.events if e.involved_object["name"] == name and e.reason == reason]


def pid_of(yard: Yard, name: str) -> int:
    folder = yard.roster.find("d", name)
    assert folder is not None
    return folder.attempts("main")[-1].pid


def alive(pid: int) -> bool:
    try:
        return procfs.stat_fields(pid)[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize(
    "command, more, words",
    [
        (("no-such-command",), {}, 'exec: "no-such-command": executable file not found in $PATH'),
        (("/no/such/command",), {}, 'exec: "/no/such/command": no such file or directory'),
        (("/etc/passwd",), {}, 'exec: "/etc/passwd": permission denied'),
        (("true",), {"workingDir": "/etc/passwd"}, 'chdir to cwd ("/etc/passwd") failed: not a directory'),
        (
            ("true",),
            {"env": [{"name": f"V{number}", "value": "x" * 300} for number in range(10_000)]},
            'exec: "true": argument list too long',
        ),
    ],
    ids=["not-found", "no-file", "not-executable", "no-folder", "too-large"],
)
async def test_a_command_that_cannot_be_executed_is_an_error_of_the_start(
    yard: Yard, name: str, command: tuple[str, ...], more: dict[str, Any], words: str
) -> None:
    yard.run(*command, name=name, container=more)
    assert (await yard.finished(name)).phase == "Failed"
    assert (ended(yard, name)["reason"], ended(yard, name)["exitCode"]) == ("StartError", 128)
    assert words in ended(yard, name)["message"] and words in yard.log(name)
    assert words in told(yard, name, "Failed")[0] and not told(yard, name, "Started")


async def test_a_command_that_cannot_be_executed_is_tried_again_with_pauses(yard: Yard, name: str) -> None:
    yard.run("no-such-command", name=name, restartPolicy="Always")
    await yard.until(lambda: told(yard, name, "BackOff"))
    found = state(yard, name)
    assert found["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert found["lastState"]["terminated"]["reason"] == "StartError"
    yard.shelf.delete(yard.now(name))


async def test_a_container_without_any_command_is_not_created(yard: Yard, name: str) -> None:
    folder = yard.suites / "empty"
    folder.mkdir(exist_ok=True)
    (folder / "suite.yaml").write_text("name: empty\nimages: [empty]\npython: self\n")
    yard.run(name=name, container={"image": "empty"})
    await yard.until(lambda: told(yard, name, "Failed"))
    assert "Error: no command specified" in told(yard, name, "Failed")[0]
    assert state(yard, name)["state"]["waiting"]["reason"] == "CreateContainerError"
    yard.shelf.delete(yard.now(name))


async def test_ten_thousand_variables_and_odd_arguments_arrive_as_they_are(yard: Yard, name: str) -> None:
    env = [{"name": f"V{number}", "value": str(number)} for number in range(10_000)]
    odd = "a 'b' \"c\"\n$(V1) $$(V1) \\ é\t`id`"
    yard.run("python", "-c", "import sys, os; print(repr(sys.argv[1]), os.environ['V9999'])", odd,
             name=name, container={"env": env})  # fmt: skip
    await yard.finished(name)
    assert yard.log(name) == f"{odd.replace('$(V1)', '1', 1).replace('$$', '$')!r} 9999\n"


async def test_a_line_of_ten_megabytes_is_kept_whole(yard: Yard, name: str) -> None:
    yard.run("python", "-c", f"print('x' * {LONG}); print('end')", name=name)
    assert (await yard.finished(name)).phase == "Succeeded"
    folder = yard.home.pods(NODE) / yard.now(name).uid / "containers" / "main" / "0"
    files = sorted(folder.glob("log*"), key=lambda path: len(path.name))
    fields = [line.split(" ", 3) for path in files for line in path.read_text().splitlines()]
    text = "".join(words + ("\n" if kind == "F" else "") for _, _, kind, words in fields)
    assert [len(line) for line in text.splitlines()] == [LONG, 3] and text.endswith("end\n")


async def test_a_program_that_ignores_sigterm_is_killed_when_its_grace_ends(yard: Yard, name: str) -> None:
    yard.run("sh", "-c", STUBBORN, name=name)
    await yard.until(lambda: yard.log(name))
    pid = pid_of(yard, name)
    pod = yard.now(name)
    until = datetime.fromtimestamp(time.time() + 0.1, UTC)
    yard.shelf.put(pod.but(metadata=pod.metadata.but(deletion_timestamp=until)))
    await yard.until(lambda: told(yard, name, "Killing"))
    assert told(yard, name, "Killing") == ["Stopping container main"] and alive(pid)
    await yard.until(lambda: not alive(pid) and pod.key not in yard.shelf.pods)


async def test_a_pod_deleted_without_grace_is_gone_though_it_ignores_signals(yard: Yard, name: str) -> None:
    yard.run("sh", "-c", STUBBORN, name=name)
    await yard.until(lambda: yard.log(name))
    pid, folder = pid_of(yard, name), yard.home.pods(NODE) / yard.now(name).uid
    yard.shelf.delete(yard.now(name))
    await yard.until(lambda: not alive(pid) and not folder.exists())


async def test_a_process_that_was_stopped_is_killed_by_its_liveness_probe(yard: Yard, name: str) -> None:
    server = "import http.server, os; http.server.HTTPServer((os.environ['POD_IP'], 8080), " \
             "http.server.SimpleHTTPRequestHandler).serve_forever()"  # fmt: skip
    probe = {
        "httpGet": {"port": 8080}, "periodSeconds": 0.2, "timeoutSeconds": 1, "failureThreshold": 2,
        "terminationGracePeriodSeconds": 1, "initialDelaySeconds": 0.7,
    }  # fmt: skip
    ready = {"httpGet": {"port": 8080}}
    yard.run("python", "-c", server, name=name, restartPolicy="Always",
             container={"livenessProbe": probe, "readinessProbe": ready})  # fmt: skip
    await yard.until(lambda: yard.now(name).ready)
    stopped = pid_of(yard, name)
    os.kill(stopped, signal.SIGSTOP)
    # On a busy machine a probe may have failed before, too.
    await yard.until(
        lambda: not alive(stopped) and state(yard, name)["restartCount"] and yard.now(name).ready
    )
    assert state(yard, name)["lastState"]["terminated"]["signal"] == signal.SIGKILL
    assert told(yard, name, "Killing") == ["Container main failed liveness probe, will be restarted"]
    assert any(words.startswith("Liveness probe failed: Get ") for words in told(yard, name, "Unhealthy"))
    yard.shelf.delete(yard.now(name))


async def test_a_container_beyond_its_memory_says_so(yard: Yard, name: str) -> None:
    eat = "import time\nx = bytearray(300 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\ntime.sleep(60)"
    yard.run("python", "-c", eat, name=name, container={"resources": {"limits": {"memory": "64Mi"}}})
    await yard.finished(name)
    assert (ended(yard, name)["reason"], ended(yard, name)["exitCode"]) == ("OOMKilled", 137)


@pytest.mark.parametrize("network", [{}, {"hostNetwork": True}], ids=["pod", "host"])
async def test_of_two_pods_with_one_host_port_the_second_is_refused(
    yard: Yard, name: str, network: dict[str, Any]
) -> None:
    port = {"ports": [{"containerPort": 8080, "hostPort": 8080}]}
    yard.run("sh", "-c", SERVE, name=name, container=dict(port), **network)
    await yard.until(lambda: yard.now(name).phase == "Running")
    second = yard.run("true", name=f"{name}b", container=dict(port), **network).name
    pod = await yard.finished(second)
    assert (pod.phase, pod.status["reason"]) == ("Failed", "NodePorts")
    assert pod.status["message"] == "Pod was rejected: Predicate NodePorts failed"
    assert told(yard, second, "NodePorts") and not (yard.home.pods(NODE) / pod.uid).exists()
    yard.shelf.delete(yard.now(name))
    await yard.until(lambda: yard.roster.find("d", name) is None)
    third = yard.run("true", name=f"{name}c", container=dict(port), **network).name
    assert (await yard.finished(third)).phase == "Succeeded"


async def test_a_port_taken_on_the_host_is_the_programs_own_end(
    yard: Yard, name: str, tmp_path: Path
) -> None:
    bind = "import os, socket, time; s = socket.socket(); s.bind(('127.0.0.1', int(os.environ['P']))); " \
           "s.listen(); print(s.getsockname()[1], flush=True); time.sleep(600)"  # fmt: skip
    spec: dict[str, Any] = {"hostNetwork": True, "restartPolicy": "Always"}
    yard.run("python", "-c", bind, name=name, container={"env": [{"name": "P", "value": "0"}]}, **spec)
    await yard.until(lambda: yard.log(name).strip())
    taken = {"env": [{"name": "P", "value": yard.log(name).strip()}]}
    second = yard.run("python", "-c", bind, name=f"{name}b", container=taken, **spec).name
    await yard.until(lambda: told(yard, second, "BackOff"))
    assert "Address already in use" in yard.log(second)
    assert state(yard, second)["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert yard.now(name).status["podIP"] == yard.now(name).status["hostIP"]
    for pod in (name, second):
        yard.shelf.delete(yard.now(pod))

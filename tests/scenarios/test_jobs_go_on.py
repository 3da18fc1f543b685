"""Jobs that lose a pod go on; jobs that change their size train on. With real processes, and real Paddle."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.manifests import job
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.core import Event, Node, Pod
from paddlecloud.api.meta import Key
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.sdk.client import Client

ELASTIC = Path(__file__).parent.parent.parent / "examples" / "elastic"
# The first attempt ends as it is told; every later one succeeds.
ONCE = """
echo "attempt of $PADDLE_TRAINER_ID with $PADDLE_TRAINERS"
if [ -e /kept/$PADDLE_TRAINER_ID ]; then exit 0; fi
echo $PADDLE_TRAINERS > /kept/$PADDLE_TRAINER_ID
if [ $PADDLE_TRAINER_ID = 1 ]; then until [ -e /kept/0 ]; do sleep 0.1; done; HOW; fi
sleep 600
"""


def with_kept(body: dict[str, Any], folder: Path, *roles: str) -> dict[str, Any]:
    """The job with a folder that outlives its pods."""
    folder.chmod(0o777)
    for role in roles or ("worker",):
        spec = body["spec"][role]["template"]["spec"]
        spec["volumes"] = [{"name": "kept", "hostPath": {"path": str(folder)}}]
        spec["terminationGracePeriodSeconds"] = 1
        for container in spec["containers"]:
            container["volumeMounts"] = [{"name": "kept", "mountPath": "/kept"}]
    return body


def waited(
    client: Client, name: str, condition: Callable[[PaddleJob], bool], limit: float = 120
) -> PaddleJob:
    until(lambda: condition(client.get(PaddleJob, "default", name)), what=f"the state of {name}", limit=limit)
    return client.get(PaddleJob, "default", name)


def at_least(attempt: int) -> Callable[[PaddleJob], bool]:
    return lambda found: found.status.attempt >= attempt


def ended(found: PaddleJob) -> bool:
    return found.status.phase.final


def events(client: Client, name: str) -> list[Event]:
    return [e for e in client.list(Event, "default").items if e.involved_object.get("name") == name]


def reasons(client: Client, name: str) -> list[str]:
    return [e.reason for e in events(client, name)]


def uids(client: Client, name: str) -> dict[str, str]:
    pods = client.list(Pod, "default").items
    return {p.name: p.uid for p in pods if p.name.startswith(f"{name}-")}


def test_a_killed_worker_takes_its_peers_back_to_the_start(
    cluster: PdcHome, name: str, tmp_path: Path
) -> None:
    # Its first process cannot be killed from inside: one below it is, and it ends as that did.
    script = ONCE.replace("HOW", "sh -c 'kill -9 $$$$'; exit $?")
    cluster.apply(with_kept(job(name, script, workers=2, cleanPodPolicy="Never"), tmp_path))
    client = cluster.client()
    done = waited(client, name, ended)

    assert (done.status.phase, done.status.restarts, done.status.attempt) == ("Completed", 1, 1)
    assert "Restarting" in reasons(client, name)
    said = cluster.ok("logs", f"{name}-worker-0")
    addresses = said.split("with ")[1].strip()
    assert addresses != (tmp_path / "0").read_text().strip(), "the peers have new addresses"


def test_a_worker_that_takes_too_much_memory_is_named_and_all_begin_again_from_what_they_kept(
    cluster: PdcHome, name: str, tmp_path: Path
) -> None:
    hungry = "exec python -c \"import time; held = b'x' * (256 << 20); time.sleep(600)\""
    body = with_kept(job(name, ONCE.replace("HOW", hungry), workers=2), tmp_path)
    [container] = body["spec"]["worker"]["template"]["spec"]["containers"]
    container["resources"] = {"limits": {"cpu": "100m", "memory": "96Mi"}}
    cluster.apply(body)
    client = cluster.client()
    done = waited(client, name, ended)

    assert (done.status.phase, done.status.restarts) == ("Completed", 1)
    [told] = [e.message for e in events(client, name) if e.reason == "Restarting"]
    assert told.startswith(f"restart 1: pod {name}-worker-1 failed (OOMKilled, exit code 137)")


def test_a_job_whose_node_is_lost_goes_on_elsewhere(home: PdcHome, name: str) -> None:
    home.ok("up", "--detach", "--nodes", "2")
    body = job(name, "trap 'exit 0' TERM; sleep 600 & wait", workers=2)
    home.apply(body)
    with home.client() as client:
        waited(client, name, lambda j: j.status.phase == "Running")
        before = uids(client, name)
        lost = client.get(Pod, "default", f"{name}-worker-1").node
        taint = {"key": "lost", "effect": "NoExecute"}
        client.patch(Node, Key("", lost), {"spec": {"taints": [taint]}})
        done = waited(client, name, lambda j: j.status.restarts == 1 and j.status.phase == "Running")

        pods = [p for p in client.list(Pod, "default").items if p.name.startswith(f"{name}-")]
        assert done.status.attempt == 1 and lost not in {p.node for p in pods}
        assert len(pods) == 2 and not set(before.values()) & {p.uid for p in pods}


def test_an_error_of_the_program_is_told_at_once_or_tried_again_as_asked(
    cluster: PdcHome, name: str, tmp_path: Path
) -> None:
    script = "echo counted >> /kept/n; echo no such column; exit 3"
    client = cluster.client()
    cases: tuple[tuple[dict[str, Any], int], ...] = (({}, 1), ({"backoffLimit": 1}, 2))
    for given, times in cases:
        called = f"{name}-{times}"
        (tmp_path / called).mkdir()
        cluster.apply(with_kept(job(called, script, **given), tmp_path / called))
        done = waited(client, called, ended)
        message = next(c.message for c in done.status.conditions if c.type == "Failed")
        assert done.status.phase == "Failed" and done.status.restarts == times - 1
        assert "exit code 3" in message and message.endswith("no such column")
        assert (tmp_path / called / "n").read_text().count("counted") == times


def test_a_pod_that_is_deleted_from_a_collective_job_comes_back_with_all_the_others(
    cluster: PdcHome, name: str
) -> None:
    cluster.apply(job(name, "trap 'exit 0' TERM; sleep 600 & wait", workers=2))
    client = cluster.client()
    waited(client, name, lambda j: j.status.phase == "Running")
    before = uids(client, name)
    client.delete(Pod, Key("default", f"{name}-worker-1"))
    waited(client, name, lambda j: j.status.restarts == 1 and j.status.phase == "Running")

    assert not set(before.values()) & set(uids(client, name).values())
    client.delete(PaddleJob, Key("default", name))


def test_a_worker_that_is_deleted_from_its_servers_comes_back_alone(cluster: PdcHome, name: str) -> None:
    body = job(name, "trap 'exit 0' TERM; sleep 600 & wait", workers=2)
    body["spec"]["ps"] = {"replicas": 1, "template": body["spec"]["worker"]["template"]}
    cluster.apply(body)
    client = cluster.client()
    waited(client, name, lambda j: j.status.phase == "Running")
    before = uids(client, name)
    client.delete(Pod, Key("default", f"{name}-worker-1"))
    gone = f"{name}-worker-1"
    until(lambda: uids(client, name).get(gone) not in (None, before[gone]), what="another worker")
    waited(client, name, lambda j: j.status.phase == "Running")

    after = uids(client, name)
    assert {n for n in before if before[n] != after[n]} == {gone}
    client.delete(PaddleJob, Key("default", name))


@pytest.mark.long
@pytest.mark.parametrize("numbers", [(3, 2)])
def test_an_elastic_job_trains_on_with_more_and_with_fewer(
    cluster: PdcHome, numbers: tuple[int, ...]
) -> None:
    """The example, with Paddle: the loss falls from the first number of workers to the last."""
    client = cluster.client()
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "elastic-code"},
            "data": {"train.py": (ELASTIC / "train.py").read_text()},
        }
    )
    cluster.ok("apply", "-f", str(ELASTIC / "job.yaml"))
    key, losses = Key("default", "elastic"), []

    def losses_now() -> list[float]:
        text = cluster.pdc("logs", "elastic-worker-0", "-c", "paddle").text
        return [float(found) for found in re.findall(r"loss ([\d.]+)", text)]

    for attempt, number in enumerate(numbers, 1):
        waited(client, "elastic", lambda j: j.status.phase == "Running")
        until(lambda: len(losses_now()) >= 3, what="some steps", limit=120)
        losses += losses_now()
        client.patch(PaddleJob, key, {"spec": {"worker": {"replicas": number}}})
        waited(client, "elastic", at_least(attempt))
    done = waited(client, "elastic", ended, 240)
    losses += losses_now()

    assert done.status.phase == "Completed" and done.status.restarts == 0
    assert reasons(client, "elastic").count("Scaled") == len(numbers)
    said = cluster.ok("logs", "elastic-worker-0", "-c", "paddle")
    begins = re.findall(r"worker 0 of (\d) begins with epoch (\d) after (\d+) samples", said)
    assert begins and int(begins[-1][0]) == numbers[-1]
    assert (int(begins[-1][1]), int(begins[-1][2])) != (0, 0), "it went on, and did not begin anew"
    assert losses[-1] < losses[0] / 3
    client.delete(PaddleJob, key)

"""What the pods of a job say: together, as it comes, and after they are gone."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.core import Pod

SAYS = "echo hello from $PADDLE_TRAINER_ID; echo second; echo last"


def a_job(name: str, script: str = SAYS, **roles: int) -> dict[str, Any]:
    container = {"name": "main", "image": "python", "command": ["sh", "-c", script]}
    made = {r: {"replicas": n, "template": {"spec": {"containers": [container]}}} for r, n in roles.items()}
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"cleanPodPolicy": "Always", **made},
    }


def has_no_pods(cluster: PdcHome, name: str) -> bool:
    with cluster.client() as client:
        return not [pod for pod in client.list(Pod, "default").items if pod.name.startswith(name)]


@pytest.fixture(scope="module")
def cleaned(cluster: PdcHome) -> str:
    """A job that has ended, and its pods are gone."""
    name = "cleaned"
    cluster.apply(a_job(name, worker=2))
    cluster.ok("wait", f"job/{name}", "--for", "Completed", "--timeout", "120")
    until(lambda: has_no_pods(cluster, name), what="the pods to go", limit=60)
    return name


@pytest.mark.parametrize(
    "words, said",
    [
        (["--tail", "1"], "[worker-0] last\n[worker-1] last\n"),
        (["--tail", "1", "--role", "worker"], "[worker-0] last\n[worker-1] last\n"),
        (["-f", "--tail", "1"], None),
        (["-c", "main", "--since", "1h", "--tail", "1"], "[worker-0] last\n[worker-1] last\n"),
    ],
)  # fmt: skip
def test_the_log_of_a_job_outlives_its_pods(
    cluster: PdcHome, cleaned: str, words: list[str], said: str | None
) -> None:
    text = cluster.ok("logs", f"job/{cleaned}", *words)

    assert said is None or text == said
    assert Counter(text.splitlines())["[worker-1] last"] == 1


def test_the_log_of_one_pod_outlives_it_and_is_said_to(cluster: PdcHome, cleaned: str) -> None:
    told = cluster.ok("logs", f"pod/{cleaned}-worker-1", "--tail", "1", "--timestamps")

    assert f"pod {cleaned}-worker-1 is gone; this was kept of its log:" in told
    assert re.search(r"^\d{4}-\d\d-\d\dT\S+Z last$", told, re.MULTILINE)


def test_a_role_that_a_job_has_not_is_said(cluster: PdcHome, cleaned: str) -> None:
    said = cluster.pdc("logs", f"job/{cleaned}", "--role", "ps")
    assert said.code == 1 and "has no ps; it has: worker" in said.text
    assert cluster.pdc("logs", f"pod/{cleaned}-worker-0", "--role", "ps").code == 2


def test_even_the_log_of_a_job_that_is_gone_itself_is_kept(cluster: PdcHome, name: str) -> None:
    cluster.apply(a_job(name, "echo alone", worker=1))
    cluster.ok("wait", f"job/{name}", "--for", "Completed", "--timeout", "120")
    cluster.ok("delete", "job", name)
    until(lambda: has_no_pods(cluster, name), what="the pods to go", limit=60)

    told = cluster.ok("logs", f"pdj/{name}")
    assert f"job {name} is gone" in told and "[worker-0] alone" in told
    nobody = cluster.pdc("logs", "job/never-was")
    assert nobody.code == 1 and "no log of one is kept" in nobody.text


def test_a_job_is_followed_from_before_its_first_pod_to_its_end_and_servers_are_not_waited_for(
    cluster: PdcHome, name: str, tmp_path: Path
) -> None:
    script = 'echo $TRAINING_ROLE begins; [ $TRAINING_ROLE = PSERVER ] && sleep 600; sleep 2; echo "ends"'
    body = a_job(name, script, ps=1, worker=2)
    body["spec"] |= {"suspend": True, "cleanPodPolicy": "Never"}
    body["spec"]["ps"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1
    cluster.apply(body)
    with cluster.running("logs", f"job/{name}", "-f") as following:
        cluster.apply({**body, "spec": {**body["spec"], "suspend": False}})
        said = following.ended(120)

    assert said.code == 0
    assert Counter(said.text.splitlines()) == Counter({
        "[ps-0] PSERVER begins": 1, "[worker-0] TRAINER begins": 1, "[worker-1] TRAINER begins": 1,
        "[worker-0] ends": 1, "[worker-1] ends": 1,
    })  # fmt: skip
    cluster.ok("delete", "job", name)


def test_a_pod_that_is_replaced_is_followed_on(cluster: PdcHome, name: str) -> None:
    body = a_job(name, "echo begins; sleep 8; echo ends", worker=2)
    cluster.apply(body)
    with cluster.running("logs", f"job/{name}", "-f") as following:
        following.until_said("[worker-1] begins")
        cluster.ok("delete", "pod", f"{name}-worker-1")
        said = following.ended(120)

    assert said.code == 0 and "[worker-0] ends" in said.text
    assert Counter(said.text.splitlines())["[worker-1] begins"] == 2

"""Three nodes and an unmodified kubectl: pods, workloads, visits, all the way to the processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kubectl import Kubectl, own_program
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome, fresh_home

WAITS = "--timeout=60s"
NODES = ["node-0", "node-1", "node-2"]
# The first process of a container hears only the signals it asks for.
STAY = ("sh", "-c", "trap 'exit 0' TERM; sleep 600 & wait")


@pytest.fixture(scope="module")
def nodes() -> Iterator[PdcHome]:
    with fresh_home() as home:
        home.ok("up", "--detach", "--nodes", "3", "--pretend-gpus", "2", "--node-label", "zone=a")
        yield home


@pytest.fixture
def kubectl(nodes: PdcHome, tmp_path: Path, name: str) -> Iterator[Kubectl]:
    program = own_program().path
    if program is None:
        pytest.skip("kubectl is not built: make test-kubernetes builds it")
    made = Kubectl(program, nodes.home.kubeconfig, name, tmp_path)
    made("create", "namespace", name)
    yield made
    made("delete", "namespace", name, "--wait=false")


def pods(kubectl: Kubectl, selector: str = "") -> list[dict[str, Any]]:
    wish = ["-l", selector] if selector else []
    found: list[dict[str, Any]] = kubectl.json("get", "pods", *wish)["items"]
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def test_nodes_are_ready_honest_and_leased(kubectl: Kubectl) -> None:
    kubectl("wait", "--for=condition=Ready", "nodes", "--all", WAITS)
    found = kubectl.json("get", "nodes", "-l", "zone=a")["items"]
    assert [node["metadata"]["name"] for node in found] == NODES
    for node in found:
        status = node["status"]
        assert status["capacity"]["nvidia.com/gpu"] == status["allocatable"]["nvidia.com/gpu"] == "2"
        whole, share = (int(status[k]["memory"].removesuffix("Ki")) for k in ("capacity", "allocatable"))
        assert share <= whole // 3, "three nodes do not promise the memory of one machine three times"
    leases = kubectl.json("get", "leases", "-n", "kube-node-lease")["items"]
    assert [lease["spec"]["holderIdentity"] for lease in leases] == NODES
    said = kubectl("describe", "node", "node-0")
    for words in ("KubeletHasSufficientMemory", "PIDPressure", "PretendedDevices", "NodeReady", "RenewTime"):
        assert words in said, said


def test_a_pod_is_run_told_of_and_visited(kubectl: Kubectl) -> None:
    kubectl("run", "one", "--image=busybox", "--", *STAY)
    kubectl("wait", "--for=condition=Ready", "pod/one", WAITS)
    said = kubectl("describe", "pod", "one")
    for reason in ("Scheduled", "Pulled", "Created", "Started"):
        assert reason in said, said
    words = ["debug", "one", "--image=busybox", "--target=one", "--profile=general"]
    kubectl(*words, "--container=look", "--", "sh", "-c", "ps; echo seen; trap exit TERM; sleep 600 & wait")
    until(lambda: "seen" in kubectl.run("logs", "one", "-c", "look").stdout, what="the words of the visitor")
    assert "sleep" in kubectl("logs", "one", "-c", "look"), "the processes of the other container"
    assert kubectl("exec", "one", "-c", "look", "--", "echo", "too").strip() == "too"

    attached = kubectl.run(*words, "--container=talk", "-i", "--", "sh", stdin="echo $((20 + 3)); exit 4\n")
    assert "23" in attached.stdout, attached.stderr

    def ends() -> list[Any]:
        found = kubectl.json("get", "pod", "one")["status"].get("ephemeralContainerStatuses") or []
        return [s["state"].get("terminated", {}).get("exitCode") for s in found]

    until(lambda: ends() == [None, 4], what=f"the end of the second visitor, there is {ends()}")
    assert pods(kubectl)[0]["status"]["phase"] == "Running"
    assert "Ephemeral Containers" in kubectl("describe", "pod", "one")


def test_a_deployment_is_rolled_out_undone_restarted_paused_and_scaled(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=busybox:1", "--replicas=2", "--", *STAY)
    kubectl("rollout", "status", "deployment/web", WAITS)
    kubectl("set", "image", "deployment/web", "busybox=busybox:2")
    kubectl("rollout", "status", "deployment/web", WAITS)
    history = kubectl("rollout", "history", "deployment/web").split("\n")
    assert [line.split()[0] for line in history if line[:1].isdigit()] == ["1", "2"]
    kubectl("rollout", "undo", "deployment/web")
    kubectl("rollout", "status", "deployment/web", WAITS)
    assert {pod["spec"]["containers"][0]["image"] for pod in pods(kubectl)} == {"busybox:1"}
    before = {pod["metadata"]["uid"] for pod in pods(kubectl)}
    kubectl("rollout", "restart", "deployment/web")
    kubectl("rollout", "status", "deployment/web", WAITS)
    until(
        lambda: not before & {pod["metadata"]["uid"] for pod in pods(kubectl)},
        what="other pods after a restart",
    )
    kubectl("rollout", "pause", "deployment/web")
    kubectl("set", "env", "deployment/web", "A=b")
    assert "paused" in kubectl("describe", "deployment", "web").lower()
    kubectl("rollout", "resume", "deployment/web")
    kubectl("scale", "deployment/web", "--replicas=3")
    kubectl("rollout", "status", "deployment/web", WAITS)
    until(lambda: len(pods(kubectl)) == 3, what="three pods")

    gone = pods(kubectl)[0]["metadata"]["name"]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": gone}}
    path = f"/api/v1/namespaces/{kubectl.namespace}/pods/{gone}/eviction"
    kubectl("create", "--raw", path, "-f", "-", stdin=eviction)
    until(
        lambda: gone not in (left := [p["metadata"]["name"] for p in pods(kubectl)]) and len(left) == 3,
        what="another pod for the evicted one",
    )


def stateful_set(name: str) -> dict[str, Any]:
    containers = [{"name": "c", "image": "busybox", "command": list(STAY)}]
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "serviceName": name,
            "replicas": 2,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": containers, "terminationGracePeriodSeconds": 1},
            },
        },
    }


def test_a_stateful_set_grows_and_shrinks_by_its_numbers(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=stateful_set("db"))
    kubectl("rollout", "status", "statefulset/db", WAITS)
    assert [pod["metadata"]["name"] for pod in pods(kubectl)] == ["db-0", "db-1"]
    assert kubectl("exec", "db-1", "--", "sh", "-c", "echo $HOSTNAME").strip() == "db-1"
    kubectl("scale", "statefulset/db", "--replicas=1")
    until(lambda: [pod["metadata"]["name"] for pod in pods(kubectl)] == ["db-0"], what="the first alone")


def test_jobs_run_by_index_and_by_schedule(kubectl: Kubectl) -> None:
    script = "echo index $JOB_COMPLETION_INDEX"
    containers = [{"name": "c", "image": "busybox", "command": ["sh", "-c", script]}]
    template = {"spec": {"restartPolicy": "Never", "containers": containers}}
    spec = {"completions": 3, "parallelism": 3, "completionMode": "Indexed", "template": template}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "parts"}, "spec": spec}
    kubectl("create", "-f", "-", stdin=job)
    kubectl("wait", "--for=condition=Complete", "job/parts", WAITS)
    lines = kubectl("logs", "-l", "job-name=parts").split("\n")
    assert sorted(line for line in lines if line) == ["index 0", "index 1", "index 2"]
    assert kubectl.json("get", "job", "parts")["status"]["completedIndexes"] == "0-2"

    kubectl("create", "cronjob", "nightly", "--image=busybox", "--schedule=0 3 * * *", "--", "echo", "done")
    kubectl("create", "job", "now", "--from=cronjob/nightly")
    kubectl("wait", "--for=condition=Complete", "job/now", WAITS)
    assert kubectl("logs", "job/now").strip() == "done"


def test_a_cordoned_node_gets_no_pods(kubectl: Kubectl) -> None:
    for node in NODES[:2]:
        kubectl("cordon", node)
    try:
        kubectl("create", "deployment", "tight", "--image=busybox", "--replicas=3", "--", *STAY)
        kubectl("rollout", "status", "deployment/tight", WAITS)
        assert {pod["spec"]["nodeName"] for pod in pods(kubectl)} == {"node-2"}
        assert "SchedulingDisabled" in kubectl("get", "node", "node-0")
    finally:
        for node in NODES[:2]:
            kubectl("uncordon", node)
    until(lambda: "SchedulingDisabled" not in kubectl("get", "nodes"), what="nodes that take pods again")


def test_pods_left_running_are_taken_back_with_their_logs_and_ends(nodes: PdcHome, kubectl: Kubectl) -> None:
    counting = "trap 'exit 0' TERM; i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done"
    kubectl("run", "stays", "--image=busybox", "--", "sh", "-c", counting)
    kubectl("run", "ends", "--image=busybox", "--restart=Never", "--", "sh", "-c", "sleep 1; exit 7")
    kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod/stays", "pod/ends", WAITS)
    before = {p for p in nodes.processes() if counting.encode() in command(p)}

    assert "containers run on" in nodes.ok("down", "--leave-running")
    assert nodes.pdc("status").code == 3
    assert before and before <= set(nodes.processes())
    nodes.ok("up", "--detach")

    kubectl("wait", "--for=jsonpath={.status.phase}=Failed", "pod/ends", WAITS)
    [ended] = kubectl.json("get", "pod", "ends")["status"]["containerStatuses"]
    assert ended["state"]["terminated"]["exitCode"] == 7, "an end that nobody was there for"
    [stayed] = kubectl.json("get", "pod", "stays")["status"]["containerStatuses"]
    assert stayed["restartCount"] == 0 and before <= set(nodes.processes())
    seen = [int(line) for line in kubectl("logs", "stays").split()]
    assert seen == list(range(1, len(seen) + 1)), "the log has a hole"


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""

"""PaddleJobs from their start to their end, with pods that really run: the same on ours and on a kubelet."""

from __future__ import annotations

import pytest
from tests.contracts.node_cases import Body
from tests.contracts.node_jobs import LIVES, PYTHON, NodeJobs, role

SAYS = 'echo "epoch 2/4 loss: 0.25"; echo "$HOSTNAME has said it"'
CLEANED = [
    ("Always", "Completed", True), ("Always", "Failed", True),
    ("Never", "Completed", False), ("Never", "Failed", False),
    ("OnCompletion", "Completed", True), ("OnCompletion", "Failed", False),
    ("OnFailure", "Completed", False), ("OnFailure", "Failed", True),
]  # fmt: skip
NOBODY = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
RESTRICTED = {
    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
}  # fmt: skip
# Listens where the others look for it, and ends when all have met all.
MEETS = """
import os, socket, threading, time
def patiently(deed, *words):
    end = time.monotonic() + 40
    while True:
        try:
            return deed(*words)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
places = [place.rsplit(":", 1) for place in os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")]
own = int(places[int(os.environ["PADDLE_TRAINER_ID"])][1])
listener = patiently(socket.create_server, (os.environ["POD_IP"], own))
for host, port in places:
    call = lambda place=(host, int(port)): patiently(socket.create_connection, place, 2)
    threading.Thread(target=call).start()
for _ in places:
    listener.accept()
print("met", *(host for host, _ in places))
"""


def called(policy: str, end: str) -> str:
    return f"{policy}-{end}".lower()


def ends(policy: str, end: str) -> Body:
    return {"cleanPodPolicy": policy, "worker": role(1, SAYS if end == "Completed" else f"{SAYS}; exit 3")}


def meets(intranet: str) -> Body:
    return {"cleanPodPolicy": "Never", "intranet": intranet, "worker": role(2, MEETS, PYTHON)}


def serves(policy: str) -> Body:
    return {"cleanPodPolicy": policy, "ps": role(1, LIVES), "worker": role(1, "true")}


CASES = {
    **{called(policy, end): ends(policy, end) for policy, end, _ in CLEANED},
    "meet-podip": meets("PodIP"),
    "meet-service": meets("Service"),
    "meet-host": meets("Host"),
    "served-never": serves("Never"),
    "served-oncompletion": serves("OnCompletion"),
}


@pytest.fixture(scope="module")
def made(node_jobs: NodeJobs) -> NodeJobs:
    node_jobs.make_all(CASES)
    return node_jobs


@pytest.mark.parametrize("intranet", ["PodIP", "Service", "Host"])
def test_workers_meet_under_the_endpoints_they_are_told(made: NodeJobs, intranet: str) -> None:
    if intranet == "Service" and not made.names:
        pytest.skip("nobody looks up names on this cluster: FULL=1 make test-kubernetes builds CoreDNS")
    name = f"meet-{intranet.lower()}"

    made.comes_to(name, "Completed")

    hosts = made.endpoints(name)["PADDLE_TRAINERS"].split(",")
    pods = made.all(name)
    expected = [*pods] if intranet == "Service" else [pod["status"]["podIP"] for pod in pods.values()]
    assert hosts == expected
    for pod in pods:
        assert f"met {' '.join(hosts)}" in made.log(pod)
    if intranet == "Host":
        places = made.endpoints(name)["PADDLE_TRAINER_ENDPOINTS"].split(",")
        assert len({place.rsplit(":")[1] for place in places}) == 2, "one node, two ports"
        assert {pod["status"]["hostIP"] for pod in pods.values()} == set(hosts)


@pytest.mark.parametrize("policy, end, cleaned", CLEANED)
def test_pods_stay_or_go_as_their_policy_says_and_what_they_said_stays(
    made: NodeJobs, policy: str, end: str, cleaned: bool
) -> None:
    name = called(policy, end)
    status = made.comes_to(name, end)
    if cleaned:
        made.gone(name)

    assert len(made.all(name)) == (0 if cleaned else 1)
    assert status["worker"]["ready"] == "0/1"
    assert (status["progress"]["done"], status["progress"]["total"]) == (2, 4)
    assert f"{name}-worker-0 has said it" in made.kept(name)
    if end == "Failed":
        message = made.condition(name, "Failed")["message"]
        assert "exit code 3" in message and message.endswith(f"{name}-worker-0 has said it")


@pytest.mark.parametrize("policy, left", [("Never", 2), ("OnCompletion", 0)])
def test_servers_go_with_the_workers_that_succeeded_unless_all_stay(
    made: NodeJobs, policy: str, left: int
) -> None:
    name = f"served-{policy.lower()}"
    status = made.comes_to(name, "Completed")
    if not left:
        made.gone(name)

    assert (status["mode"], status["ps"]["ready"], status["worker"]["ready"]) == ("PS", "1/1", "0/1")
    phases = [pod["status"]["phase"] for pod in made.all(name).values()]
    assert phases == ["Running", "Succeeded"][:left]
    made.remove(name)


def test_a_gate_bears_what_the_program_beside_it_bears(node_jobs: NodeJobs, job_level: str) -> None:
    """A pod that is Guaranteed stays so, and one that may do nothing as root and write nowhere begins."""
    if job_level in ("user", "plain"):
        pytest.skip("where the platform is no root, all pods are of its own user")
    whole = role(2, "id -u; echo with $PADDLE_TRAINERS_NUM", securityContext=NOBODY)
    [container] = whole["template"]["spec"]["containers"]
    limits = {"cpu": "50m", "memory": "64Mi"}
    container |= {"securityContext": RESTRICTED, "resources": {"limits": limits}}
    node_jobs.make("careful", cleanPodPolicy="Never", worker=whole)
    node_jobs.comes_to("careful", "Completed")

    for name, pod in node_jobs.all("careful").items():
        [gate] = pod["spec"]["initContainers"]
        assert (pod["status"]["qosClass"], gate["securityContext"]) == ("Guaranteed", RESTRICTED)
        assert node_jobs.log(name).split() == ["1000", "with", "2"]
    node_jobs.remove("careful")


def test_servers_begin_before_workers_and_those_before_heterogeneous_ones(node_jobs: NodeJobs) -> None:
    tells = f"env | sort; {LIVES}"
    roles = {"ps": role(2, tells), "worker": role(2, tells), "heter": role(1, tells)}
    with node_jobs.witness("ordered") as witness:
        node_jobs.make("ordered", **roles, withGloo=1)
        begun = witness.sees(5)
    status = node_jobs.comes_to("ordered", "Running")

    assert [name.split("-")[1] for name in begun] == ["ps", "ps", "worker", "worker", "heter"]
    assert witness.waited_for <= {"", "PodInitializing", "ContainerCreating"}, "no program failed to begin"
    assert [status[name]["ready"] for name in roles] == ["2/2", "2/2", "1/1"]
    addresses = {name: pod["status"]["podIP"] for name, pod in node_jobs.all("ordered").items()}
    told = node_jobs.endpoints("ordered")
    port = told["PADDLE_PORT"]
    for variable, name in (
        ("PADDLE_PSERVERS_IP_PORT_LIST", "ps"),
        ("PADDLE_TRAINER_ENDPOINTS", "worker"),
        ("PADDLE_HETER_ENDPOINTS", "heter"),
    ):
        own = [address for pod, address in addresses.items() if pod.startswith(f"ordered-{name}-")]
        assert told[variable] == ",".join(f"{address}:{port}" for address in own)
    for pod, role_name, rank in (("ps-1", "PSERVER", "1"), ("worker-0", "TRAINER", "0")):
        own_lines = {
            "TRAINING_ROLE": role_name,
            "PADDLE_TRAINER_ID": rank,
            "POD_IP": addresses[f"ordered-{pod}"],
        }
        seen = node_jobs.log(f"ordered-{pod}").splitlines()
        assert {f"{k}={v}" for k, v in (told | own_lines).items()} <= set(seen)
    node_jobs.remove("ordered")

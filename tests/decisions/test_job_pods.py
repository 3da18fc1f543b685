"""The pods of a job and the ConfigMap through which they find each other."""

from __future__ import annotations

from typing import Any

import pytest
from tests.decisions.builders import NOW, a_job, a_role, pods_of

from paddlecloud.api.core import ConfigMap
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.controllers.contract import Decision, plan
from paddlecloud.controllers.endpoints import endpoints
from paddlecloud.controllers.jobpods import make_pod
from paddlecloud.controllers.jobports import BLOCKS, FIRST_PORT, PORTS_A_JOB, port_of
from paddlecloud.controllers.jobservices import services
from paddlecloud.controllers.membership import members
from paddlecloud.controllers.startorder import LITTLE, START


def environment(job: PaddleJob, role: str = "worker", index: int = 0) -> dict[str, Any]:
    container = make_pod(job, role, index).spec["containers"][0]
    return {e["name"]: e.get("value", e.get("valueFrom")) for e in container["env"]}


def by_name(job: PaddleJob, **phases: Any) -> dict[str, Any]:
    return {p.name: p for p in pods_of(job, **phases)}


def found(job: PaddleJob, **phases: Any) -> dict[str, str]:
    [made] = endpoints(job, members(job, by_name(job, **phases), NOW))
    return made.data


@pytest.mark.parametrize(
    "role, index, word", [("ps", 1, "PSERVER"), ("worker", 0, "TRAINER"), ("heter", 0, "HETER")]
)
def test_a_pod_knows_its_role_and_its_number(role: str, index: int, word: str) -> None:
    given = environment(a_job(ps=2, worker=1, heter=1), role, index)

    assert given == {
        "POD_IP": {"fieldRef": {"fieldPath": "status.podIP"}},
        "PADDLE_TRAINER_ID": str(index),
        "TRAINING_ROLE": word,
        "PADDLE_TRAINING_ROLE": word,
    }


def test_with_services_a_pod_is_known_by_its_name() -> None:
    assert environment(a_job(worker=1, intranet="Service"))["POD_IP"] == "wide-deep-worker-0"


def test_the_template_is_kept_and_what_the_operator_says_is_said_last() -> None:
    own = {"name": "main", "image": "i", "env": [{"name": "TRAINING_ROLE", "value": "mine"}], "tty": True}
    role = a_role(1, containers=[own], hostNetwork=True, restartPolicy="OnFailure")
    role["template"]["metadata"] = {"labels": {"team": "vision", "paddle-res-type": "other"}}
    pod = make_pod(a_job(worker=role), "worker", 0)

    assert pod.metadata.labels == {
        "team": "vision", "paddle-res-type": "worker", "paddle-res-name": "wide-deep-worker-0",
        "paddle-job-name": "wide-deep",
    }  # fmt: skip
    assert pod.spec["hostNetwork"] is True and pod.spec["restartPolicy"] == "OnFailure"
    assert pod.spec["containers"][0]["tty"] is True
    said = [e["value"] for e in pod.spec["containers"][0]["env"] if e["name"] == "TRAINING_ROLE"]
    assert said == ["mine", "TRAINER"]
    assert role["template"]["spec"]["containers"][0]["env"] == own["env"]  # the job itself is not touched


@pytest.mark.parametrize(
    "spec, role, given, policy",
    [
        ({}, "worker", None, "Never"),
        ({}, "worker", "Always", "Always"),
        ({"intranet": "Service"}, "worker", None, "OnFailure"),
        ({"intranet": "Service"}, "worker", "Never", "Never"),
        ({"intranet": "Service"}, "ps", None, "Never"),
        ({"elastic": 1}, "worker", "Never", "OnFailure"),
    ],
)
def test_whether_a_pod_that_ended_comes_back(
    spec: dict[str, Any], role: str, given: str | None, policy: str
) -> None:
    group = a_role(1, **({"restartPolicy": given} if given else {}))
    roles: dict[str, Any] = {"worker": 1, "ps": 1, role: group}
    job = a_job(**roles, **spec)
    assert make_pod(job, role, 0).spec["restartPolicy"] == policy


def test_on_the_network_of_the_host_names_of_the_cluster_are_still_found() -> None:
    spec = make_pod(a_job(worker=1, intranet="Host"), "worker", 0).spec
    assert (spec["hostNetwork"], spec["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")


def test_a_pod_waits_for_its_start_in_its_own_image_after_the_init_containers_of_the_template() -> None:
    own = {"name": "fetch", "image": "tool"}
    role = a_role(1, containers=[{"name": "main", "image": "paddle:3"}], initContainers=[own])
    spec = make_pod(a_job(worker=role), "worker", 0).spec
    first, gate = spec["initContainers"]

    assert first == own
    assert (gate["name"], gate["image"], gate["command"][0]) == ("coord-paddle", "paddle:3", "sh")
    [mount], [volume] = gate["volumeMounts"], spec["volumes"]
    assert mount["name"] == volume["name"]
    shown = volume["downwardAPI"]["items"][0]
    assert shown["fieldRef"]["fieldPath"] == f"metadata.annotations['{START}']"
    assert f"{mount['mountPath']}/{shown['path']}" in gate["command"][2]
    # The containers themselves see nothing of it.
    assert "volumeMounts" not in spec["containers"][0]


GUARANTEED = {"cpu": "2", "memory": "4Gi"}
CAREFUL = {"runAsNonRoot": True, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


@pytest.mark.parametrize(
    "asked, gate",
    [
        (None, LITTLE),
        ({"limits": {"nvidia.com/gpu": 1}}, LITTLE),  # a device is no gate's
        ({"requests": {"cpu": "1"}}, {"requests": {"cpu": "1"}}),
        ({"limits": GUARANTEED}, {"limits": GUARANTEED}),
        (
            {"requests": GUARANTEED, "limits": GUARANTEED | {"nvidia.com/gpu": 1}},
            {"requests": GUARANTEED, "limits": GUARANTEED},
        ),
    ],
)
def test_a_gate_asks_for_what_its_neighbour_asks_for(asked: Any, gate: Any) -> None:
    container = {"name": "main", "image": "paddle:3"} | ({"resources": asked} if asked else {})
    spec = make_pod(a_job(worker=a_role(1, containers=[container])), "worker", 0).spec

    assert spec["initContainers"][0]["resources"] == gate


def test_a_gate_has_the_rights_of_its_neighbour() -> None:
    container = {"name": "main", "image": "paddle:3", "securityContext": CAREFUL}
    spec = make_pod(a_job(worker=a_role(1, containers=[container])), "worker", 0).spec

    assert spec["initContainers"][0]["securityContext"] == CAREFUL


def test_with_services_every_pod_has_its_own_with_all_ports_of_the_job() -> None:
    job = a_job(ps=1, worker=2, intranet="Service")
    made = services(job)

    assert [s.name for s in made] == ["wide-deep-ps-0", "wide-deep-worker-0", "wide-deep-worker-1"]
    assert made[1].spec["clusterIP"] == "None" and made[1].spec["publishNotReadyAddresses"]
    assert made[1].spec["selector"].items() <= make_pod(job, "worker", 0).metadata.labels.items()
    ports = {p["name"]: p["port"] for p in made[1].spec["ports"]}
    assert ports == {f"p-{i}": port_of(job) + i for i in range(20)}


@pytest.mark.parametrize("intranet", ["PodIP", "Host"])
def test_by_address_no_services_are_needed(intranet: str) -> None:
    assert services(a_job(worker=2, intranet=intranet)) == ()


def test_the_data_is_mounted_in_every_container() -> None:
    job = a_job(
        worker=a_role(1, containers=[{"name": "a"}, {"name": "b"}]),
        sampleSetRef={"name": "digits", "mountPath": "/data"},
    )
    spec = make_pod(job, "worker", 0).spec

    assert spec["volumes"][0] == {"name": "digits", "persistentVolumeClaim": {"claimName": "digits"}}
    mounts = [c["volumeMounts"] for c in spec["containers"]]
    assert mounts == [[{"name": "digits", "mountPath": "/data"}]] * 2


@pytest.mark.parametrize("pods", [{}, {"worker": ["Running"]}, {"worker": ["Running", "Pending"]}])
def test_there_are_no_endpoints_until_every_pod_has_an_address(pods: dict[str, Any]) -> None:
    job = a_job(worker=2)

    assert endpoints(job, members(job, by_name(job, **pods), NOW)) == ()


def test_collective_workers_find_each_other() -> None:
    job = a_job(worker=2)
    port = port_of(job)

    assert found(job, worker="Running") == {
        "TRAINER_PORTS_NUM": "20",
        "PADDLE_PORT": str(port),
        "PADDLE_TRAINER_ENDPOINTS": f"127.64.0.1:{port},127.64.0.2:{port}",
        "PADDLE_TRAINERS": "127.64.0.1,127.64.0.2",
        "PADDLE_TRAINERS_NUM": "2",
    }


def test_servers_and_workers_find_each_other_and_meet_at_the_first_server() -> None:
    job = a_job(ps=2, worker=1, withGloo=1)
    port = port_of(job)
    data = found(job, ps="Running", worker="Running")

    assert data["PADDLE_PSERVERS_IP_PORT_LIST"] == f"127.64.0.1:{port},127.64.0.2:{port}"
    assert data["PADDLE_TRAINER_ENDPOINTS"] == f"127.64.1.1:{port}"
    # Not the server's own port, or one of the two could not listen.
    assert data["PADDLE_GLOO_HTTP_ENDPOINT"] == f"127.64.0.1:{port + PORTS_A_JOB - 2}"


def test_without_servers_there_is_nowhere_to_meet() -> None:
    assert "PADDLE_GLOO_HTTP_ENDPOINT" not in found(a_job(ps=0, worker=1, withGloo=1), worker="Running")


def test_with_services_names_are_known_before_addresses() -> None:
    job = a_job(worker=2, intranet="Service")

    assert found(job, worker="Pending")["PADDLE_TRAINERS"] == "wide-deep-worker-0,wide-deep-worker-1"


@pytest.mark.parametrize("intranet", ["PodIP", "Service"])
def test_the_port_a_pod_is_told_is_the_one_the_others_call(intranet: str) -> None:
    data = found(a_job(ps=1, worker=2, intranet=intranet), ps="Running", worker="Running")
    called = f"{data['PADDLE_PSERVERS_IP_PORT_LIST']},{data['PADDLE_TRAINER_ENDPOINTS']}".split(",")

    assert {endpoint.rpartition(":")[2] for endpoint in called} == {data["PADDLE_PORT"]}


def test_addresses_of_ipv6_are_told_apart_from_their_ports() -> None:
    job = a_job(ps=1, worker=1, withGloo=1)
    pods = {
        name: pod.but(status={**pod.status, "podIP": f"fd00::{number}"})
        for number, (name, pod) in enumerate(by_name(job, ps="Running", worker="Running").items())
    }
    [made] = endpoints(job, members(job, pods, NOW))

    assert made.data["PADDLE_PSERVERS_IP_PORT_LIST"] == f"[fd00::0]:{port_of(job)}"
    assert made.data["PADDLE_GLOO_HTTP_ENDPOINT"].startswith("[fd00::0]:")
    assert made.data["PADDLE_TRAINERS"] == "fd00::1"


@pytest.mark.parametrize("said", [None, "true"])
def test_no_mesh_adds_a_proxy_that_would_outlive_the_training_unless_that_is_wanted(said: str | None) -> None:
    role = a_role(1)
    if said:
        role["template"]["metadata"] = {"annotations": {"sidecar.istio.io/inject": said}}
    pod = make_pod(a_job(worker=role), "worker", 0)

    assert pod.metadata.annotations["sidecar.istio.io/inject"] == (said or "false")


def test_a_pod_that_came_back_elsewhere_is_found_there() -> None:
    job = a_job(worker=2)
    before = by_name(job, worker="Running")
    moved = before["wide-deep-worker-1"]
    after = before | {moved.name: moved.but(status={**moved.status, "podIP": "127.64.9.9"})}
    [old], [new] = endpoints(job, before), endpoints(job, after)
    [update] = plan([old], Decision(None, (new,))).update

    assert set(update.patch["data"]) == {"PADDLE_TRAINER_ENDPOINTS", "PADDLE_TRAINERS"}
    assert update.patch["data"]["PADDLE_TRAINERS"] == "127.64.0.1,127.64.9.9"


def test_a_smaller_job_forgets_those_that_left() -> None:
    [old] = endpoints(job := a_job(ps=1, worker=2), by_name(job, ps="Running", worker="Running"))
    [new] = endpoints(job := a_job(worker=1), by_name(job, worker="Running"))
    patched = plan([old], Decision(None, (new,))).update[0].patch["data"]

    assert patched["PADDLE_PSERVERS_IP_PORT_LIST"] is None
    assert patched["PADDLE_TRAINERS_NUM"] == "1"
    assert isinstance(old, ConfigMap)


def test_the_ports_of_a_job_stay_its_own_and_below_those_of_the_kernel() -> None:
    job = a_job(worker=1)

    assert port_of(job) == port_of(a_job(worker=5, ps=1))
    last = FIRST_PORT + BLOCKS * PORTS_A_JOB
    assert FIRST_PORT <= port_of(job) < last <= 32768

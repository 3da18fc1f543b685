from typing import Any

import pytest

from paddlecloud.api.core import Pod
from paddlecloud.api.knative import KnativeService, Revision
from paddlecloud.api.meta import Key
from paddlecloud.serving.routes import Backend, Table, order, shares, table

READY = [{"type": "Ready", "status": "True"}]
SHOP = Key("team", "shop")


def a_service(**status: Any) -> KnativeService:
    return KnativeService.read({"metadata": {"name": "shop", "namespace": "team"}, "status": status})


def a_revision(name: str, **metadata: Any) -> Revision:
    return Revision.read({"metadata": {"name": name, "namespace": "team", **metadata}})


def a_pod(revision: str, ip: str, **changes: Any) -> Pod:
    labels = {"serving.knative.dev/service": "shop", "serving.knative.dev/revision": revision}
    body: dict[str, Any] = {
        "metadata": {"name": f"pod-{ip}", "namespace": "team", "labels": labels},
        "spec": {"containers": [{"name": "c", "ports": [{"containerPort": 9393}]}]},
        "status": {"podIP": ip, "conditions": READY},
    }
    return Pod.read({key: {**part, **changes.get(key, {})} for key, part in body.items()})


def routed(service: KnativeService, *pods: Pod, revisions: tuple[str, ...] = ("r1", "r2")) -> list[Backend]:
    return list(table([service], map(a_revision, revisions), pods).services[SHOP])


def test_the_ready_pods_of_the_newest_ready_revision_share_the_requests() -> None:
    service = a_service(latestReadyRevisionName="r1")
    found = routed(service, a_pod("r1", "127.0.1.2"), a_pod("r1", "127.0.1.1"), a_pod("r2", "127.0.1.3"))

    assert found == [Backend("127.0.1.1", 9393, 50.0), Backend("127.0.1.2", 9393, 50.0)]


def test_traffic_is_split_by_revision_whatever_their_pods() -> None:
    traffic = [{"revisionName": "r1", "percent": 90}, {"revisionName": "r2", "percent": 10}]
    found = routed(
        a_service(traffic=traffic), a_pod("r1", "a"), a_pod("r2", "b"), a_pod("r2", "c")
    )  # fmt: skip

    assert {b.host: b.weight for b in found} == {"a": 90.0, "b": 5.0, "c": 5.0}


@pytest.mark.parametrize(
    "pod",
    [
        a_pod("r1", "a", status={"conditions": []}),
        a_pod("r1", "a", status={"podIP": ""}),
        a_pod("r1", "a", spec={"containers": [{"name": "c"}]}),
        a_pod("r1", "a", spec={}).but(spec={}),
        a_pod("r1", "a", metadata={"deletionTimestamp": "2024-01-01T00:00:00Z"}),
        a_pod("r1", "a", metadata={"labels": {"serving.knative.dev/revision": "r1"}}),
        a_pod("r1", "a", metadata={"namespace": "other"}),
        a_pod("r2", "a"),
    ],
    ids=["not ready", "no address", "no port", "no container", "going", "foreign", "elsewhere", "no traffic"],
)
def test_a_pod_that_must_not_get_requests_gets_none(pod: Pod) -> None:
    assert routed(a_service(latestReadyRevisionName="r1"), pod) == []


def test_a_revision_that_is_gone_gets_no_requests() -> None:
    service = a_service(latestReadyRevisionName="r1")
    assert routed(service, a_pod("r1", "a"), revisions=()) == []
    going = a_revision("r1", deletionTimestamp="2024-01-01T00:00:00Z")
    assert table([service], [going], [a_pod("r1", "a")]).services[SHOP] == ()


@pytest.mark.parametrize(
    "status, spec, expected",
    [
        ({}, {}, {}),
        ({"latestReadyRevisionName": "r1"}, {}, {"r1": 100}),
        (
            {"latestReadyRevisionName": "r1", "traffic": [{"latestRevision": True, "percent": 100}]},
            {},
            {"r1": 100},
        ),
        (
            {"latestReadyRevisionName": "r1"},
            {"traffic": [{"revisionName": "r0", "percent": 100}]},
            {"r0": 100},
        ),
        (
            {
                "latestReadyRevisionName": "r1",
                "traffic": [{"percent": 60}, {"revisionName": "r1", "percent": 40}],
            },
            {},
            {"r1": 100},
        ),
        (
            {"traffic": [{"revisionName": "r1"}, {"revisionName": "r2", "percent": 100}]},
            {},
            {"r1": 0, "r2": 100},
        ),
    ],
)
def test_shares(status: dict[str, Any], spec: dict[str, Any], expected: dict[str, float]) -> None:
    assert shares(a_service(**status).but(spec=spec)) == expected


@pytest.mark.parametrize(
    "host, found",
    [
        ("shop.team.example.com", True),
        ("shop.team", True),
        ("Shop.Team.Example.com:8080", True),
        ("shop.team.example.com.", True),
        ("shop", False),
        ("shop.other.example.com", False),
        ("team.shop", False),
        ("x.shop.team.example.com", False),
        ("127.0.0.1:8080", False),
        ("", False),
    ],
)
def test_the_service_of_a_host(host: str, found: bool) -> None:
    assert (Table({SHOP: ()}).by_host(host) == SHOP) is found


@pytest.mark.parametrize(
    "luck, first", [(0.0, "a"), (0.29, "a"), (0.31, "b"), (0.99, "b")]
)  # fmt: skip
def test_luck_chooses_by_weight_and_the_others_follow(luck: float, first: str) -> None:
    backends = (Backend("a", 1, 30), Backend("b", 1, 70))
    tried = [b.host for b in order(backends, luck)]
    assert tried[0] == first and sorted(tried) == ["a", "b"]

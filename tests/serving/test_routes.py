"""From objects to the table: who gets which share, which pods may be asked, which host means what."""

from typing import Any

import pytest

from paddlecloud.api.apps import Deployment
from paddlecloud.api.core import Pod
from paddlecloud.api.knative import KnativeService, Revision
from paddlecloud.api.meta import Key
from paddlecloud.serving.routes import Backend, Changed, Cluster, Fleet, Table, Target, table, targets

READY = [{"type": "Ready", "status": "True"}]
SHOP = Key("team", "shop")
LABELS = {"serving.knative.dev/service": "shop"}
R1, R2 = Key("team", "r1"), Key("team", "r2")


def a_service(**status: Any) -> KnativeService:
    return KnativeService.read({"metadata": {"name": "shop", "namespace": "team"}, "status": status})


def a_revision(name: str, spec: dict[str, Any] | None = None, **metadata: Any) -> Revision:
    about = {"name": name, "namespace": "team", "labels": LABELS, **metadata}
    return Revision.read({"metadata": about, "spec": spec or {}})


def a_pod(revision: str, ip: str, **changes: Any) -> Pod:
    labels = {**LABELS, "serving.knative.dev/revision": revision}
    body: dict[str, Any] = {
        "metadata": {"name": f"pod-{ip}", "namespace": "team", "labels": labels},
        "spec": {"containers": [{"name": "c", "ports": [{"containerPort": 9393}]}]},
        "status": {"podIP": ip, "conditions": READY},
    }
    return Pod.read({key: {**part, **changes.get(key, {})} for key, part in body.items()})


def fleet_of(*pods: Pod, revision: Revision | None = None) -> Fleet:
    made = table(Cluster([a_service()], [revision or a_revision("r1")], pods))
    return made.fleets[R1]


def test_the_ready_pods_of_a_revision_are_its_fleet() -> None:
    found = fleet_of(a_pod("r1", "127.0.1.2"), a_pod("r1", "127.0.1.1"), a_pod("r2", "127.0.1.3"))

    assert found.backends == (Backend("127.0.1.1", 9393), Backend("127.0.1.2", 9393))


def test_a_fleet_knows_the_limits_of_its_revision_and_whether_it_can_be_woken() -> None:
    revision = a_revision("r1", {"containerConcurrency": 3, "timeoutSeconds": 10})
    labels = {"serving.knative.dev/revision": "r1"}
    deployment = Deployment.read({"metadata": {"name": "d", "namespace": "team", "labels": labels}})
    asleep = table(Cluster([], [revision], (), [deployment])).fleets[R1]

    assert asleep == Fleet((), limit=3, timeout=10.0, wakes=True) and asleep.usable
    assert not fleet_of(revision=revision).usable


def test_a_fleet_that_cannot_start_says_why() -> None:
    said = {"conditions": [{"type": "Ready", "status": "False", "message": "no image"}]}
    assert fleet_of(revision=a_revision("r1").but(status=said)).trouble == "no image"


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
    ids=["not ready", "no address", "no port", "no container", "going", "foreign", "elsewhere", "another's"],
)
def test_a_pod_that_must_not_get_requests_gets_none(pod: Pod) -> None:
    assert fleet_of(pod).backends == ()


def test_a_revision_that_is_going_has_no_fleet() -> None:
    going = a_revision("r1", deletionTimestamp="2024-01-01T00:00:00Z")
    assert table(Cluster([a_service()], [going], [a_pod("r1", "a")])).fleets == {}


@pytest.mark.parametrize(
    "status, spec, expected",
    [
        ({}, {}, ()),
        ({"latestReadyRevisionName": "r1"}, {}, (Target(R1, 100),)),
        (
            {"latestReadyRevisionName": "r1", "traffic": [{"latestRevision": True, "percent": 100}]},
            {},
            (Target(R1, 100),),
        ),
        (
            {"latestReadyRevisionName": "r1"},
            {"traffic": [{"revisionName": "r2", "percent": 100}]},
            (Target(R2, 100),),
        ),
        (
            {"traffic": [{"revisionName": "r1", "percent": 90}, {"revisionName": "r2", "tag": "canary"}]},
            {},
            (Target(R1, 90), Target(R2, 0, "canary")),
        ),
    ],
)
def test_the_shares_of_a_service(
    status: dict[str, Any], spec: dict[str, Any], expected: tuple[Target, ...]
) -> None:
    assert targets(a_service(**status).but(spec=spec)) == expected


@pytest.mark.parametrize(
    "host, found",
    [
        ("shop.team.example.com", (SHOP, "")),
        ("shop.team", (SHOP, "")),
        ("Shop.Team.Example.com:8080", (SHOP, "")),
        ("shop.team.example.com.", (SHOP, "")),
        ("canary-shop.team.example.com", (SHOP, "canary")),
        ("other-shop.team.example.com", None),
        ("shop", None),
        ("shop.other.example.com", None),
        ("team.shop", None),
        ("x.shop.team.example.com", None),
        ("127.0.0.1:8080", None),
        ("", None),
    ],
)
def test_the_service_of_a_host(host: str, found: tuple[Key, str] | None) -> None:
    assert Table({SHOP: (Target(R1, 90), Target(R2, 10, "canary"))}).by_host(host) == found


@pytest.mark.parametrize(
    "luck, tag, order",
    [
        (0.0, "", [R1, R2]),
        (0.29, "", [R1, R2]),
        (0.31, "", [R2, R1]),
        (0.99, "", [R2, R1]),
        (0.0, "canary", [R2]),
        (0.0, "silent", [Key("team", "r3")]),
    ],
)
def test_luck_chooses_by_share_and_the_others_follow(luck: float, tag: str, order: list[Key]) -> None:
    shares = (Target(R1, 30), Target(R2, 70, "canary"), Target(Key("team", "r3"), 0, "silent"))

    assert Table({SHOP: shares}).choice(SHOP, tag, luck) == order


def a_deployment(revision: str) -> Deployment:
    labels = {"serving.knative.dev/revision": revision}
    return Deployment.read({"metadata": {"name": revision, "namespace": "team", "labels": labels}})


@pytest.mark.parametrize(
    "then",
    [
        Cluster([], [a_revision("r1"), a_revision("r2")], [a_pod("r2", "b")]),
        Cluster([a_service()], [a_revision("r1"), a_revision("r2")], [a_pod("r1", "a"), a_pod("r1", "b")]),
        Cluster([a_service(traffic=[{"revisionName": "r2", "percent": 100}])], [a_revision("r2")]),
        Cluster([a_service()], [a_revision("r1")], [a_pod("r1", "a")], [a_deployment("r1")]),
        Cluster([], []),
    ],
    ids=["service gone", "another pod", "revision gone", "can be woken", "all gone"],
)
def test_a_table_with_its_changes_is_the_one_made_anew(then: Cluster) -> None:
    before = table(Cluster([a_service()], [a_revision("r1"), a_revision("r2")], [a_pod("r1", "a")]))

    for changed in (Changed({SHOP}, {R1, R2}), Changed({SHOP, Key("x", "y")}, {R1, R2, Key("x", "z")})):
        assert before.but(changed, table(then)) == table(then)
    assert before.but(Changed({SHOP}), table(Cluster(then.services, []))).fleets == before.fleets

"""The single questions of placing a pod: amounts, selectors, neighbours, taints, volumes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import NAMESPACE, NOW, a_node, a_pod

from paddlecloud.api.core import Node, PersistentVolume, PersistentVolumeClaim, Pod
from paddlecloud.api.meta import Key
from paddlecloud.api.scheduling import StorageClass
from paddlecloud.scheduler.board import board_of
from paddlecloud.scheduler.claims import Choice, Storage
from paddlecloud.scheduler.placement import Placement, World, place
from paddlecloud.scheduler.quantities import amount
from paddlecloud.scheduler.resources import requests
from paddlecloud.scheduler.taints import leaves_at

HOST = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def container(**wanted: Any) -> dict[str, Any]:
    return {"resources": {"requests": wanted}}


def sidecar(**wanted: Any) -> dict[str, Any]:
    return {**container(**wanted), "restartPolicy": "Always"}


@pytest.mark.parametrize(
    "spec, wanted",
    [
        ({"containers": [container(cpu="1"), container(cpu="500m", memory="1Ki")]},
         {"cpu": 1500, "memory": 1024}),
        ({"containers": [container(cpu="1")], "initContainers": [container(cpu="3"), container(cpu="2")]},
         {"cpu": 3000}),
        ({"containers": [container(cpu="1")], "initContainers": [sidecar(cpu="1"), container(cpu="3")]},
         {"cpu": 4000}),
        ({"containers": [container(cpu="1")], "initContainers": [container(cpu="3"), sidecar(cpu="1")]},
         {"cpu": 3000}),
        ({"containers": [container(cpu="1")], "initContainers": [sidecar(cpu="2"), sidecar(cpu="2")]},
         {"cpu": 5000}),
        ({"containers": [container(cpu="1")], "overhead": {"cpu": "100m", "memory": "1"}},
         {"cpu": 1100, "memory": 1}),
        ({"containers": [container(cpu="1", **{"nvidia.com/gpu": 2})],
          "resources": {"requests": {"cpu": "3"}}, "overhead": {"cpu": "1"}},
         {"cpu": 4000, "nvidia.com/gpu": 2}),
        ({"containers": [{"resources": {"limits": {"cpu": "1"}}}]}, {"cpu": 1000}),
        ({"containers": [container(**{"ephemeral-storage": "1.5Gi"})]}, {"ephemeral-storage": 3 << 29}),
    ],
)  # fmt: skip
def test_what_a_pod_asks_for(spec: Any, wanted: Any) -> None:
    assert requests(a_pod("p", spec=spec)) == wanted


@pytest.mark.parametrize(
    "text, value",
    [
        ("2", 2), (2, 2), ("500m", 1), ("1.5Gi", 3 << 29), ("2Mi", 1 << 21), ("1k", 1000), ("1e3", 1000),
        ("1E3", 1000), ("1E", 10**18), ("2Ei", 1 << 61), (".5k", 500), ("5.", 5), ("10n", 1), ("-1", -1),
        (" 3 ", 3),
    ],
)  # fmt: skip
def test_quantities_are_whole_numbers_rounded_up(text: Any, value: int) -> None:
    assert amount("memory", text) == value


def test_cpu_is_counted_in_thousandths() -> None:
    assert [amount("cpu", q) for q in ("1", "0.1", "100u", 0.5)] == [1000, 100, 1, 500]


@pytest.mark.parametrize(
    "text", ["", "lots", "5mi", "5ki", "5KI", "1 Gi", "1GiB", "m", None, "0x10", "1e", [1]]
)
def test_what_is_no_quantity_is_told(text: Any) -> None:
    with pytest.raises(ValueError, match="is no quantity"):
        amount("memory", text)


def node_affinity(*terms: Any) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def labels(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def named(operator: str, *values: str) -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    "terms, fits",
    [
        ([labels("disk", "In", "hdd", "ssd")], True),
        ([labels("disk", "In", "hdd")], False),
        ([labels("disk", "In", "hdd"), labels("disk", "Exists")], True),
        ([labels("disk", "NotIn", "ssd")], False),
        ([labels("other", "NotIn", "ssd")], True),
        ([labels("disk", "Exists")], True),
        ([labels("other", "Exists")], False),
        ([labels("other", "DoesNotExist")], True),
        ([labels("rank", "Gt", "4")], True),
        ([labels("rank", "Gt", "5")], False),
        ([labels("rank", "Lt", "6")], True),
        ([labels("disk", "Gt", "1")], False),
        ([labels("other", "Lt", "1")], False),
        ([named("In", "node-0")], True),
        ([named("In", "other")], False),
        ([named("NotIn", "other")], True),
        ([named("In", "other"), labels("disk", "Exists")], True),
        ([{**named("In", "node-0"), **labels("disk", "In", "hdd")}], False),
        ([{}], False),
        ([], False),
    ],
)
def test_one_alternative_of_the_node_affinity_must_hold(terms: list[Any], fits: bool) -> None:
    node = a_node(labels={"disk": "ssd", "rank": "5"})

    assert bool(placed(waiting("p", **node_affinity(*terms)), node).node) is fits


def test_names_that_no_node_bears_are_told_apart() -> None:
    conflict = node_affinity(
        {"matchFields": [*named("In", "a")["matchFields"], *named("In", "b")["matchFields"]]}
    )

    assert (
        "1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
        in placed(waiting("p", **node_affinity(named("In", "ghost"))), a_node()).message
    )
    assert "pod affinity terms conflict." in placed(waiting("p", **conflict), a_node()).message


def waiting(name: str = "p", metadata: Any = None, **spec: Any) -> Pod:
    pod = a_pod(name, "Pending", spec={"containers": [], **spec})
    return pod.but(metadata=pod.metadata.but(**(metadata or {})))


def placed(pod: Pod, *nodes: Node, there: Any = (), **world: Any) -> Placement:
    [found] = place([pod], board_of(nodes, there), World(**world))
    return found


def test_weights_decide_between_nodes_that_fit() -> None:
    wishes = [
        {"weight": 1, "preference": labels("disk", "In", "ssd")},
        {"weight": 5, "preference": labels("zone", "In", "b")},
    ]
    pod = waiting(affinity={"nodeAffinity": {PREFERRED: wishes}})

    assert placed(pod, a_node("a", labels={"disk": "ssd"}), a_node("b", labels={"zone": "b"})).node == "b"


def test_a_node_that_would_rather_not_comes_last() -> None:
    soft = a_node("a").but(spec={"taints": [{"key": "k", "effect": "PreferNoSchedule"}]})

    assert placed(waiting(), soft, a_node("b", cpu="1")).node == "b"
    assert placed(waiting(tolerations=[{"operator": "Exists"}]), soft, a_node("b", cpu="1")).node == "a"


def term(app: str, topology: str = "zone", **more: Any) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": topology, **more}


def near(*terms: Any) -> dict[str, Any]:
    return {"podAffinity": {REQUIRED: list(terms)}}


def apart(*terms: Any) -> dict[str, Any]:
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def standing(node: str, app: str, namespace: str = NAMESPACE, **spec: Any) -> Pod:
    metadata = {"labels": {"app": app}, "namespace": namespace}
    return waiting(f"{app}-{node}-{namespace}", metadata, nodeName=node, **spec)


ZONES = [
    a_node("a1", labels={"zone": "a"}),
    a_node("a2", labels={"zone": "a"}),
    a_node("b1", labels={"zone": "b"}),
]
NO_FRIENDS, FOES, UNWELCOME = (
    "didn't match pod affinity rules",
    "didn't match pod anti-affinity rules",
    "didn't satisfy existing pods anti-affinity rules",
)


@pytest.mark.parametrize(
    "affinity, there, result",
    [
        (near(term("db")), [standing("b1", "db")], "b1"),
        (near(term("db")), [], f"3 node(s) {NO_FRIENDS}"),
        (near(term("db", HOST)), [standing("b1", "db")], f"3 node(s) {NO_FRIENDS}"),
        (near(term("web")), [], "a1"),
        (near(term("db"), term("web")), [standing("b1", "db")], f"3 node(s) {NO_FRIENDS}"),
        (near(term("db")), [standing("b1", "db", "other")], f"3 node(s) {NO_FRIENDS}"),
        (near(term("db", namespaces=["other"])), [standing("b1", "db", "other")], "b1"),
        (near(term("db", namespaceSelector={})), [standing("b1", "db", "other")], "b1"),
        (near(term("db", namespaceSelector={"matchLabels": {"team": "x"}})),
         [standing("b1", "db", "other"), standing("a1", "db", "strange")], "b1"),
        (near({"topologyKey": "zone"}), [standing("b1", "db")], f"3 node(s) {NO_FRIENDS}"),
        (apart(term("db")), [standing("a1", "db")], "b1"),
        (apart(term("db")), [standing("a1", "db"), standing("b1", "db")], f"3 node(s) {FOES}"),
        (apart(term("db", HOST)), [standing("a1", "db")], "a1"),
        ({}, [standing("a1", "x", affinity=apart(term("web")))], "b1"),
        ({}, [standing("a1", "x", affinity=apart(term("db")))], "a1"),
        ({}, [standing(node, "x", affinity=apart(term("web"))) for node in ("a1", "b1")],
         f"3 node(s) {UNWELCOME}"),
        ({"podAffinity": {PREFERRED: [{"weight": 9, "podAffinityTerm": term("db")}]}},
         [standing("b1", "db")], "b1"),
        ({"podAntiAffinity": {PREFERRED: [{"weight": 9, "podAffinityTerm": term("db")}]}},
         [standing("a2", "db")], "b1"),
        ({}, [standing("b1", "x", affinity=near(term("web"))), standing("b1", "web")], "b1"),
    ],
)  # fmt: skip
def test_pods_attract_and_repel_each_other_over_a_topology(affinity: Any, there: Any, result: str) -> None:
    pod = waiting("p", {"labels": {"app": "web"}}, affinity=affinity)
    found = placed(pod, *ZONES, there=there, namespaces={"other": {"team": "x"}, "strange": {}})

    assert found.node == result or f"{result}." in found.message


def test_pods_placed_a_moment_ago_count_and_pods_that_left_do_not() -> None:
    pods = [waiting(f"p{i}", {"labels": {"app": "web"}}, affinity=apart(term("web"))) for i in range(3)]
    board = board_of(ZONES)
    first = {p.pod.name: p.node for p in place(pods, board, World())}
    board.remove(Key(NAMESPACE, "p0"))
    again = {p.pod.name: p.node for p in place([pods[2]], board, World())}

    assert first == {"p0": "a1", "p1": "b1", "p2": ""}
    assert again["p2"] in ("a1", "a2")


FOREVER: dict[str, Any] = {"key": "k", "operator": "Exists", "effect": "NoExecute"}


@pytest.mark.parametrize(
    "effect, tolerations, seconds",
    [
        ("NoSchedule", [], None),
        ("NoExecute", [], 0),
        ("NoExecute", [FOREVER], None),
        ("NoExecute", [{**FOREVER, "tolerationSeconds": 60}], 60 - 10),
        ("NoExecute", [{**FOREVER, "tolerationSeconds": 60}, {**FOREVER, "tolerationSeconds": 30}], 30 - 10),
        ("NoExecute", [{**FOREVER, "tolerationSeconds": -5}], -10),
        ("NoExecute", [{**FOREVER, "effect": "NoSchedule"}], 0),
    ],
)
def test_a_taint_ends_what_does_not_tolerate_it(effect: str, tolerations: Any, seconds: int | None) -> None:
    since = (NOW - timedelta(seconds=10)).isoformat()
    node = a_node().but(spec={"taints": [{"key": "k", "effect": effect, "timeAdded": since}]})
    ends = leaves_at(waiting(tolerations=tolerations), node, NOW)

    assert ends == (None if seconds is None else NOW + timedelta(seconds=seconds))


def a_claim(name: str = "data", *, status: Any = None, **more: Any) -> PersistentVolumeClaim:
    annotations, volume = more.pop("annotations", {}), more.pop("volume", "")
    size = {"requests": {"storage": more.pop("storage", "1Gi")}}
    spec = {"storageClassName": "slow", "resources": size, "accessModes": ["ReadWriteOnce"], **more}
    return PersistentVolumeClaim.read(
        {
            "metadata": {
                "name": name,
                "namespace": NAMESPACE,
                "uid": f"uid-{name}",
                "annotations": annotations,
            },
            "spec": spec | ({"volumeName": volume} if volume else {}),
            "status": {"phase": "Bound"} if volume else status or {},
        }
    )


def a_volume(name: str, node: str = "", storage: str = "1Gi", **spec: Any) -> PersistentVolume:
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": [named("In", node)]}}} if node else {}
    size = {"capacity": {"storage": storage}, "accessModes": ["ReadWriteOnce"], "storageClassName": "slow"}
    return PersistentVolume.read(
        {"metadata": {"name": name}, "spec": size | affinity | spec, "status": {"phase": "Available"}}
    )


def on(
    pod: Pod, *known: Any, provisioner: str = "example.com/disk", mode: str = "WaitForFirstConsumer"
) -> Placement:
    claims = {c.key: c for c in known if isinstance(c, PersistentVolumeClaim)}
    volumes = {v.name: v for v in known if isinstance(v, PersistentVolume)}
    slow = StorageClass.read(
        {"metadata": {"name": "slow"}, "provisioner": provisioner, "volumeBindingMode": mode}
    )
    return placed(pod, a_node("a"), a_node("b"), storage=Storage(claims, volumes, {"slow": slow}))


def using(*names: str) -> Pod:
    return waiting(volumes=[{"name": n, "persistentVolumeClaim": {"claimName": n}} for n in names])


@pytest.mark.parametrize(
    "known, message",
    [
        ([], '0/2 nodes are available: persistentvolumeclaim "data" not found.'),
        ([a_claim(status={"phase": "Lost"})],
         'persistentvolumeclaim "data" bound to non-existent persistentvolume "".'),
        ([a_claim(storageClassName="other")], "pod has unbound immediate PersistentVolumeClaims."),
        ([a_claim(volume="gone")],
         "2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)."),
        ([a_claim(volume="v"), a_volume("v", "elsewhere")],
         "2 node(s) didn't match PersistentVolume's node affinity."),
    ],
)  # fmt: skip
def test_claims_keep_a_pod_waiting(known: Any, message: str) -> None:
    assert message in on(using("data"), *known).message


def test_a_claim_without_a_provisioner_needs_a_volume_that_is_there() -> None:
    found = on(using("data"), a_claim(), provisioner="kubernetes.io/no-provisioner")

    assert "2 node(s) didn't find available persistent volumes to bind." in found.message


def test_a_bound_volume_draws_its_pod() -> None:
    found = on(using("data"), a_claim(volume="v"), a_volume("v", "b"))

    assert (found.node, found.claims) == ("b", ())


DATA = Key(NAMESPACE, "data")


@pytest.mark.parametrize(
    "known, choice",
    [
        ([a_claim()], Choice(DATA, "a")),
        ([a_claim(annotations={"volume.kubernetes.io/selected-node": "b"})], Choice(DATA, "b", told=True)),
        ([a_claim(), a_volume("big", storage="5Gi"), a_volume("small")], Choice(DATA, "a", "small")),
        ([a_claim(), a_volume("v", storage="1Mi")], Choice(DATA, "a")),
        ([a_claim(), a_volume("v", storageClassName="fast")], Choice(DATA, "a")),
        ([a_claim(), a_volume("v", accessModes=["ReadOnlyMany"])], Choice(DATA, "a")),
        ([a_claim(), a_volume("v", claimRef={"namespace": NAMESPACE, "name": "data"})],
         Choice(DATA, "a", "v", told=True)),
        ([a_claim(), a_volume("v", claimRef={"namespace": NAMESPACE, "name": "x"})], Choice(DATA, "a")),
    ],
)  # fmt: skip
def test_a_claim_that_waited_goes_with_its_pod(known: Any, choice: Choice) -> None:
    found = on(using("data"), *known)

    assert (found.node, found.claims) == (choice.node, (choice,))


def test_one_volume_is_not_given_twice() -> None:
    found = on(using("data", "more"), a_claim(), a_claim("more"), a_volume("v"))

    assert [c.volume for c in found.claims] == ["v", ""]


def test_two_pods_do_not_get_the_same_volume() -> None:
    claims = {c.key: c for c in (a_claim(), a_claim("more"))}
    slow = StorageClass.read({"metadata": {"name": "slow"}, "volumeBindingMode": "WaitForFirstConsumer"})
    world = World(Storage(claims, {"v": a_volume("v")}, {"slow": slow}))
    pods = [using("data"), using("more").but(metadata=a_pod("q").metadata)]
    found = place(pods, board_of([a_node()]), world)

    assert [bool(p.node) for p in found] == [True, False]


def test_a_claim_for_one_pod_keeps_the_second_away() -> None:
    claim = a_claim(volume="v", accessModes=["ReadWriteOncePod"])
    storage = Storage({claim.key: claim}, {"v": a_volume("v")})
    there = a_pod("first", spec={**using("data").spec, "nodeName": "node-0"})

    assert (
        "ReadWriteOncePod access mode"
        in placed(using("data"), a_node(), there=[there], storage=storage).message
    )

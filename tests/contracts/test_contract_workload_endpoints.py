"""Endpoints and EndpointSlices: where a Service answers, and how well each of its pods does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.workloads import Body, Workloads, name_of, owners, template
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.needs_controllers
APP = {"app": "api"}
PORT = {"name": "http", "port": 80, "targetPort": 8080}


NODES = "/api/v1/nodes"


@pytest.fixture
def w(rest: Rest, namespace: str) -> Iterator[Workloads]:
    """A namespace, and a node for its pods: a pod that is nowhere answers nobody."""
    rest.post(NODES, {"metadata": {"name": namespace}}).expect(201)
    yield Workloads(rest, namespace)
    rest.delete(f"{NODES}/{namespace}").expect(200)


def service(w: Workloads, *ports: Body, **spec: Any) -> Body:
    return w.make("services", "api", {"selector": APP, "ports": list(ports) or [PORT], **spec})


def pod(w: Workloads, name: str, ip: str = "", **spec: Any) -> Body:
    made = w.make("pods", name, {**template()["spec"], "nodeName": w.namespace, **spec}, labels=APP)
    if ip:
        w.run(name, ip=ip)
    return made


def subsets(w: Workloads) -> list[Body]:
    answer = w.rest.get(w.path("endpoints", "api"))
    return (answer.body.get("subsets") or []) if answer.status == 200 else []


def addresses(w: Workloads, kind: str = "addresses") -> list[str]:
    return sorted(a["ip"] for s in subsets(w) for a in s.get(kind) or ())


def addresses_are(w: Workloads, *wanted: str) -> None:
    w.wait(lambda: addresses(w) == sorted(wanted), f"addresses {wanted}", lambda: subsets(w))


def slices(w: Workloads) -> list[Body]:
    return w.all("endpointslices", "kubernetes.io/service-name=api")


def conditions(w: Workloads) -> dict[str, Body]:
    found = (e for s in slices(w) for e in s.get("endpoints") or ())
    return {e["targetRef"]["name"]: e["conditions"] for e in found}


def conditions_are(w: Workloads, **wanted: tuple[bool, bool, bool]) -> None:
    names = ("ready", "serving", "terminating")
    expected = {name: dict(zip(names, held, strict=True)) for name, held in wanted.items()}
    w.wait(lambda: conditions(w) == expected, f"conditions {expected}", lambda: conditions(w))


def test_a_ready_pod_is_an_address(w: Workloads) -> None:
    service(w)
    made = pod(w, "one", "10.0.0.1")
    addresses_are(w, "10.0.0.1")
    (subset,) = subsets(w)
    target = {"kind": "Pod", "namespace": w.namespace, "name": "one", "uid": made["metadata"]["uid"]}
    assert subset["addresses"] == [{"ip": "10.0.0.1", "nodeName": w.namespace, "targetRef": target}]
    assert subset["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    conditions_are(w, one=(True, True, False))
    (found,) = slices(w)
    assert owners(found) == [("Service", "api", True)]
    assert found["addressType"] == "IPv4" and found["metadata"]["generateName"] == "api-"
    assert found["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    assert (
        found["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"]
        == "endpointslice-controller.k8s.io"
    )
    assert found["endpoints"][0]["addresses"] == ["10.0.0.1"] and found["endpoints"][0]["targetRef"] == target


def test_a_service_without_pods_has_an_empty_slice(w: Workloads) -> None:
    service(w)
    w.wait(lambda: len(slices(w)) == 1, "one slice", lambda: slices(w))
    assert not slices(w)[0].get("endpoints")
    w.wait(lambda: w.rest.get(w.path("endpoints", "api")).status == 200, "the endpoints")


def test_a_pod_that_is_not_ready_is_told_apart(w: Workloads) -> None:
    service(w)
    pod(w, "one", "10.0.0.1")
    addresses_are(w, "10.0.0.1")
    w.run("one", ready=False, ip="10.0.0.1")
    addresses_are(w)
    assert addresses(w, "notReadyAddresses") == ["10.0.0.1"]
    conditions_are(w, one=(False, False, False))
    w.run("one", ip="10.0.0.1")
    addresses_are(w, "10.0.0.1")


def test_a_service_may_publish_those_that_are_not_ready(w: Workloads) -> None:
    service(w, publishNotReadyAddresses=True)
    pod(w, "one")
    w.run("one", ready=False, ip="10.0.0.1")
    addresses_are(w, "10.0.0.1")
    conditions_are(w, one=(True, False, False))


def test_a_pod_on_its_way_out_still_serves(w: Workloads) -> None:
    service(w)
    pod(w, "one", "10.0.0.1")
    addresses_are(w, "10.0.0.1")
    w.delete("pods", "one")
    conditions_are(w, one=(False, True, True))
    addresses_are(w)
    assert addresses(w, "notReadyAddresses") == []
    w.delete("pods", "one", gracePeriodSeconds=0)
    conditions_are(w)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_ended_answers_no_more(w: Workloads, phase: str) -> None:
    service(w)
    pod(w, "one", "10.0.0.1")
    addresses_are(w, "10.0.0.1")
    w.end("one", phase=phase, conditions=[{"type": "Ready", "status": "False"}])
    addresses_are(w)
    conditions_are(w)


def test_a_port_by_name_is_that_of_each_pod(w: Workloads) -> None:
    service(w, {"port": 80, "targetPort": "web"})
    for name, number, ip in (("one", 8001, "10.0.0.1"), ("two", 8002, "10.0.0.2")):
        ports = [{"name": "web", "containerPort": number}]
        pod(w, name, ip, containers=[{"name": "main", "image": "example/web:1", "ports": ports}])
    addresses_are(w, "10.0.0.1", "10.0.0.2")
    assert {s["addresses"][0]["ip"]: s["ports"][0]["port"] for s in subsets(w)} == {
        "10.0.0.1": 8001,
        "10.0.0.2": 8002,
    }

    def by_slice() -> dict[str, int]:
        return {e["addresses"][0]: s["ports"][0]["port"] for s in slices(w) for e in s.get("endpoints") or ()}

    w.wait(lambda: by_slice() == {"10.0.0.1": 8001, "10.0.0.2": 8002}, "ports in slices", by_slice)


def test_a_pod_of_a_headless_service_has_a_name(w: Workloads) -> None:
    service(w, clusterIP="None")
    pod(w, "one", "10.0.0.1", hostname="first", subdomain="api")
    pod(w, "two", "10.0.0.2", hostname="second", subdomain="other")
    addresses_are(w, "10.0.0.1", "10.0.0.2")
    names = {a["ip"]: a.get("hostname") for s in subsets(w) for a in s["addresses"]}
    assert names == {"10.0.0.1": "first", "10.0.0.2": None}
    conditions_are(w, one=(True, True, False), two=(True, True, False))
    (found,) = slices(w)
    assert found["metadata"]["labels"]["service.kubernetes.io/headless"] == ""
    assert sorted(e.get("hostname", "") for e in found["endpoints"]) == ["", "first"]


def test_a_pod_without_an_address_is_nowhere(w: Workloads) -> None:
    service(w)
    pod(w, "one")
    pod(w, "two", "10.0.0.2")
    addresses_are(w, "10.0.0.2")
    conditions_are(w, two=(True, True, False))


def test_another_selector_means_other_pods(w: Workloads) -> None:
    service(w)
    pod(w, "one", "10.0.0.1")
    addresses_are(w, "10.0.0.1")
    w.patch("services", "api", {"spec": {"selector": {"app": "other"}}})
    addresses_are(w)
    w.patch("pods", "one", {"metadata": {"labels": {"app": "other"}}})
    addresses_are(w, "10.0.0.1")


def test_a_service_without_a_selector_is_left_to_others(w: Workloads) -> None:
    w.make("services", "api", {"ports": [PORT]})
    w.make("services", "other", {"ports": [PORT], "selector": APP})
    w.wait(lambda: "other" in w.names("endpoints"), "endpoints of the other service")
    assert w.names("endpoints") == ["other"] and slices(w) == []


def test_what_tells_of_a_service_goes_with_it(w: Workloads) -> None:
    service(w)
    pod(w, "one", "10.0.0.1")
    addresses_are(w, "10.0.0.1")
    w.delete("services", "api")
    w.wait(lambda: w.names("endpoints") == [] and not slices(w), "nothing left", lambda: slices(w), limit=60)
    assert name_of(w.get("pods", "one")) == "one"

"""What Services get from the cluster: addresses and node ports, given once, kept, and free again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.objects import core
from tests.kubernetes.rest import Rest

TWO = [{"name": "a", "port": 80}, {"name": "b", "port": 81, "protocol": "UDP"}]
TAKEN = "Invalid value: {}: provided port is already allocated"


def service(name: str = "s", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


def path(namespace: str, name: str = "") -> str:
    return core(namespace, "services", name)


def numbers(made: dict[str, Any]) -> list[int]:
    return [port.get("nodePort", 0) for port in made["spec"]["ports"]]


@pytest.fixture
def exposed(rest: Rest, namespace: str) -> Iterator[dict[str, Any]]:
    made: dict[str, Any] = rest.post(path(namespace), service(type="NodePort", ports=TWO)).expect(201)
    yield made
    rest.delete(path(namespace, "s"))


def test_every_port_of_a_node_port_service_gets_a_number(exposed: dict[str, Any]) -> None:
    assert all(30000 <= number <= 32767 for number in numbers(exposed))
    assert len(set(numbers(exposed))) == 2
    assert exposed["spec"]["clusterIPs"] == [exposed["spec"]["clusterIP"]]
    assert (exposed["spec"]["ipFamilies"], exposed["spec"]["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")


def test_numbers_are_kept_when_ports_move(rest: Rest, namespace: str, exposed: dict[str, Any]) -> None:
    first, second = numbers(exposed)
    moved = [TWO[1], {"name": "c", "port": 82}, TWO[0]]
    changed = rest.merge(path(namespace, "s"), {"spec": {"ports": moved}}).expect(200)
    assert (numbers(changed)[0], numbers(changed)[2]) == (second, first)
    assert numbers(changed)[1] not in (0, first, second)


def test_a_number_that_is_taken_is_refused(rest: Rest, namespace: str, exposed: dict[str, Any]) -> None:
    number = numbers(exposed)[0]
    wanted = service("t", type="NodePort", ports=[{"port": 80, "nodePort": number}])
    answer = rest.post(path(namespace), wanted).expect(422)
    assert answer["message"] == f'Service "t" is invalid: spec.ports[0].nodePort: {TAKEN.format(number)}'


def test_what_a_deleted_service_had_is_free(rest: Rest, namespace: str) -> None:
    made = rest.post(path(namespace), service(type="NodePort")).expect(201)
    rest.delete(path(namespace, "s")).expect(200)
    ports = [{"port": 80, "nodePort": numbers(made)[0]}]
    again = service("t", type="NodePort", clusterIP=made["spec"]["clusterIP"], ports=ports)
    rest.post(path(namespace), again).expect(201)
    rest.delete(path(namespace, "t")).expect(200)


def test_a_dry_run_takes_nothing(rest: Rest, namespace: str) -> None:
    body = service(type="NodePort", ports=[{"port": 80, "nodePort": 32111}])
    rest.post(path(namespace), body, dryRun="All").expect(201)
    rest.post(path(namespace), body).expect(201)
    rest.delete(path(namespace, "s")).expect(200)


def test_one_number_may_serve_two_protocols(rest: Rest, namespace: str) -> None:
    ports = [{"name": "t", "port": 80}, {"name": "u", "port": 80, "protocol": "UDP"}]
    first, second = numbers(rest.post(path(namespace), service(type="NodePort", ports=ports)).expect(201))
    assert first == second != 0
    rest.delete(path(namespace, "s")).expect(200)


@pytest.mark.parametrize(
    "spec, message",
    [
        (
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]},
            "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. "
            "The range of valid ports is 30000-32767",
        ),
        (
            {"clusterIP": "1.2.3.4"},
            'spec.clusterIPs: Invalid value: []string{"1.2.3.4"}: failed to allocate IP 1.2.3.4: ',
        ),
    ],
)
def test_what_lies_outside_the_range_is_refused(
    rest: Rest, namespace: str, spec: dict[str, Any], message: str
) -> None:
    answer = rest.post(path(namespace), service(**spec)).expect(422)
    assert answer["message"].startswith(f'Service "s" is invalid: {message}')


def test_an_address_that_is_taken_is_refused(rest: Rest, namespace: str, exposed: dict[str, Any]) -> None:
    address = exposed["spec"]["clusterIP"]
    answer = rest.post(path(namespace), service("t", clusterIP=address)).expect(422)
    assert answer["message"] == (
        f'Service "t" is invalid: spec.clusterIPs: Invalid value: []string{{"{address}"}}: '
        f"failed to allocate IP {address}: provided IP is already allocated"
    )


def test_an_update_that_leaves_the_address_out_keeps_it(rest: Rest, namespace: str) -> None:
    made = rest.post(path(namespace), service()).expect(201)
    again = rest.put(path(namespace, "s"), service(selector={"a": "b"})).expect(200)
    assert again["spec"]["clusterIP"] == made["spec"]["clusterIP"]


def test_a_service_loses_with_its_type_what_belongs_to_it(
    rest: Rest, namespace: str, exposed: dict[str, Any]
) -> None:
    plain = rest.merge(path(namespace, "s"), {"spec": {"type": "ClusterIP"}}).expect(200)["spec"]
    assert plain["clusterIP"] == exposed["spec"]["clusterIP"]
    assert "externalTrafficPolicy" not in plain and not any("nodePort" in p for p in plain["ports"])
    named = {"spec": {"type": "ExternalName", "externalName": "example.org"}}
    outside = rest.merge(path(namespace, "s"), named).expect(200)["spec"]
    assert not {"clusterIP", "clusterIPs", "ipFamilies", "internalTrafficPolicy"} & outside.keys()
    back = rest.merge(path(namespace, "s"), {"spec": {"type": "ClusterIP", "externalName": None}}).expect(200)
    assert back["spec"]["clusterIP"] and back["spec"]["ipFamilies"] == ["IPv4"]


def test_a_load_balancer_that_keeps_traffic_local_has_a_port_for_its_health(
    rest: Rest, namespace: str
) -> None:
    made = rest.post(path(namespace), service(type="LoadBalancer")).expect(201)
    assert numbers(made)[0] and "healthCheckNodePort" not in made["spec"]
    change = {"spec": {"externalTrafficPolicy": "Local"}}
    local = rest.merge(path(namespace, "s"), change).expect(200)["spec"]["healthCheckNodePort"]
    assert 30000 <= local <= 32767 and local != numbers(made)[0]
    other = 30000 if local != 30000 else 30001
    answer = rest.merge(path(namespace, "s"), {"spec": {"healthCheckNodePort": other}}).expect(422)
    assert (
        answer["message"] == 'Service "s" is invalid: spec.healthCheckNodePort: Forbidden: field is immutable'
    )
    change = {"spec": {"externalTrafficPolicy": "Cluster"}}
    assert "healthCheckNodePort" not in rest.merge(path(namespace, "s"), change).expect(200)["spec"]
    rest.delete(path(namespace, "s")).expect(200)


def test_a_load_balancer_may_do_without_node_ports(rest: Rest, namespace: str) -> None:
    body = service(type="LoadBalancer", allocateLoadBalancerNodePorts=False)
    assert numbers(rest.post(path(namespace), body).expect(201)) == [0]


def test_a_headless_service_has_no_address(rest: Rest, namespace: str) -> None:
    made = rest.post(path(namespace), service(clusterIP="None", selector={"a": "b"})).expect(201)["spec"]
    assert (made["clusterIP"], made["clusterIPs"], made["ipFamilies"]) == ("None", ["None"], ["IPv4"])
    answer = rest.merge(path(namespace, "s"), {"spec": {"type": "NodePort"}}).expect(422)
    assert "may not be set to 'None' for NodePort services" in answer["message"]

"""Variables a container gets beyond its `env`: services, and what cannot be one."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.core import ConfigMap, Pod, Service
from paddlecloud.embedded.node.servicelinks import links
from paddlecloud.embedded.node.variables import Facts, Reference, left_out, variables

POD = Pod.read({"metadata": {"name": "p", "namespace": "d", "uid": "u"}, "spec": {"containers": []}})


def a_service(name: str, address: str, *ports: dict[str, Any]) -> Service:
    return Service.read({"metadata": {"name": name}, "spec": {"clusterIP": address, "ports": list(ports)}})


def test_a_service_is_seen_in_all_forms() -> None:
    assert links([a_service("redis-main", "10.0.0.11", {"port": 6379, "protocol": "TCP"})]) == {
        "REDIS_MAIN_SERVICE_HOST": "10.0.0.11",
        "REDIS_MAIN_SERVICE_PORT": "6379",
        "REDIS_MAIN_PORT": "tcp://10.0.0.11:6379",
        "REDIS_MAIN_PORT_6379_TCP": "tcp://10.0.0.11:6379",
        "REDIS_MAIN_PORT_6379_TCP_PROTO": "tcp",
        "REDIS_MAIN_PORT_6379_TCP_PORT": "6379",
        "REDIS_MAIN_PORT_6379_TCP_ADDR": "10.0.0.11",
    }


def test_further_ports_are_found_by_number_and_by_name() -> None:
    found = links(
        [
            a_service(
                "s", "1.2.3.4", {"port": 80, "name": "web"}, {"port": 53, "protocol": "UDP", "name": "d-ns"}
            )
        ]
    )
    assert found["S_SERVICE_PORT"] == "80" and found["S_SERVICE_PORT_WEB"] == "80"
    assert found["S_SERVICE_PORT_D_NS"] == "53" and found["S_PORT_53_UDP"] == "udp://1.2.3.4:53"


@pytest.mark.parametrize("address", ["", "None"])
def test_a_service_without_an_address_is_not_seen(address: str) -> None:
    assert links([a_service("s", address, {"port": 80})]) == {}


def test_a_variable_may_be_made_of_those_of_a_service() -> None:
    facts = Facts("", "", links={"S_SERVICE_HOST": "1.2.3.4"})
    env = [{"name": "URL", "value": "http://$(S_SERVICE_HOST)/"}]
    assert variables({"env": env}, POD, facts) == {"URL": "http://1.2.3.4/"}


@pytest.mark.parametrize("prefix, skipped", [("", "[1st, 2nd]"), ("X_", ""), ("9", "[91st, 92nd, 9third]")])
def test_what_cannot_be_a_variable_is_told(prefix: str, skipped: str) -> None:
    data = {"1st": "a", "2nd": "b", "third": "c"}
    facts = Facts("", "", {Reference(ConfigMap, "settings"): data})
    container = {"envFrom": [{"prefix": prefix, "configMapRef": {"name": "settings"}}]}
    sentences = left_out(container, POD, facts)
    assert bool(sentences) == bool(skipped) and all(skipped in sentence for sentence in sentences)
    assert all("configMap d/settings" in sentence for sentence in sentences)

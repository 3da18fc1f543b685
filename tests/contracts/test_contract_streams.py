"""Logs, commands and proxies as far as no node is needed: what is refused, in which words, for whom."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import core, pod
from tests.kubernetes.rest import Rest


@pytest.fixture
def pods(rest: Rest, namespace: str) -> str:
    """`loose` has no node and two containers, `lost` is bound to a node that is not there."""
    loose, lost = pod("loose"), pod("lost")
    loose["spec"]["containers"].append({"name": "side", "image": "example/image:1"})
    lost["spec"]["nodeName"] = "gone"
    for body in (loose, lost):
        rest.post(core(namespace, "pods"), body).expect(201)
    return core(namespace, "pods")


def whole(value: str, rule: str, field: str) -> str:
    return f'PodLogOptions "lost" is invalid: {field}: Invalid value: {value}: must be greater than {rule}'


@pytest.mark.parametrize(
    "path, status, message",
    [
        ("loose/log", 400, "a container name must be specified for pod loose, choose one of: [main side]"),
        ("loose/log?container=other", 400, "container other is not valid for pod loose"),
        ("nobody/log", 404, 'pods "nobody" not found'),
        ("lost/log", 404, 'pods "gone" not found'),
        ("lost/log?tailLines=-1", 422, whole("-1", "or equal to 0", "tailLines")),
        ("lost/log?limitBytes=0", 422, whole("0", "0", "limitBytes")),
        ("lost/log?sinceSeconds=0", 422, whole("0", "0", "sinceSeconds")),
        ("lost/log?tailLines=ten", 400, 'strconv.ParseInt: parsing "ten": invalid syntax'),
        (
            "lost/log?sinceTime=noon", 400,
            'parsing time "noon" as "2006-01-02T15:04:05Z07:00": cannot parse "noon" as "2006"',
        ),
        (
            "lost/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z", 422,
            'PodLogOptions "lost" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` '
            "may be specified",
        ),
        ("lost/log?stream=Stdout", 422,
         'PodLogOptions "lost" is invalid: stream: Forbidden: may not be specified'),
        ("loose/exec?container=main&command=ls", 400, "pod loose does not have a host assigned"),
        ("loose/exec?command=ls", 400,
         "a container name must be specified for pod loose, choose one of: [main side]"),
        ("loose/attach?container=main", 400, "pod loose does not have a host assigned"),
        ("loose/portforward", 400, "pod loose does not have a host assigned"),
        ("lost/exec?command=ls", 404, 'pods "gone" not found'),
        ("lost/attach", 404, 'pods "gone" not found'),
        ("lost/portforward", 404, 'pods "gone" not found'),
        ("nobody/exec?command=ls", 404, 'pods "nobody" not found'),
        ("loose/proxy/", 400, "address not allowed"),
    ],
)  # fmt: skip
def test_what_is_refused_before_a_node_is_asked(
    rest: Rest, pods: str, path: str, status: int, message: str
) -> None:
    assert rest.get(f"{pods}/{path}").expect(status)["message"] == message


def test_a_log_that_cannot_have_begun_is_empty(rest: Rest, pods: str) -> None:
    answer = rest.get(f"{pods}/loose/log?container=main")
    assert (answer.status, answer.text) == (204, "")


@pytest.mark.parametrize("name", ["web", "web:80", "http:web:80"])
def test_a_service_without_endpoints_is_not_found_by_its_proxy(rest: Rest, namespace: str, name: str) -> None:
    body: dict[str, Any] = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
    rest.post(core(namespace, "services"), body).expect(201)
    said = rest.get(core(namespace, "services", name) + "/proxy/").expect(404)
    assert said["message"] == 'services "web" not found'


def test_the_proxy_of_a_node_that_is_not_there(rest: Rest) -> None:
    said = rest.get("/api/v1/nodes/nowhere/proxy/healthz").expect(404)
    assert said["message"] == 'nodes "nowhere" not found'

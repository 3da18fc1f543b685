"""Who may read logs, run commands, attach, forward ports and use proxies: each is a right of its own."""

from __future__ import annotations

import pytest
from tests.contracts.granting import acting_as, binding, bindings, grant, somebody
from tests.contracts.objects import core
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

VERBS = {"GET": "get", "POST": "create"}
STREAMS = ("exec", "attach", "portforward", "proxy")
QUERY = "?container=main&command=id&stdout=true"


@pytest.mark.parametrize(
    "stream, method", [("log", "GET"), *((stream, method) for stream in STREAMS for method in VERBS)]
)
def test_a_stranger_is_refused_whether_or_not_the_pod_is_there(
    rest: Rest, namespace: str, stream: str, method: str
) -> None:
    path = core(namespace, "pods", f"nobody/{stream}")
    answer = rest.send(method, path + QUERY, headers=acting_as("alice")).expect(403)
    assert answer["reason"] == "Forbidden"
    assert answer["details"] == {"name": "nobody", "kind": "pods"}
    assert answer["message"] == (
        f'pods "nobody" is forbidden: User "alice" cannot {VERBS[method]} resource "pods/{stream}" '
        f'in API group "" in the namespace "{namespace}"'
    )


def test_a_stranger_who_asks_to_upgrade_is_refused_in_the_same_words(rest: Rest, namespace: str) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Protocol": "v5.channel.k8s.io",
    }
    path = core(namespace, "pods", "nobody/exec") + QUERY
    answer = rest.send("GET", path, headers=acting_as("alice") | upgrade).expect(403)
    assert 'cannot get resource "pods/exec"' in answer["message"]


@pytest.mark.parametrize("stream", STREAMS)
def test_the_right_to_one_is_no_right_to_another_and_a_verb_no_other_verb(
    rest: Rest, namespace: str, stream: str
) -> None:
    user = somebody()
    grant(rest, namespace, user, {"apiGroups": [""], "resources": [f"pods/{stream}"], "verbs": ["create"]})
    for other in (*STREAMS, "log"):
        for method in VERBS:
            if (other, method) == ("log", "POST"):
                continue
            path = core(namespace, "pods", f"nobody/{other}") + QUERY
            status = rest.send(method, path, headers=acting_as(user)).status
            allowed = (other, method) == (stream, "POST")
            assert (status == 403) is not allowed, (other, method, status)


@pytest.mark.parametrize("role, may", [("view", {"log"}), ("edit", {"log", *STREAMS})])
def test_what_the_roles_of_every_cluster_grant(rest: Rest, namespace: str, role: str, may: set[str]) -> None:
    user = somebody()
    rest.post(bindings(namespace), binding(f"of-{user}", role, user, "ClusterRole")).expect(201)
    headers = acting_as(user)
    until(
        lambda: rest.send("GET", core(namespace, "pods"), headers=headers).status == 200,
        what=f"the rights of {user}",
    )
    for stream in (*STREAMS, "log"):
        path = core(namespace, "pods", f"nobody/{stream}") + QUERY
        assert (rest.send("GET", path, headers=headers).status != 403) is (stream in may), stream

"""The decisions of the streams: dialects, sizes, tokens, ports of names, what was used in a while."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from paddlecloud.embedded.node import dialects
from paddlecloud.embedded.node.measuring import Measured, Measurement, Measuring, cores
from paddlecloud.embedded.node.podfolder import Record
from paddlecloud.embedded.node.sandbox.usage import Usage
from paddlecloud.embedded.node.summaries import exposition, summary
from paddlecloud.embedded.server.metrics import node_metrics, pod_metrics
from paddlecloud.embedded.server.proxying import Named, endpoints_of, named_by, pod_port, rest_of
from paddlecloud.embedded.server.streams import chosen_container, waiting_reason
from paddlecloud.embedded.server.websockettokens import PREFIX, token_in, without_tokens
from paddlecloud.errors import ApiError, BadRequest


@pytest.mark.parametrize(
    "offered, chosen",
    [
        ([], ""),
        (["v5.channel.k8s.io"], "v5.channel.k8s.io"),
        (["v4.channel.k8s.io", "v5.channel.k8s.io"], "v5.channel.k8s.io"),
        (["other", "channel.k8s.io"], "channel.k8s.io"),
        (["other"], None),
    ],
)
def test_the_best_dialect_that_both_speak(offered: list[str], chosen: str | None) -> None:
    found = dialects.chosen(offered)
    assert (None if found is None else found.name) == chosen


@pytest.mark.parametrize("dialect", [*dialects.DIALECTS, dialects.UNNAMED], ids=lambda d: d.name or "none")
@pytest.mark.parametrize("data", [b"", b"text", bytes(range(256))])
def test_a_message_is_understood_as_it_was_meant(dialect: dialects.Dialect, data: bytes) -> None:
    assert dialect.decode(dialect.encode(4, data)) == (4, data)


@pytest.mark.parametrize("message", ["", "x", "1§", b"\xff\xff", "1abc"])
def test_what_is_no_message_is_refused(message: str | bytes) -> None:
    with pytest.raises(ValueError):
        dialects.Dialect("v4.base64.channel.k8s.io", text=True).decode(message)


@pytest.mark.parametrize(
    "data, size",
    [
        (b'{"Width": 80, "Height": 24}', (80, 24)),
        (b'{"Width": -1, "Height": 24}', None),
        (b'{"Width": 99999, "Height": 24}', None),
        (b'{"Width": 80}', None),
        (b"[]", None),
        (b"junk", None),
    ],
)
def test_the_size_of_a_terminal(data: bytes, size: tuple[int, int] | None) -> None:
    assert dialects.size_of(data) == size


def packed(token: str) -> str:
    return PREFIX + base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "offered, token",
    [
        ([packed("secret"), "v4.channel.k8s.io"], "secret"),
        (["v4.channel.k8s.io", packed("s")], "s"),
        ([packed("secret")], ""),
        ([packed("a"), packed("b"), "v4.channel.k8s.io"], ""),
        (["v4.channel.k8s.io"], ""),
        ([PREFIX + "ÿ", "v4.channel.k8s.io"], ""),
        ([PREFIX + "_w", "v4.channel.k8s.io"], ""),
    ],
)
def test_a_token_among_subprotocols(offered: list[str], token: str) -> None:
    assert token_in(offered) == token
    assert not [name for name in without_tokens(offered) if PREFIX in name]


@pytest.mark.parametrize(
    "text, named",
    [
        ("web", Named("web")),
        ("web:80", Named("web", "80")),
        ("web:http", Named("web", "http")),
        ("https:web:443", Named("web", "443", "https")),
        (":web:80", Named("web", "80", "http")),
    ],
)
def test_what_a_proxied_name_means(text: str, named: Named) -> None:
    assert named_by(text) == named


@pytest.mark.parametrize("text", ["ftp:web:21", "a:b:c:d"])
def test_names_that_mean_nothing(text: str) -> None:
    with pytest.raises(BadRequest):
        named_by(text)


@pytest.mark.parametrize("asked, port", [("", 8080), ("9", 9), ("metrics", 9090), ("none", None)])
def test_the_port_of_a_pod(asked: str, port: int | None) -> None:
    ports = [{"containerPort": 8080}, {"containerPort": 9090, "name": "metrics"}]
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a"}, {"name": "b", "ports": ports}]}}
    if port is None:
        with pytest.raises(BadRequest):
            pod_port(pod, asked)
    else:
        assert pod_port(pod, asked) == port


SERVICE = {
    "metadata": {"name": "s"},
    "spec": {"ports": [{"name": "web", "port": 80}, {"name": "admin", "port": 81}]},
}
ENDPOINTS = {
    "subsets": [
        {
            "addresses": [{"ip": "1", "targetRef": {"kind": "Pod", "name": "a"}}, {"ip": "2"}],
            "notReadyAddresses": [{"ip": "3", "targetRef": {"kind": "Pod", "name": "late"}}],
            "ports": [{"name": "web", "port": 8080}, {"name": "admin", "port": 8081}],
        }
    ]
}


@pytest.mark.parametrize(
    "asked, ways",
    [
        ("", [("a", 8080)]),
        ("80", [("a", 8080)]),
        ("admin", [("a", 8081)]),
        ("81", [("a", 8081)]),
        ("8080", None),
    ],
)
def test_the_pods_behind_a_port_of_a_service(asked: str, ways: list[tuple[str, int]] | None) -> None:
    if ways is None:
        with pytest.raises(ApiError):
            endpoints_of(SERVICE, ENDPOINTS, asked)
    else:
        assert endpoints_of(SERVICE, ENDPOINTS, asked) == ways


@pytest.mark.parametrize(
    "path, rest",
    [
        ("/api/v1/namespaces/x/pods/p/proxy", ""),
        ("/api/v1/namespaces/x/pods/p/proxy/", ""),
        ("/api/v1/namespaces/x/pods/p/proxy/a/b/", "a/b/"),
        ("/api/v1/namespaces/x/pods/p/proxy/proxy/a%20b", "proxy/a%20b"),
        ("/api/v1/namespaces/proxy/pods/proxy/proxy/a", "a"),
    ],
)
def test_what_follows_the_proxy(path: str, rest: str) -> None:
    assert rest_of(path, namespaced=True) == rest


def test_what_follows_the_proxy_of_a_node() -> None:
    assert rest_of("/api/v1/nodes/one/proxy/stats/summary", namespaced=False) == "stats/summary"


@pytest.mark.parametrize(
    "before, now, seconds, busy",
    [
        (Usage(1.0, 0), Usage(3.0, 0), 4.0, 0.5),
        (None, Usage(1.0, 0), 2.0, 0.5),
        (Usage(9.0, 0), Usage(1.0, 0), 2.0, 0.5),
        (Usage(1.0, 0), Usage(3.0, 0), 0.0, 0.0),
    ],
)
def test_cores_that_were_busy(before: Usage | None, now: Usage, seconds: float, busy: float) -> None:
    assert cores(before, now, seconds) == busy


RECORD = Record("u", "d", "p", "one", "127.1.2.3", (), ("main",))
FOUND = Measurement(0.0, 2.0, (Measured(RECORD, "main", 0.25, 7.5, 3 << 20),))


def test_what_is_used_in_the_words_of_kubernetes() -> None:
    told: dict[str, Any] = {"one": json.loads(json.dumps(summary("one", FOUND)))}
    pod = {"metadata": {"name": "p", "namespace": "d", "uid": "u"}, "spec": {"nodeName": "one"}}
    usage = {"cpu": "250000000n", "memory": "3072Ki"}
    measured = pod_metrics(pod, told)
    assert measured is not None
    assert measured["containers"] == [{"name": "main", "usage": usage}]
    assert (measured["window"], measured["timestamp"]) == ("2.000s", "1970-01-01T00:00:00Z")
    node = node_metrics({"metadata": {"name": "one"}}, told)
    assert node is not None and node["usage"] == usage
    assert node_metrics({"metadata": {"name": "two"}}, told) is None
    assert pod_metrics({**pod, "metadata": {**pod["metadata"], "uid": "other"}}, told) is None
    assert 'memory_working_set_bytes{container="main",namespace="d",pod="p"} 3145728' in exposition(
        "one", FOUND
    )


async def test_nobody_running_is_measured_at_once_the_second_time() -> None:
    clock = iter((0.0, 5.0, 5.0, 5.5, 5.5))
    measuring = Measuring(lambda: [], lambda: next(clock))
    first = await measuring.measured()
    assert (first.containers, first.window) == ((), 5.0)
    assert await measuring.measured() is first


@pytest.mark.parametrize("asked, chosen", [("", None), ("a", "a"), ("first", "first"), ("z", None)])
def test_the_container_that_is_meant(asked: str, chosen: str | None) -> None:
    spec = {"containers": [{"name": "a"}, {"name": "b"}], "initContainers": [{"name": "first"}]}
    pod = {"metadata": {"name": "p"}, "spec": spec}
    if chosen is None:
        with pytest.raises(BadRequest):
            chosen_container(pod, asked)
    else:
        assert chosen_container(pod, asked) == chosen


def test_a_log_that_has_not_begun_says_why() -> None:
    waiting = {"name": "main", "state": {"waiting": {"reason": "ErrImagePull"}}}
    pod = {"status": {"containerStatuses": [waiting]}}
    sentence = 'container "main" in pod "p" is waiting to start'
    assert waiting_reason(pod, "main", sentence) == ": image can't be pulled"
    assert waiting_reason(pod, "main", "something else") == ""
    assert waiting_reason({}, "main", sentence) == ""

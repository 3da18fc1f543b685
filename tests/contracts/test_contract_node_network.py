"""Services and names, as programs in pods reach them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.node_clusters import has_names
from tests.contracts.node_pods import NodePods

SERVES = """
import http.server, os
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.environ["NAME"].encode())
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(("", 8080), Answer).serve_forever()
"""
ASKS = """
import socket, sys, time, urllib.request
def ask(word):
    try:
        if word.startswith("http:"):
            return urllib.request.urlopen(word, timeout=2).read().decode()
        return str(len({found[4][0] for found in socket.getaddrinfo(word, 80, socket.AF_INET)}))
    except Exception as error:
        return type(error).__name__
for wanted, word in (pair.split("=", 1) for pair in sys.argv[1:]):
    end = time.monotonic() + 30
    while (answer := ask(word)) != wanted and time.monotonic() < end:
        time.sleep(0.2)
    print(answer, flush=True)
"""


def server(name: str, labels: dict[str, str], **spec: Any) -> dict[str, Any]:
    probe = {"httpGet": {"path": "/ready", "port": "web"}, "periodSeconds": 1}
    container = {
        "image": "python",
        "command": ["python3", "-c", SERVES],
        "env": [{"name": "NAME", "value": name}],
        "ports": [{"name": "web", "containerPort": 8080}],
        "readinessProbe": probe,
    }
    return {"spec": {"containers": [container], **spec}, "metadata": {"labels": labels}}


SERVERS = {
    "first": server("first", {"app": "web", "one": "first"}, hostname="host-a", subdomain="each"),
    "second": server("second", {"app": "web", "one": "second"}, hostname="host-b", subdomain="each"),
}
# Not below 1024: plain processes of an ordinary user have no such ports.
PORT = [{"name": "web", "port": 8000, "targetPort": "web"}]
SERVICES = {
    "one": {"selector": {"one": "first"}, "ports": PORT},
    "both": {"selector": {"app": "web"}, "ports": PORT},
    "each": {"clusterIP": "None", "selector": {"app": "web"}, "ports": PORT},
    "nobody": {"selector": {"app": "nobody"}, "ports": PORT},
}


@pytest.fixture(scope="module")
def serving(pods: NodePods) -> NodePods:
    for name, spec in SERVICES.items():
        pods.rest.post(pods.path("services"), {"metadata": {"name": name}, "spec": spec}).expect(201)
    pods.make_all(SERVERS)
    for name in SERVERS:
        pods.wait(name, "ready")
    return pods


def asked(pods: NodePods, name: str, *pairs: tuple[str, str]) -> list[str]:
    """What a pod hears that asks until it hears what it waits for."""
    words = [f"{wanted}={word}" for word, wanted in pairs]
    pods.make(name, {"containers": [{"image": "python", "command": ["python3", "-c", ASKS, *words]}]})
    pods.wait(name, "Succeeded")
    return pods.log(name).splitlines()


def test_a_service_is_reached_by_its_address(serving: NodePods) -> None:
    address = serving.objects.get("services", "one")["spec"]["clusterIP"]

    assert asked(serving, "by-address", (f"http://{address}:8000/", "first")) == ["first"]


def test_a_pod_is_reached_by_its_address(serving: NodePods) -> None:
    address = serving.status("second")["podIP"]

    assert asked(serving, "by-pod", (f"http://{address}:8080/", "second")) == ["second"]


def test_names_lead_to_services_and_pods(serving: NodePods, level: str) -> None:
    if not has_names(level):
        pytest.skip("CoreDNS is not built: FULL=1 make test-kubernetes builds it")
    namespace = serving.namespace
    pairs = [
        ("http://one:8000/", "first"),
        (f"http://one.{namespace}:8000/", "first"),
        (f"http://one.{namespace}.svc:8000/", "first"),
        (f"http://one.{namespace}.svc.cluster.local:8000/", "first"),
        ("http://host-b.each:8080/", "second"),
        (f"http://host-a.each.{namespace}.svc.cluster.local:8080/", "first"),
        ("each", "2"),
        ("both", "1"),
        ("kubernetes.default", "1"),
        ("absent", "gaierror"),
    ]

    assert asked(serving, "by-name", *pairs) == [wanted for _, wanted in pairs]


def test_a_service_without_pods_refuses_at_once(serving: NodePods) -> None:
    address = serving.objects.get("services", "nobody")["spec"]["clusterIP"]

    assert asked(serving, "by-nobody", (f"http://{address}:8000/", "URLError")) == ["URLError"]


def test_a_pod_that_is_not_ready_gets_no_traffic(serving: NodePods) -> None:
    ill = server("ill", {"app": "web"})
    ill["spec"]["containers"][0]["readinessProbe"] = {"exec": {"command": ["false"]}}
    serving.make_all({"ill": ill})
    serving.wait("ill", "main runs")

    def ready() -> dict[str, bool]:
        slices = serving.objects.all("endpointslices", "kubernetes.io/service-name=both")
        ends = [end for found in slices for end in found.get("endpoints") or ()]
        return {end["targetRef"]["name"]: end["conditions"]["ready"] for end in ends}

    wanted = {"first": True, "second": True, "ill": False}
    serving.until(lambda: ready() == wanted, "three pods behind the service, one of them not ready", "ill")

"""A service from its first request to its last release, on a cluster with gateway and autoscaler.

One service lives through the file, as services do: a test begins with what the one before it left.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import urllib3
from tests.kubernetes.waiting import until
from tests.scenarios.manifests import CORE
from tests.scenarios.pdc_home import PdcHome, fresh_home

from paddlecloud.api.apps import Deployment
from paddlecloud.api.core import Event, Pod, Service
from paddlecloud.api.knative import Route
from paddlecloud.api.meta import Key
from paddlecloud.api.paddlerelease import ReleaseStatus
from paddlecloud.api.paddleservice import ElasticPaddleService
from paddlecloud.cli.clusters import state
from paddlecloud.sdk import releasing
from paddlecloud.sdk.client import Client
from paddlecloud.sdk.waiting import wait_for

KEY = Key("default", "resnet")
HOST = "resnet.default.example.com"
SERVER = """
import http.server, json, os, signal
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.dumps({"result": {"label": ["%s"]}}).encode()
        self.send_response(500 if b"thorn" in body else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer((os.environ["POD_IP"], 9292), Answers).serve_forever()
"""
QUESTION = {"feed": [{"image": "daisy.jpg"}], "fetch": ["score"]}


def endpoint(label: str) -> dict[str, Any]:
    script = SERVER % label
    return {"containerImage": CORE, "tag": label, "port": 9292, "arg": f"exec python -c '{script}'"}


@pytest.fixture(scope="module")
def platform() -> Iterator[PdcHome]:
    """A cluster of its own: nobody else should see it die."""
    with fresh_home() as home:
        home.ok("up", "--detach")
        yield home


@pytest.fixture(scope="module")
def gateway(platform: PdcHome) -> str:
    identity = state(platform.home).identity
    assert identity is not None
    return identity.gateway


@pytest.fixture(scope="module")
def client(platform: PdcHome) -> Iterator[Client]:
    """With a service in the way the documents write it: two endpoints, and nothing that keeps them awake."""
    resnet = {
        "apiVersion": "elasticserving.paddlepaddle.org/v1",
        "kind": "PaddleService",
        "metadata": {"name": KEY.name},
        "spec": {
            "default": endpoint("daisy"),
            "canary": endpoint("tulip"),
            "canaryTrafficPercent": 50,
            "runtimeVersion": "paddleserving",
            "service": {"minScale": 0, "window": "6s"},
        },
    }
    platform.apply(resnet)
    with platform.client() as client:
        yield client
        client.delete(ElasticPaddleService, KEY)


def is_ready(client: Client) -> ElasticPaddleService:
    return wait_for(client, ElasticPaddleService, KEY, releasing.ready, 60)


class Asking:
    """Asks without a pause, on connections of its own, and counts the answers."""

    def __init__(self, gateway: str, host: str = HOST) -> None:
        self.answers: Counter[str] = Counter()
        self._pool = urllib3.PoolManager(maxsize=2)
        self._gateway, self._host = gateway, host

    def once(self) -> str:
        try:
            said = self._pool.request(
                "POST", f"{self._gateway}/image/prediction", body=json.dumps(QUESTION), retries=False,
                headers={"Host": self._host, "Content-Type": "application/json"}, timeout=60.0,
            )  # fmt: skip
            words = (
                said.json()["result"]["label"][0] if said.status == 200 else f"{said.status} {said.data!r}"
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            words = f"failed: {error}"
        self.answers[words] += 1
        return str(words)

    @contextmanager
    def without_end(self) -> Iterator[Counter[str]]:
        over = threading.Event()

        def ask() -> None:
            while not over.is_set():
                self.once()

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            yield self.answers
        finally:
            over.set()
            thread.join()


def scales(client: Client) -> list[int]:
    found = client.list(Deployment, KEY.namespace, labels={"serving.knative.dev/service": KEY.name}).items
    return [d.replicas for d in found]


def test_requests_are_shared_between_default_and_canary(client: Client, gateway: str) -> None:
    service = is_ready(client)
    asking = Asking(gateway)
    for _ in range(100):
        asking.once()

    assert asking.answers.keys() == {"daisy", "tulip"} and min(asking.answers.values()) > 20
    assert {Asking(gateway, f"canary-{HOST}").once() for _ in range(5)} == {"tulip"}
    assert {s.revision_name: s.percent for s in service.status.traffic} == {
        "resnet-default": 50,
        "resnet-canary": 50,
    }
    assert client.get(Service, KEY.namespace, "resnet-default-private").spec["clusterIP"]
    assert client.get(Route, *KEY).ready


def test_an_idle_service_rests_and_its_next_request_is_held_not_failed(client: Client, gateway: str) -> None:
    until(lambda: scales(client) == [0, 0], what="rest")
    assert is_ready(client).status.url == f"http://{HOST}"

    assert Asking(gateway).once() in ("daisy", "tulip")


def test_no_request_fails_through_promotion_change_and_rollback(
    platform: PdcHome, client: Client, gateway: str
) -> None:
    asking = Asking(gateway)
    with asking.without_end() as answers:
        platform.ok("serve", "promote", KEY.name)
        client.patch(ElasticPaddleService, KEY, {"spec": {"default": endpoint("rose")}})
        is_ready(client)
        until(lambda: answers["rose"] > 10, what="answers of the new default")
        platform.ok("serve", "rollback", KEY.name)
        before = answers["tulip"]
        until(lambda: answers["tulip"] > before + 10, what="answers of the one before")

    assert asking.answers.keys() <= {"daisy", "tulip", "rose"}
    assert [r.revision for r in is_ready(client).status.releases][:2] == ["resnet-default", "resnet-canary"]


def test_a_pod_that_is_killed_costs_no_later_request(client: Client, gateway: str) -> None:
    asking = Asking(gateway)
    assert asking.once() == "tulip"
    for pod in client.list(
        Pod, KEY.namespace, labels={"serving.knative.dev/revision": "resnet-canary"}
    ).items:
        client.delete(Pod, pod.key, grace=0)

    assert [asking.once() for _ in range(5)] == ["tulip"] * 5


def release_of(client: Client) -> ReleaseStatus:
    def ended() -> ReleaseStatus | None:
        state = client.get(ElasticPaddleService, *KEY).status.release
        return state if state and state.phase.final else None

    return until(ended, what="the end of the release")


def told(client: Client, reason: str) -> list[str]:
    events = client.list(Event, KEY.namespace, fields={"involvedObject.name": KEY.name}).items
    return [event.message for event in events if event.reason == reason]


def test_a_canary_that_breaks_its_gate_goes_back_by_itself(client: Client, gateway: str) -> None:
    client.patch(ElasticPaddleService, KEY, {"spec": {"canary": None}})
    is_ready(client)
    default = Asking(gateway).once()
    gate = {"steps": [50, 90], "stepSeconds": 1, "minRequests": 10, "gate": {"errorPercent": 5}}
    client.patch(ElasticPaddleService, KEY, {"spec": {"canary": endpoint("thorn"), "release": gate}})
    asking = Asking(gateway)
    with asking.without_end():
        state = release_of(client)

    assert state.phase == "RolledBack" and "requests failed" in state.reason
    # Events come after the status they tell of.
    until(lambda: told(client, "RolledBack"), what="the event")
    assert told(client, "RolledBack") == [f"{state.canary} gets no more requests: {state.reason}"]
    until(lambda: Asking(gateway).once() == default, what="the default")
    assert [Asking(gateway).once() for _ in range(10)] == [default] * 10


def test_a_canary_is_tried_with_copies_and_released_in_steps(
    platform: PdcHome, client: Client, gateway: str
) -> None:
    client.patch(ElasticPaddleService, KEY, {"spec": {"canary": endpoint("lily"), "release": None,
                                                      "canaryTrafficPercent": 0}})  # fmt: skip
    is_ready(client)
    steps = ("serve", "canary", KEY.name, "--every", "1", "--requests", "10")
    asking = Asking(gateway)
    with asking.without_end():
        other = platform.pdc(*steps, "--blue-green", "--gate", "difference=1%", "--mirror", "100")
        assert other.code == 1 and "answered otherwise than by the default" in other.text, other.text
        assert asking.answers.keys() == {"tulip"}, "copies are nobody's answers"
        client.patch(ElasticPaddleService, KEY, {"spec": {"canary": endpoint("orchid")}})
        said = platform.ok(*steps, "--steps", "20,60", "--gate", "errors=1%,p99=20000ms")

    assert "Done, 100 %" in said and asking.answers.keys() <= {"tulip", "orchid"}
    assert Asking(gateway).once() == "orchid"
    platform.ok("serve", "rollback", KEY.name)
    assert Asking(gateway).once() == "tulip"


@pytest.mark.parametrize(
    "broken, words",
    [
        ({"containerImage": "paddlecloud/nowhere", "tag": "1"}, "paddlecloud/nowhere"),
        (
            {
                "containerImage": "paddlecloud/serving",
                "tag": "1",
                "arg": "python3 -m paddlecloud.serving.server --model nothing --port 9292",
            },
            "no Paddle inference model in nothing",
        ),
    ],
    ids=["no such image", "no such model"],
)
def test_what_does_not_come_up_leaves_the_old_one_answering(
    client: Client, gateway: str, broken: dict[str, Any], words: str
) -> None:
    client.patch(ElasticPaddleService, KEY, {"spec": {"default": broken}})

    def told() -> list[Event]:
        events = client.list(Event, KEY.namespace, fields={"involvedObject.name": KEY.name}).items
        return [e for e in events if e.reason == "RevisionFailed" and words in e.message]

    [event, *_] = until(told, what="the event")
    assert "goes on answering" in event.message
    assert Asking(gateway).once() == "tulip"


@pytest.mark.parametrize("part", ["gateway", "controllers"])
def test_a_service_outlives_the_parts_of_the_platform(platform: PdcHome, gateway: str, part: str) -> None:
    pid = platform.pid(part)
    os.kill(pid, signal.SIGKILL)
    until(lambda: platform.pid(part) != pid, what=f"the end of {part}")

    # Also while there is none: the port stays open, and who calls waits.
    assert Asking(gateway).once() == "tulip"
    until(lambda: platform.pid(part) not in (0, pid), what=f"a new {part}")
    assert Asking(gateway).once() == "tulip"

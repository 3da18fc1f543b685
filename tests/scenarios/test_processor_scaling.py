"""A service of the class `hpa`: pods come while processors are busy, and go when they are not."""

from __future__ import annotations

from typing import Any

import pytest
import urllib3
from tests.kubernetes.waiting import until
from tests.scenarios.manifests import CORE
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.apps import Deployment
from paddlecloud.api.autoscaling import HorizontalPodAutoscaler
from paddlecloud.api.core import Event
from paddlecloud.api.meta import Key
from paddlecloud.api.paddleservice import PaddleService
from paddlecloud.cli.clusters import state
from paddlecloud.sdk import releasing
from paddlecloud.sdk.waiting import wait_for

SERVER = """
import http.server, os, signal, threading, time
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
busy = threading.Event()
def burn():
    while busy.wait():
        until = time.monotonic() + 0.02
        while time.monotonic() < until: pass
        time.sleep(0.03)
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        {"/busy": busy.set, "/idle": busy.clear}.get(self.path, int)()
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_): pass
threading.Thread(target=burn, daemon=True).start()
http.server.ThreadingHTTPServer((os.environ["POD_IP"], 9292), Answers).serve_forever()
"""


def manifest(name: str) -> dict[str, Any]:
    # In double quotes for the shell: the program has none of its own kind.
    program = SERVER.replace('"', "'")
    endpoint = {"containerImage": CORE, "tag": "x", "port": 9292, "arg": f'exec python -c "{program}"'}
    scaling = {"metric": "cpu", "target": 50, "window": "6s", "minScale": 1, "maxScale": 2}
    return {
        "apiVersion": "serving.paddlepaddle.org/v1",
        "kind": "PaddleService",
        "metadata": {"name": name},
        "spec": {"default": endpoint, "service": scaling, "resources": {"requests": {"cpu": "100m"}}},
    }


@pytest.mark.long
def test_pods_come_while_processors_are_busy_and_go_when_they_are_not(cluster: PdcHome, name: str) -> None:
    identity = state(cluster.home).identity
    assert identity is not None
    cluster.apply(manifest(name))
    with cluster.client() as client:
        key, revision = Key("default", name), Key("default", f"{name}-default")
        wait_for(client, PaddleService, key, releasing.ready, 60)

        def pods() -> int:
            return client.get(Deployment, "default", f"{revision.name}-deployment").replicas

        def ask(path: str) -> None:
            said = urllib3.request(
                "GET", f"{identity.gateway}{path}", headers={"Host": f"{name}.default.example.com"}
            )
            assert said.status == 200

        ask("/busy")
        until(lambda: pods() == 2, what="a second pod", limit=120)
        told = client.get(HorizontalPodAutoscaler, "default", revision.name)
        [measured] = told.status["currentMetrics"]
        assert measured["resource"]["current"]["averageUtilization"] > 100
        events = client.list(Event, "default", fields={"involvedObject.uid": told.uid}).items
        words = "New size: 2; reason: cpu resource utilization (percentage of request) above target"
        assert [e.message for e in events if e.reason == "SuccessfulRescale"] == [words]

        def calmed() -> bool:
            # The gateway chooses which of the two it tells.
            ask("/idle")
            return pods() == 1

        until(calmed, what="one pod again", limit=120)
        client.delete(PaddleService, key)

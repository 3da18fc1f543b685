"""The sync client when things go wrong on the way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from paddlecloud.api.core import ConfigMap
from paddlecloud.api.meta import Metadata
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.errors import Unavailable
from paddlecloud.sdk.client import Client

A = ConfigMap(metadata=Metadata(name="a", namespace="ml"))


class Busy(ThreadingHTTPServer):
    """Answers 503 so many times, then with an object; counts requests and connections."""

    refusals, asked, connections = 0, 0, 0

    def process_request(self, request, address):  # type: ignore[no-untyped-def]
        self.connections += 1
        super().process_request(request, address)


class Reply(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Busy

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked += 1
        busy = self.server.asked <= self.server.refusals
        body = b"starting" if busy else b'{"metadata": {"name": "a", "namespace": "ml"}}'
        self.send_response(503 if busy else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def busy(refusals: int) -> Iterator[tuple[Busy, Client]]:
    with Busy(("127.0.0.1", 0), Reply) as server:
        server.refusals = refusals
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            access = Access(f"http://127.0.0.1:{server.server_port}", "c")
            with Client(access, luck=lambda: 0.0) as client:
                yield server, client
        finally:
            server.shutdown()
            serving.join()


def test_a_busy_server_is_asked_again_on_the_same_connection() -> None:
    with busy(2) as (server, client):
        assert client.get(ConfigMap, "ml", "a").name == "a"
        assert client.get(ConfigMap, "ml", "a").name == "a"

        assert (server.asked, server.connections) == (4, 1)


def test_a_create_is_never_sent_twice() -> None:
    with busy(2) as (server, client):
        with pytest.raises(Unavailable, match="starting"):
            client.create(A)

        assert server.asked == 1

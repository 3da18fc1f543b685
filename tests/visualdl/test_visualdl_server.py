"""The server of the suite: VisualDL's answers, whoever else is connected."""

from __future__ import annotations

import json
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cache.sources_of_others import free_port, running
from tests.suites.environments import python, suite
from tests.suites.kits import module


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("home")) as address:
        yield address


@contextmanager
def serving(home: Path, **more: str) -> Iterator[str]:
    port = free_port()
    with module("kit.records").Curves(home / "vdl", "training") as curves:
        for step in range(3):
            curves.add("TRAIN/loss", 1 / (step + 1), step)
    code = suite("visualdl").code
    assert code is not None
    words = ["--logdir", str(home / "vdl"), "--host", "127.0.0.1", "--port", str(port), "--disable-telemetry"]
    with running([python("visualdl"), str(code / "serve.py"), *words], home, port, more):
        yield f"http://127.0.0.1:{port}"


def test_who_connects_and_says_nothing_keeps_nobody_waiting(server: str) -> None:
    host, _, port = server.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))):
        url = f"{server}/app/api/scalar/list?run=training&tag=TRAIN/loss"
        with urllib.request.urlopen(url, timeout=20) as answer:
            found = json.load(answer)["data"]
    assert [(step, round(value, 3)) for _, step, value in found] == [(0, 1.0), (1, 0.5), (2, 0.333)]


@pytest.mark.parametrize("asked, given", [("zh-CN", "zh"), ("en", "en"), ("de", "en"), ("", "en")])
def test_a_visitor_of_any_language_gets_a_page(server: str, asked: str, given: str) -> None:
    headers = {"Accept-Language": asked} if asked else {}
    with urllib.request.urlopen(
        urllib.request.Request(f"{server}/app/index", headers=headers), timeout=20
    ) as answer:
        assert f"vdl_lng={given}" in answer.headers["Set-Cookie"]


@pytest.mark.parametrize("seed", ["1", "2", "5"])
def test_the_page_opens_with_the_curves_whatever_order_python_gives_a_set(seed: str, tmp_path: Path) -> None:
    # The page asks this and opens with the first answer.
    asked = "/app/api/component_tabs"
    with serving(tmp_path, PYTHONHASHSEED=seed) as server, urllib.request.urlopen(server + asked) as answer:
        tabs = json.load(answer)["data"]
    assert tabs[0] == "scalar" and "static_graph" in tabs


def test_it_says_that_it_is_alive(server: str) -> None:
    with urllib.request.urlopen(f"{server}/alive", timeout=20) as answer:
        assert answer.status == 204

"""tritonclient, unmodified, over HTTP and over gRPC, both on the one port of a model server."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.serving.modelservers import metric, models, serving
from tests.suites.environments import ROOT

from paddlecloud.embedded.node.environments import Environments
from paddlecloud.embedded.node.suites import resolve

TESTS = Path(__file__).parents[1]
PROGRAM = TESTS / "clients" / "programs" / "triton_client.py"


@pytest.fixture(scope="module")
def said() -> dict[str, dict[str, Any]]:
    suite = resolve("paddlecloud/test-inference-clients", [TESTS])
    made = asyncio.run(Environments(ROOT).ensure(suite, lambda _: None))
    with serving("--models", str(models())) as address:
        host = address.removeprefix("http://")
        command = [str(made.bin / "python"), str(PROGRAM), host]
        done = subprocess.run(command, env={}, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert (
            metric(address, 'protocol="grpc"', 'code="200"')
            == metric(address, 'protocol="v2"', 'code="200"')
            == 2
        )
    answers: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_an_unmodified_client_is_answered(said: dict[str, dict[str, Any]], protocol: str) -> None:
    got = said[protocol]
    assert [got[k] for k in ("live", "ready", "model", "other")] == [True, True, True, False]
    assert got["takes"] == ["x", "n"]
    assert (got["total"], got["twice"], got["only"]) == ([15.0, 51.0], [8, 10], True)


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_an_unmodified_client_reads_our_refusals(said: dict[str, dict[str, Any]], protocol: str) -> None:
    assert "inputs[0].shape is [2, 2, 4]" in said[protocol]["shape"]
    assert "there is no model none" in said[protocol]["unknown"]

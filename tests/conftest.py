"""The server under test: our embedded one, or with `--real-kubernetes` the one of `tests.kubernetes`.

Tests that ask for these fixtures say nothing of which it is; a case that only one of them can hold
carries a marker, and the marker decides here.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paddlecloud.cluster.kubeconfig import Access, from_kubeconfig
from tests.kubectl import Kubectl, Program, own_program, programs
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.servers import Server, embedded_server, real_server

SLOW = ("scenarios", "suites", "clients")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--real-kubernetes", action="store_true", help="run against kube-apiserver, not our embedded server"
    )
    parser.addoption(
        "--every-kubectl", action="store_true", help="run kubectl's tests with each kubectl that is built"
    )


def pytest_configure(config: pytest.Config) -> None:
    # No test asks a registry elsewhere, whatever image it names.
    os.environ["PADDLECLOUD_REGISTRIES"] = "local"
    config.addinivalue_line("markers", "needs_controllers: needs garbage collection and namespace clean-up")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are cores: much of a test is waiting for a process."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # The files that take long go first, so that no worker is left with one of them at the end.
    items.sort(key=lambda item: item.path.parent.name not in SLOW)
    if config.getoption("--real-kubernetes"):
        return
    elsewhere = pytest.mark.skip(reason="needs a real kube-apiserver: make test-kubernetes")
    for item in items:
        if item.get_closest_marker("kubernetes"):
            item.add_marker(elsewhere)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    # A real server is there to check the suite, and one client is enough for that.
    every = metafunc.config.getoption("--every-kubectl") and not metafunc.config.getoption(
        "--real-kubernetes"
    )
    if every and "kubectl_program" in metafunc.fixturenames:
        metafunc.parametrize("kubectl_program", programs(), ids=lambda found: found.version, indirect=True)


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    real = request.config.getoption("--real-kubernetes")
    # Not pytest's own folder: the names of sockets must stay below 108 characters.
    start = real_server if real else embedded_server
    with tempfile.TemporaryDirectory(prefix="pdc-test-") as home, start(Path(home)) as started:
        yield started


@pytest.fixture(scope="session")
def access(server: Server) -> Access:
    """The owner of the cluster, for our own client."""
    return from_kubeconfig(server.kubeconfig)


@pytest.fixture(scope="session")
def rest(server: Server) -> Iterator[Rest]:
    """The owner of the cluster, talking plain HTTP."""
    client = server.rest()
    yield client
    client.close()


@pytest.fixture
def namespace(rest: Rest, server: Server) -> Iterator[str]:
    """A namespace of the test's own, deleted afterwards."""
    with new_namespace(rest, server) as name:
        yield name


@pytest.fixture(scope="session")
def common_namespace(rest: Rest, server: Server) -> Iterator[str]:
    """For tests that leave nothing in it: to make one and to empty it costs more than most of them."""
    with new_namespace(rest, server) as name:
        yield name


@contextmanager
def new_namespace(rest: Rest, server: Server) -> Iterator[str]:
    name = f"test-{secrets.token_hex(4)}"
    rest.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect(201)
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    if server.controllers:
        until(lambda: rest.get(account).status == 200, what=f"the default account of {name}")
    yield name
    rest.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture
def kubectl_program(request: pytest.FixtureRequest) -> Program:
    """The kubectl of the server's own version, or each of them with `--every-kubectl`."""
    found: Program = getattr(request, "param", own_program())
    return found


@pytest.fixture
def kubectl(kubectl_program: Program, server: Server, namespace: str, tmp_path: Path) -> Kubectl:
    """kubectl in the namespace of the test."""
    if not kubectl_program.path:
        pytest.skip(f"kubectl {kubectl_program.version} is not built: make test-kubernetes builds it")
    return Kubectl(kubectl_program.path, server.kubeconfig, namespace, tmp_path)


@pytest.fixture(autouse=True)
def _controllers(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("needs_controllers") is None:
        return
    if not request.getfixturevalue("server").controllers:
        pytest.skip("the server under test runs without controllers")

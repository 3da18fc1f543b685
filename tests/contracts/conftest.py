"""Contracts of nodes run at each level of isolation, or with `--real-kubernetes` on a real kubelet."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from tests.contracts.node_clusters import REAL, Clusters, has_names, levels, make_namespace
from tests.contracts.node_jobs import NodeJobs
from tests.contracts.node_pods import NodePods
from tests.kubernetes.our_controllers import our_controllers
from tests.kubernetes.waiting import until
from tests.node.isolation_levels import best_level
from tests.servers import Server


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "level" in metafunc.fixturenames:
        real = bool(metafunc.config.getoption("--real-kubernetes"))
        metafunc.parametrize("level", levels(real), scope="module")


@pytest.fixture(scope="session")
def clusters() -> Iterator[Clusters]:
    with ExitStack() as stack:
        yield Clusters(stack)


@pytest.fixture(scope="module")
def node_server(clusters: Clusters, level: str) -> Server:
    return clusters.at(level)


@pytest.fixture(scope="module")
def pods(node_server: Server) -> Iterator[NodePods]:
    """A namespace on the cluster of the level, shared by the tests of a file."""
    with pods_of(node_server) as found:
        yield found


@pytest.fixture(scope="session")
def job_level(
    request: pytest.FixtureRequest, clusters: Clusters, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The level of a cluster with our controllers: what jobs do does not depend on how pods are kept."""
    if not request.config.getoption("--real-kubernetes"):
        yield best_level()
        return
    with our_controllers(clusters.at(REAL), tmp_path_factory.mktemp("controllers")):
        yield REAL


@pytest.fixture(scope="module")
def node_jobs(clusters: Clusters, job_level: str) -> Iterator[NodeJobs]:
    """A namespace for the jobs of a file."""
    server = clusters.at(job_level)
    with pods_of(server) as pods:
        yield NodeJobs(pods, server.kubeconfig, has_names(job_level))


@contextmanager
def pods_of(server: Server) -> Iterator[NodePods]:
    rest = server.rest()
    found = NodePods(rest, make_namespace(rest))
    yield found
    rest.delete(f"/api/v1/namespaces/{found.namespace}")
    # Pods that are still there when the cluster goes down get more time than they need.
    until(lambda: not rest.get(found.path("pods")).expect(200)["items"], what="an end of all pods", limit=90)
    # What a container made on the machine itself.
    shutil.rmtree(f"/tmp/pdc-contract-{found.namespace}", ignore_errors=True)
    rest.close()

"""Paddle really trains on a real node: the manifests of the documents, in images that we built of our suites.

The node tells of eight GPUs as one does with resources that no driver brings: through its status. The suites
train on the CPU however many cards they are given.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.objects import core, jobs
from tests.kubernetes.build_go import CannotBuild
from tests.kubernetes.node import NAME
from tests.kubernetes.our_controllers import our_controllers
from tests.kubernetes.rest import Rest
from tests.kubernetes.suite_images import RESNET, WIDE_AND_DEEP, SuiteImage
from tests.kubernetes.waiting import until
from tests.kubernetes.whole_cluster import whole_cluster
from tests.servers import Server

pytestmark = pytest.mark.kubernetes

IMAGES = (WIDE_AND_DEEP, RESNET)
NAMESPACE = "paddle-system"
LIMIT = 420.0
"""Seconds; half a minute each on two free cores."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    """A cluster that was given both jobs; they run one after the other where there is no room for both."""
    missing = [image.suite for image in IMAGES if image.built() is None]
    if missing:
        names = ", ".join(missing)
        pytest.skip(f"no image is built of {names}: FULL=1 make test-kubernetes builds them")
    try:
        with cluster() as server, our_controllers(server, tmp_path_factory.mktemp("controllers")):
            rest = server.rest()
            gpus = {"status": {"capacity": {"nvidia.com/gpu": "8"}}}
            rest.merge(f"/api/v1/nodes/{NAME}/status", gpus).expect(200)
            for image in IMAGES:
                rest.post(jobs(NAMESPACE), image.manifest(), fieldValidation="Strict").expect(201)
            yield rest
            for image in IMAGES:
                rest.delete(jobs(NAMESPACE, name_of(image))).expect(200)
            # Pods that are still there when the cluster goes down get more time than they need.
            until(
                lambda: not rest.get(core(NAMESPACE, "pods")).expect(200)["items"], what="no pods", limit=90
            )
            rest.close()
    except CannotBuild as error:
        pytest.skip(f"no real node here: {error}")


@contextmanager
def cluster() -> Iterator[Server]:
    # Not pytest's own folder: the names of sockets must stay below 108 characters.
    with tempfile.TemporaryDirectory(prefix="pdc-real-") as folder:
        archives = [image.build() for image in IMAGES]
        with whole_cluster(Path(folder), archives) as kubeconfig:
            yield Server(kubeconfig, controllers=True)


def name_of(image: SuiteImage) -> str:
    return str(image.manifest()["metadata"]["name"])


def completed(rest: Rest, image: SuiteImage) -> dict[str, Any]:
    """The status of the job of an image, once it has completed."""
    path = jobs(NAMESPACE, name_of(image))

    def final() -> bool:
        return (rest.get(path).expect(200).get("status") or {}).get("phase") in ("Completed", "Failed")

    until(final, what=f"the end of {path}: {rest.get(path).text}", limit=LIMIT)
    status: dict[str, Any] = rest.get(path).expect(200)["status"]
    assert status["phase"] == "Completed", status
    return status


def log(rest: Rest, pod: str) -> str:
    answer = rest.get(f"{core(NAMESPACE, 'pods', pod)}/log", container="paddle")
    assert answer.status == 200, answer.text
    return answer.text


def losses(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"\bloss:? ([\d.]+)", text)]


def test_wide_and_deep_trains_with_parameter_servers(trained: Rest) -> None:
    status = completed(trained, WIDE_AND_DEEP)

    assert (status["mode"], status["ps"]["ready"], status["worker"]["ready"]) == ("PS", "2/2", "0/2")
    said = losses(log(trained, "wide-ande-deep-worker-0"))
    assert said[-1] < said[0]
    assert status["progress"]["done"] == status["progress"]["total"] > 0


def test_resnet_trains_with_workers_that_share_their_gradients(trained: Rest) -> None:
    status = completed(trained, RESNET)

    assert (status["mode"], status["worker"]["ready"]) == ("Collective", "0/2")
    text = log(trained, "resnet-worker-0")
    said = losses(text)
    assert said[-1] < said[0] / 2
    found = re.search(r"test accuracy ([\d.]+)", text)
    assert found and float(found[1]) > 0.8, text[-500:]

"""PaddleServices on a real Kubernetes with a real Knative Serving: revisions, pods, scale, traffic.

Our controllers have the rights that are shipped. What a cluster has beside this and we have not is an
ingress: its part is played (`knative_engine`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.knative_refusals import REFUSED, refused
from tests.contracts.node_clusters import make_namespace
from tests.kubernetes import node_parts
from tests.kubernetes.build_extras import COREDNS, KNATIVE
from tests.kubernetes.build_go import CannotBuild
from tests.kubernetes.knative_engine import (
    archives,
    asked,
    hello,
    install,
    played_ingress,
    services,
    splits,
)
from tests.kubernetes.our_controllers import our_controllers
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.kubernetes.whole_cluster import whole_cluster
from tests.servers import Server

pytestmark = pytest.mark.kubernetes
Body = dict[str, Any]
LIMIT = 120.0


@pytest.fixture(scope="module")
def rest() -> Iterator[Rest]:
    programs = KNATIVE.built()
    missing = [extra.name for extra in (KNATIVE, COREDNS) if extra.built() is None]
    if programs is None or missing:
        pytest.skip(f"not built: {', '.join(missing)}; FULL=1 make test-kubernetes builds them")
    # Not pytest's own folder: the names of sockets must stay below 108 characters.
    with tempfile.TemporaryDirectory(prefix="pdc-real-") as folder:
        images = Path(folder) / "images"
        images.mkdir()
        try:
            busybox = node_parts.build() / "root" / "bin" / "busybox"
            made = [*archives(images, programs), *(hello(images, busybox, word) for word in ("a", "b", "c"))]
            with whole_cluster(Path(folder) / "home", made) as kubeconfig:
                server = Server(kubeconfig, controllers=True)
                rest = server.rest()
                # First its kinds: controllers that find none look again only after half a minute.
                install(rest, programs.parent.parent)
                with our_controllers(server, Path(folder) / "ours"), played_ingress(rest):
                    yield rest
                rest.close()
        except CannotBuild as error:
            pytest.skip(f"no real node here: {error}")


@pytest.fixture
def namespace(rest: Rest) -> Iterator[str]:
    name = make_namespace(rest)
    yield name
    rest.delete(f"/api/v1/namespaces/{name}")


def paddle_service(name: str, word: str, **more: Any) -> Body:
    return {
        "apiVersion": "elasticserving.paddlepaddle.org/v1",
        "kind": "PaddleService",
        "metadata": {"name": name},
        "spec": {
            "default": endpoint(word),
            "imagePullPolicy": "IfNotPresent",
            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
            **more,
        },
    }


def endpoint(word: str) -> Body:
    return {"containerImage": "dev.local/hello", "tag": word, "port": 9292}


class Served:
    """A PaddleService, and what became of it."""

    def __init__(self, rest: Rest, namespace: str, body: Body) -> None:
        self.rest, self.namespace, self.name = rest, namespace, body["metadata"]["name"]
        path = f"/apis/elasticserving.paddlepaddle.org/v1/namespaces/{namespace}/paddleservices"
        self.path = f"{path}/{self.name}"
        rest.post(path, body, fieldValidation="Strict").expect(201)

    def status(self) -> Body:
        found: Body = self.rest.get(self.path).expect(200).get("status") or {}
        return found

    def inner(self) -> Body:
        answer = self.rest.get(services(self.namespace, self.name))
        found: Body = answer.body if answer.status == 200 else {}
        return found

    def ready(self) -> bool:
        whole = self.rest.get(self.path).expect(200)
        status = whole.get("status") or {}
        told = {c["type"]: c["status"] for c in status.get("conditions") or ()}
        return (
            status.get("observedGeneration") == whole["metadata"]["generation"]
            and told.get("Ready") == "True"
        )

    def wait(self) -> None:
        until(self.ready, what=f"{self.name}: {self.status()} of {self.inner().get('status')}", limit=LIMIT)

    def shares(self) -> dict[str, int]:
        """What the ingress was told, by revision."""
        return {
            split["appendHeaders"]["Knative-Serving-Revision"]: split["percent"]
            for split in splits(self.rest, self.namespace, self.name)
        }

    def change(self, **spec: Any) -> None:
        self.rest.merge(self.path, {"spec": spec}).expect(200)

    def pods(self, revision: str) -> int:
        path = f"/apis/apps/v1/namespaces/{self.namespace}/deployments/{revision}-deployment"
        found = self.rest.get(path)
        return int((found.body.get("spec") or {}).get("replicas") or 0) if found.status == 200 else -1


def test_a_service_is_admitted_and_becomes_a_revision_with_a_pod(rest: Rest, namespace: str) -> None:
    served = Served(rest, namespace, paddle_service("one", "a", service={"minScale": 1}))
    served.wait()

    revision = f"/apis/serving.knative.dev/v1/namespaces/{namespace}/revisions/one-default"
    assert (
        rest.get(revision).expect(200)["metadata"]["annotations"]["autoscaling.knative.dev/min-scale"] == "1"
    )
    assert served.pods("one-default") == 1
    assert rest.get(f"/api/v1/namespaces/{namespace}/services/one-default-private").status == 200
    status = served.status()
    assert status["url"] == f"http://one.{namespace}.example.com"
    assert served.shares() == {"one-default": 100}
    [split] = splits(rest, namespace, "one")
    assert asked(rest, split) == "a"
    # What Knative fills in is not taken for somebody's change.
    generation = served.inner()["metadata"]["generation"]
    served.change(env=[])
    served.wait()
    assert served.inner()["metadata"]["generation"] == generation


def test_it_rests_without_a_pod_and_a_request_wakes_it(rest: Rest, namespace: str) -> None:
    served = Served(rest, namespace, paddle_service("rest", "a", service={"minScale": 0, "window": "6s"}))
    served.wait()
    until(lambda: served.pods("rest-default") == 0, what="rest", limit=LIMIT)
    assert served.ready()

    [split] = splits(rest, namespace, "rest")
    assert asked(rest, split) == "a"
    assert served.pods("rest-default") == 1


def test_a_canary_gets_its_share_and_a_new_default_comes_under_another_name(
    rest: Rest, namespace: str
) -> None:
    more = {"canary": endpoint("b"), "canaryTrafficPercent": 30, "service": {"minScale": 1}}
    served = Served(rest, namespace, paddle_service("two", "a", **more))
    served.wait()
    shares = served.shares()
    assert sorted(shares.values()) == [30, 70] and shares["two-default"] == 70
    answers = {split["percent"]: asked(rest, split) for split in splits(rest, namespace, "two")}
    assert answers == {70: "a", 30: "b"}

    served.change(default=endpoint("c"), canary=None, canaryTrafficPercent=None)
    served.wait()

    [(revision, share)] = served.shares().items()
    assert revision.startswith("two-default-") and share == 100
    [split] = splits(rest, namespace, "two")
    assert asked(rest, split) == "c"


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_knative_refuses(rest: Rest, case: Any) -> None:
    refused(rest, "default", case)

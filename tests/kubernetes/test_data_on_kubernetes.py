"""SampleSets and SampleJobs on a real Kubernetes, by our controllers with the rights they are shipped with.

There is no kubelet: the nodes exist on paper, and the runtimes are processes that `played_runtimes` starts.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contracts.objects import core
from tests.kubernetes import build
from tests.kubernetes.data_sets import FILES, SIZE, VOLUMES, Words, write_files
from tests.kubernetes.made_up_nodes import TOLERATED, a_node, made_up
from tests.kubernetes.our_controllers import our_controllers
from tests.kubernetes.played_runtimes import LABEL, PlayedRuntimes, played_runtimes
from tests.kubernetes.rest import Rest
from tests.kubernetes.scheduler import kube_scheduler
from tests.servers import Server

pytestmark = pytest.mark.kubernetes
Body = dict[str, Any]
NODES = ("data-1", "data-2")
EXAMPLES = Path(__file__).parent.parent.parent / "deploy" / "examples"
DRIVERS = "/apis/storage.k8s.io/v1/csidrivers"
KEYS = {"access-key": base64.b64encode(b"me\n").decode(), "secret-key": base64.b64encode(b"hush").decode()}


@pytest.fixture(scope="module")
def player(server: Server, rest: Rest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayedRuntimes]:
    home = tmp_path_factory.mktemp("data")
    with ExitStack() as stack:
        stack.enter_context(kube_scheduler(home, build.build(), server.kubeconfig))
        stack.enter_context(made_up(rest, [a_node(name) for name in NODES]))
        ours = stack.enter_context(our_controllers(server, home / "ours"))
        yield stack.enter_context(played_runtimes(rest, home / "disks", NODES))
    # What a controller may not do it says there, and goes on without.
    assert "is forbidden: User" not in ours.log.read_text(), ours.log.read_text()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    write_files(folder)
    return folder


@pytest.fixture
def data(rest: Rest, namespace: str, player: PlayedRuntimes) -> Iterator[Words]:
    yield Words(rest, namespace, NODES, player.disk)
    assert not player.trouble, player.trouble


@pytest.mark.parametrize("name", ["sampleset", "sampleset_juicefs"])
def test_the_examples_are_taken_as_they_are(rest: Rest, namespace: str, name: str) -> None:
    for body in yaml.safe_load_all((EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8")):
        plural = f"{body['kind'].lower()}s"
        root = "/api/v1" if body["apiVersion"] == "v1" else f"/apis/{body['apiVersion']}"
        path = f"{root}/namespaces/{namespace}/{plural}"
        rest.post(path, body, fieldValidation="Strict", dryRun="All").expect(201)


def test_a_set_is_copied_to_two_nodes_and_its_objects_are_those_that_clients_know(
    data: Words, source: Path
) -> None:
    data.make(source, tolerations=[TOLERATED], partitions=2, csi={"driver": "local"})
    data.comes_to("Ready", "2/2")

    cache = data.status()["cacheStatus"]
    assert (cache["totalSize"], cache["cachedSize"], cache["totalFiles"]) == (SIZE, SIZE, "4")
    assert all(data.copies(node) == FILES for node in NODES)
    volume, claim = data.volume(), data.object("persistentvolumeclaims", "words")
    assert volume["status"]["phase"] == claim["status"]["phase"] == "Bound"
    assert volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"]
    wanted = {"capacity": {"storage": "10Pi"}, "accessModes": ["ReadWriteMany"], "volumeMode": "Filesystem"}
    wanted |= {"storageClassName": "paddle-operator", "persistentVolumeReclaimPolicy": "Retain"}
    assert {name: volume["spec"][name] for name in wanted} == wanted
    service = data.object("services", "words-runtime-service")["spec"]
    assert (service["clusterIP"], service["ports"][0]["port"]) == ("None", 7716)
    runtimes = data.runtimes()
    assert runtimes["spec"]["template"]["metadata"]["labels"] == {LABEL: "words"}
    assert sorted(data.labels().values()) == ["words-runtime-0", "words-runtime-1"]
    assert runtimes["metadata"]["generation"] == 1, "what the server fills in is no reason to change it"
    secret = data.object("secrets", "words-runtime")
    assert secret["metadata"]["ownerReferences"][0]["kind"] == "SampleSet"
    assert base64.b64decode(secret["data"]["token"]).decode() not in str([runtimes, data.status()])


def test_partitions_come_and_go_with_their_nodes(data: Words, source: Path) -> None:
    data.make(source, tolerations=[TOLERATED], partitions=1)
    data.comes_to("Ready")
    [first] = data.labels()

    data.edit(partitions=2)
    data.comes_to("Ready", "2/2")
    assert sorted(data.labels()) == sorted(NODES)

    data.edit(partitions=3)
    data.until(lambda: "nodes are available" in str(data.status()["conditions"]), "the scheduler's words")
    assert data.status()["phase"] == "PartialReady" and data.status()["runtimeStatus"]["readyReplicas"] == 2

    data.edit(partitions=1)
    data.comes_to("Ready")
    data.until(lambda: data.labels() == {first: "words-runtime-0"}, "one node with a label")


def test_jobs_of_all_four_types(data: Words, source: Path) -> None:
    data.make(source, tolerations=[TOLERATED])
    data.comes_to("Ready")
    [node] = data.labels()

    data.does("rmr", rmrOptions={"paths": ["n01"]})
    assert sorted(data.copies(node)) == ["a b.txt", "\u6df1/\u5ea6.txt"]
    data.until(lambda: data.status()["cacheStatus"]["totalFiles"] == "2", "what is left")
    data.does("sync", syncOptions={"source": source.as_uri()})
    assert data.copies(node) == FILES
    data.does("clear")
    assert data.copies(node) == {}
    data.until(lambda: data.status()["cacheStatus"]["cachedSize"] == "0 B", "an empty cache")
    data.does("warmup")
    assert data.copies(node) == FILES
    data.comes_to("Ready")


def test_a_secret_that_comes_later_is_waited_for(data: Words, source: Path) -> None:
    there = {"uri": source.as_uri(), "secretRef": {"name": "keys"}}
    data.make(source, source=there, tolerations=[TOLERATED])
    data.until(lambda: data.waits_for()[0] == "WaitingForSecret", "WaitingForSecret")
    assert "Secret keys does not exist" in data.waits_for()[1]
    assert data.rest.get(f"{VOLUMES}/{data.namespace}-words").status == 404

    data.rest.post(core(data.namespace, "secrets"), {"metadata": {"name": "keys"}, "data": KEYS}).expect(201)

    data.comes_to("Ready")


def test_a_volume_of_somebody_else_is_left_alone(data: Words, source: Path) -> None:
    name = f"{data.namespace}-words"
    theirs: Body = {
        "metadata": {"name": name, "labels": {"theirs": "yes"}},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/x"},
        },
    }
    data.rest.post(VOLUMES, theirs).expect(201)
    data.make(source, tolerations=[TOLERATED])
    data.until(lambda: data.waits_for()[0] == "NameTaken", "NameTaken")
    assert name in data.waits_for()[1]
    assert data.volume()["metadata"]["labels"] == {"theirs": "yes"}

    data.rest.delete(f"{VOLUMES}/{name}").expect(200)

    data.comes_to("Ready")
    assert data.volume()["metadata"]["labels"][LABEL] == "words"


def test_a_set_ends_when_its_last_reader_has_and_leaves_nothing(data: Words, source: Path) -> None:
    data.make(source, tolerations=[TOLERATED])
    data.comes_to("Ready")
    [node] = data.labels()
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "words"}}
    spec = {"nodeName": node, "volumes": [claim], "containers": [{"name": "main", "image": "example/x:1"}]}
    data.rest.post(core(data.namespace, "pods"), {"metadata": {"name": "reader"}, "spec": spec}).expect(201)

    data.goes()
    data.until(lambda: data.waits_for()[0] == "InUse", "InUse")
    assert data.copies(node) == FILES
    data.rest.delete(core(data.namespace, "pods", "reader"), {"gracePeriodSeconds": 0}).expect(200)

    data.until(data.gone, "the end of the set")
    assert data.rest.get(f"{VOLUMES}/{data.namespace}-words").status == 404
    assert data.labels() == {} and data.copies(node) == {}


def test_juicefs_waits_for_its_driver_and_then_has_the_volume_that_it_knows(
    data: Words, source: Path
) -> None:
    file_system = {
        "name": "words",
        "storage": "s3",
        "metaurl": "redis://meta/1",
        "bucket": "http://objects/b",
    }
    data.rest.post(
        core(data.namespace, "secrets"), {"metadata": {"name": "jfs"}, "stringData": file_system}
    ).expect(201)
    # Nowhere to run: nobody here can play a file system.
    data.make(source, csi={"driver": "juicefs"}, secretRef={"name": "jfs"})
    data.until(lambda: data.waits_for()[0] == "EngineMissing", "EngineMissing")
    assert "helm install juicefs-csi-driver" in data.waits_for()[1]

    data.rest.post(DRIVERS, {"metadata": {"name": "csi.juicefs.com"}, "spec": {}}).expect(201)
    try:
        data.until(lambda: data.status().get("phase") == "Mount", "Mount")
    finally:
        data.rest.delete(f"{DRIVERS}/csi.juicefs.com")
    cache = f"/var/lib/paddlecloud/cache/{data.namespace}/words"
    assert data.volume()["spec"]["csi"] == {
        "driver": "csi.juicefs.com",
        "fsType": "juicefs",
        "volumeHandle": f"{data.namespace}-words",
        "nodePublishSecretRef": {"name": "jfs", "namespace": data.namespace},
        "volumeAttributes": {"mountOptions": f"cache-dir={cache},cache-size=1073741824"},
    }
    data.until(lambda: "nodes are available" in data.waits_for()[1], "the scheduler's words")
    data.goes()
    data.until(data.gone, "the end of the set")
    assert data.rest.get(f"{VOLUMES}/{data.namespace}-words").status == 404

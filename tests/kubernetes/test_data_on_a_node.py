"""Data sets on a real node, with the controllers as `deploy/v1/operator.yaml` installs them.

The images are built of our suites; the node keeps the copies on its own disk, below `/var/lib/paddlecloud`.
"""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.node_clusters import make_namespace
from tests.contracts.objects import core
from tests.kubernetes.build_extras import JUICEFS_CSI
from tests.kubernetes.build_go import CannotBuild
from tests.kubernetes.data_sets import FILES, SIZE, VOLUMES, Words, write_files
from tests.kubernetes.node import NAME
from tests.kubernetes.our_controllers import deploy
from tests.kubernetes.rest import Rest
from tests.kubernetes.suite_images import CORE, DATA
from tests.kubernetes.waiting import until
from tests.kubernetes.whole_cluster import whole_cluster
from tests.servers import Server
from tests.suites.environments import variables

from paddlecloud.cache.juicefs.client import PROGRAM

pytestmark = pytest.mark.kubernetes
Body = dict[str, Any]
SHELL = "busybox"
DRIVER = {"metadata": {"name": "csi.juicefs.com"}, "spec": {"attachRequired": False}}


@dataclass(frozen=True)
class Cluster:
    rest: Rest
    home: Path
    """Where the node keeps what is below its /var."""

    def disk(self, node: str, path: str) -> Path:
        assert node == NAME and path.startswith("/var/lib/")
        return self.home / "var-lib" / path.removeprefix("/var/lib/")

    def run(self, namespace: str, name: str, command: str, **spec: Any) -> str:
        """The address of a pod that runs *command* in a shell."""
        container: Body = {
            "name": "main",
            "image": SHELL,
            "imagePullPolicy": "IfNotPresent",
            "command": ["sh", "-c", command],
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        }
        spec = {"restartPolicy": "Never", "containers": [container], **spec}
        body = {"metadata": {"name": name}, "spec": spec}
        path = core(namespace, "pods", name)
        self.rest.post(core(namespace, "pods"), body).expect(201)

        def started() -> str:
            status = self.rest.get(path).expect(200)["status"]
            return str(status.get("podIP", "")) if status["phase"] != "Pending" else ""

        return until(started, what=f"pod {name}: {self.rest.get(path).text}", limit=60)

    def said(self, namespace: str, name: str) -> str:
        """What a pod wrote until it ended."""
        path = core(namespace, "pods", name)

        def ended() -> str:
            phase = str(self.rest.get(path).expect(200)["status"]["phase"])
            return phase if phase in ("Succeeded", "Failed") else ""

        phase = until(ended, what=f"the end of pod {name}", limit=60)
        text = self.rest.get(f"{path}/log").text
        assert phase == "Succeeded", text
        return text


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    missing = [image.suite for image in (CORE, DATA) if image.built() is None]
    if missing:
        pytest.skip(f"no image is built of {', '.join(missing)}: FULL=1 make test-kubernetes builds them")
    # Not pytest's own folder: the names of sockets must stay below 108 characters.
    with tempfile.TemporaryDirectory(prefix="pdc-real-") as folder:
        try:
            archives, client = [CORE.build(), DATA.build()], juicefs_client()
            with whole_cluster(Path(folder), archives, client) as kubeconfig:
                rest = Server(kubeconfig, controllers=True).rest()
                deploy(rest)
                yield Cluster(rest, Path(folder))
                until(lambda: not left(rest), what="an end of all data sets", limit=120)
                rest.close()
        except CannotBuild as error:
            pytest.skip(f"no real node here: {error}")


def left(rest: Rest) -> list[str]:
    """The namespaces of tests that are not gone yet: only who still runs can end what they held."""
    found = rest.get("/api/v1/namespaces").expect(200)["items"]
    return [name for item in found if (name := str(item["metadata"]["name"])).startswith("test-")]


def juicefs_client() -> Path | None:
    """For the driver of JuiceFS, where that is built."""
    return Path(variables("data")["PATH"].partition(":")[0]) / PROGRAM if JUICEFS_CSI.built() else None


@pytest.fixture
def data(cluster: Cluster) -> Iterator[Words]:
    namespace = make_namespace(cluster.rest)
    words = Words(cluster.rest, namespace, (NAME,), cluster.disk, limit=90)
    yield words
    cluster.rest.delete(f"/api/v1/namespaces/{namespace}")


@pytest.fixture
def source() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pdc-source-") as folder:
        write_files(Path(folder) / "files")
        yield Path(folder) / "files"


def claimed(**more: Any) -> Body:
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "words", **more}}]}


def test_a_set_is_copied_read_changed_and_removed_with_its_copies(
    cluster: Cluster, data: Words, source: Path
) -> None:
    data.make(source, csi={"driver": "auto"})
    data.comes_to("Ready")
    cache = data.status()["cacheStatus"]
    assert (cache["totalSize"], cache["cachedSize"]) == (SIZE, SIZE)
    assert data.copies(NAME) == FILES and data.labels() == {NAME: "words-runtime-0"}
    assert data.runtimes()["metadata"]["generation"] == 1

    cluster.run(data.namespace, "reader", "cat '/data/a b.txt' /data/n01/x.txt", **claimed())
    assert cluster.said(data.namespace, "reader") == "onethree"

    data.does("rmr", rmrOptions={"paths": ["n01"]})
    assert sorted(data.copies(NAME)) == ["a b.txt", "\u6df1/\u5ea6.txt"]
    data.does("sync")
    assert data.copies(NAME) == FILES
    data.does("clear")
    assert data.copies(NAME) == {}
    data.does("warmup")
    assert data.copies(NAME) == FILES
    data.comes_to("Ready")

    data.rest.delete(core(data.namespace, "pods", "reader")).expect(200)
    data.goes()
    data.until(data.gone, "the end of the set")
    assert data.rest.get(f"{VOLUMES}/{data.namespace}-words").status == 404
    assert data.copies(NAME) == {} and data.labels() == {}


def test_an_archive_is_fetched_over_http_and_unpacked(cluster: Cluster, data: Words, source: Path) -> None:
    served = source.with_name("served")
    served.mkdir()
    with tarfile.open(served / "words.tar.gz", "w:gz") as archive:
        archive.add(source, arcname=".")
    volume = {"name": "data", "hostPath": {"path": str(served)}}
    address = cluster.run(
        data.namespace, "files", "httpd -f -p 8080 -h /data",
        volumes=[volume], terminationGracePeriodSeconds=0,
    )  # fmt: skip
    data.make(source, source={"uri": f"http://{address}:8080/words.tar.gz"})
    data.comes_to("Ready")

    assert data.copies(NAME) == FILES


def test_a_folder_that_is_missing_is_named_until_it_is_there(data: Words, source: Path) -> None:
    """The node tells of it in events only."""
    later = source.with_name("later")
    data.make(later)
    data.until(lambda: data.waits_for()[0] == "SourceMissing", "SourceMissing")
    assert f"the source {later.as_uri()} is missing: there is no such folder on {NAME}" in data.waits_for()[1]
    assert data.status()["phase"] == "SyncFailed"

    shutil.copytree(source, later)

    data.comes_to("Ready")
    assert data.copies(NAME) == FILES


@pytest.mark.skipif(
    JUICEFS_CSI.built() is None, reason="the driver of JuiceFS is not built: FULL=1 builds it"
)
def test_juicefs_is_mounted_by_its_own_driver(cluster: Cluster, data: Words, source: Path) -> None:
    """With a file system in plain files of the node; its objects stay when the set goes."""
    cluster.rest.post("/apis/storage.k8s.io/v1/csidrivers", DRIVER).expect(201)
    store = f"/var/lib/{data.namespace}"
    cluster.disk(NAME, store).mkdir()
    system = {
        "name": "words",
        "storage": "file",
        "bucket": f"{store}/",
        "metaurl": f"sqlite3://{store}/meta.db",
        # What is removed is gone, also from the cache.
        "trash-days": "0",
    }
    data.rest.post(
        core(data.namespace, "secrets"), {"metadata": {"name": "jfs"}, "stringData": system}
    ).expect(201)
    data.make(source, csi={"driver": "auto"}, secretRef={"name": "jfs"})
    data.comes_to("Ready")
    assert data.status()["engine"] == "juicefs"

    cluster.run(data.namespace, "reader", "cat '/data/a b.txt' /data/n01/x.txt", **claimed())
    assert cluster.said(data.namespace, "reader") == "onethree"
    data.does("rmr", rmrOptions={"paths": ["n01"]})
    data.until(lambda: data.status()["cacheStatus"]["totalFiles"] == "2", "what is left")
    data.does("sync")
    data.until(lambda: data.status()["cacheStatus"]["totalFiles"] == "4", "all files")
    data.does("clear")
    data.until(lambda: data.status()["cacheStatus"]["cachedSize"] == "0 B", "an empty cache")
    data.does("warmup")
    data.until(lambda: data.status()["cacheStatus"]["cachedSize"] == SIZE, "a full cache")

    data.rest.delete(core(data.namespace, "pods", "reader")).expect(200)
    data.goes()
    data.until(data.gone, "the end of the set")
    assert data.rest.get(f"{VOLUMES}/{data.namespace}-words").status == 404
    assert cluster.disk(NAME, f"{store}/meta.db").exists()

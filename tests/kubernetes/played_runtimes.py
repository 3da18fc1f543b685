"""Runtimes of data sets where there is no kubelet: real processes, started as their pods say.

Nodes exist on paper, the real scheduler places the pods, and here is done what a kubelet would do with them:
folders of the node for host paths, Secrets as files, `$(NAME)` in the command, and the words about how they
fare. A folder of a node stays when a pod goes.
"""

from __future__ import annotations

import base64
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zlib import crc32

import urllib3
from tests.contracts.objects import core
from tests.kubernetes.processes import Process, running
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.properties.pod_lives import Sight, next_status

from paddlecloud.api.core import Pod

ROOT = Path(__file__).parent.parent.parent
LABEL = "sampleset.paddlepaddle.org/name"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
LOOK, HEARTBEAT = 0.1, 10.0
Body = dict[str, Any]


@dataclass
class Played:
    """One pod and its process."""

    process: Process
    ends: ExitStack
    address: str


@dataclass
class PlayedRuntimes:
    rest: Rest
    home: Path
    nodes: tuple[str, ...]
    _pods: dict[str, Played] = field(default_factory=dict)
    _beat: float = 0.0
    _over: threading.Event = field(default_factory=threading.Event)
    trouble: str = ""
    """What went wrong in the thread that plays; a test that waits in vain shows it."""

    def disk(self, node: str, path: str) -> Path:
        """A folder of a node, as its owner sees it."""
        return self.home / node / path.removeprefix("/")

    def run(self) -> None:
        try:
            while not self._over.wait(LOOK):
                self._look()
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"
            raise
        finally:
            for played in self._pods.values():
                played.ends.close()

    def stop(self) -> None:
        self._over.set()

    def _look(self) -> None:
        if time.monotonic() > self._beat:
            self._beat = time.monotonic() + HEARTBEAT
            for node in self.nodes:
                alive(self.rest, node)
        found = self.rest.get("/api/v1/pods", labelSelector=LABEL).expect(200)["items"]
        here = {pod["metadata"]["uid"]: Pod.read(pod) for pod in found if pod["spec"].get("nodeName")}
        for uid in self._pods.keys() - here.keys():
            self._pods.pop(uid).ends.close()
        for uid, pod in here.items():
            self._serve(uid, pod)

    def _serve(self, uid: str, pod: Pod) -> None:
        path = core(pod.namespace, "pods", pod.name)
        if pod.metadata.deletion_timestamp is not None:
            if uid in self._pods:
                self._pods.pop(uid).ends.close()
            self.rest.delete(path, {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}})
            return
        if uid not in self._pods:
            self._pods[uid] = self._started(pod)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        status = next_status(pod, Sight(self._pods[uid].address, now))
        if status is not None:
            self.rest.merge(f"{path}/status", {"status": status})

    def _started(self, pod: Pod) -> Played:
        [container] = pod.spec["containers"]
        inside = self.home / "pods" / pod.uid
        number = crc32(pod.uid.encode())
        address = f"127.{number >> 16 & 127 | 128}.{number >> 8 & 255}.{number % 253 + 1}"
        places = self._mounted(pod, container, inside)
        index = pod.metadata.labels["apps.kubernetes.io/pod-index"]
        words = [w.replace("$(PARTITION)", index) for w in container["command"]]
        assert words[0] == "python", words
        command = [translated(word, places, inside) for word in words[1:]]
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "POD_IP": address}
        ends = ExitStack()
        process = ends.enter_context(running(Path(sys.executable), command, inside / "log", environ))
        until(lambda: listens(address, process), what=f"{pod.name} to listen", limit=30)
        return Played(process, ends, address)

    def _mounted(self, pod: Pod, container: Body, inside: Path) -> dict[str, Path]:
        """Where each mount is on this machine."""
        volumes = {volume["name"]: volume for volume in pod.spec["volumes"]}
        places: dict[str, Path] = {}
        for mount in container["volumeMounts"]:
            at, volume = str(mount["mountPath"]), volumes[mount["name"]]
            if "secret" in volume:
                self._secret(pod.namespace, volume["secret"], inside / at.removeprefix("/"))
            elif "projected" in volume:
                self._projected(pod, volume["projected"]["sources"], inside / at.removeprefix("/"))
            elif (host := volume.get("hostPath") or {}).get("type") == "DirectoryOrCreate":
                places[at] = self.disk(pod.node, host["path"])
                places[at].mkdir(parents=True, exist_ok=True)
        return places

    def _secret(self, namespace: str, said: Body, folder: Path) -> None:
        folder.mkdir(parents=True)
        for key, value in self._keys(namespace, said["secretName"], optional=said.get("optional")).items():
            (folder / key).write_bytes(value)

    def _projected(self, pod: Pod, sources: list[Body], folder: Path) -> None:
        files: dict[str, bytes] = {}
        for source in sources:
            for item in (source.get("downwardAPI") or {}).get("items", ()):
                assert item["fieldRef"]["fieldPath"] == "metadata.name", item
                files[item["path"]] = pod.name.encode()
            if said := source.get("secret"):
                keys = self._keys(pod.namespace, said["name"], optional=said.get("optional"))
                files |= {i["path"]: keys[i["key"]] for i in said["items"] if i["key"] in keys}
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)

    def _keys(self, namespace: str, name: str, *, optional: bool | None) -> dict[str, bytes]:
        answer = self.rest.get(core(namespace, "secrets", name))
        if answer.status == 404 and optional:
            return {}
        data = answer.expect(200).get("data") or {}
        return {key: base64.b64decode(text) for key, text in data.items()}


def translated(word: str, places: Mapping[str, Path], inside: Path) -> str:
    """A path of the container as one of this machine; other words as they are."""
    for at, place in places.items():
        if word == at or word.startswith(f"{at}/"):
            return f"{place}{word.removeprefix(at)}"
    return f"{inside}{word}" if word.startswith("/") else word


def listens(address: str, process: Process) -> bool:
    process.check()
    try:
        with urllib3.PoolManager(retries=False, timeout=2.0) as pool:
            return pool.request("GET", f"http://{address}:7716/healthz").status == 200
    except urllib3.exceptions.HTTPError:
        return False


def alive(rest: Rest, node: str) -> None:
    """Say that the node is, so that nobody takes its pods away."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": stamp}
    if rest.merge(f"{LEASES}/{quote(node)}", {"spec": spec}).status == 404:
        rest.post(LEASES, {"metadata": {"name": node}, "spec": spec})


@contextmanager
def played_runtimes(rest: Rest, home: Path, nodes: tuple[str, ...]) -> Iterator[PlayedRuntimes]:
    player = PlayedRuntimes(rest, home, nodes)
    thread = threading.Thread(target=player.run)
    thread.start()
    try:
        yield player
    finally:
        player.stop()
        thread.join(30)
        for node in nodes:
            rest.delete(f"{LEASES}/{node}")
    assert not player.trouble, player.trouble

"""The runtimes of a SampleSet: one pod a partition and node, how it is started and how it is spoken to; pure.

Only pods of the set's own StatefulSet are spoken to: others may carry its labels, and would hear the token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from ..api.core import Pod, Service, StatefulSet
from ..api.meta import Metadata
from ..api.sampleset import SampleSet
from .contract import HttpCall, HttpQuestion, Snapshot, Token
from .dataengines import JUICEFS
from .dataengines import KEYS as KEY_NAMES
from .datavolumes import LABEL, cache_folders, folder

IMAGE, PORT = "paddlecloud/data", 7716
ROOT, DATA, CACHE = "/sampleset", "/sampleset/data", "/cache"
TOKEN, KEYS = "/etc/paddlecloud/runtime", "/etc/paddlecloud/keys"
SOURCE = "source"
CLAIM_VARIABLE, CLAIM_FOLDER = "SOURCE_CLAIM", "/mnt/source-claim"
"""Where a claim that is the source is mounted, and the variable that says so."""
UNPRIVILEGED = {
    "allowPrivilegeEscalation": False,
    # It is root, because the folders of a node are root's, with the right to read what others own.
    "capabilities": {"drop": ["ALL"], "add": ["CHOWN", "DAC_OVERRIDE", "FOWNER"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


def command(data: SampleSet, engine: str) -> list[str]:
    run = ["python", "-m", "paddlecloud.cache.runtime"]
    caches = cache_folders(data) if engine == JUICEFS else []
    return [
        *run, "--engine", engine, "--root", ROOT, "--data", DATA, "--port", str(PORT),
        *(word for number in range(len(caches)) for word in ("--cache-dir", f"{CACHE}/{number}")),
        # The last part of the pod's name; which one it is follows from nothing else.
        "--partition", "$(PARTITION)",
        "--token-file", f"{TOKEN}/token", "--keys", KEYS,
    ]  # fmt: skip


def runtime_name(data: SampleSet) -> str:
    return f"{data.name}-runtime"


def token_of(data: SampleSet) -> Token:
    return Token(data.namespace, runtime_name(data))


def index_of(pod: Pod) -> int:
    return int(pod.name.rpartition("-")[2])


def runtimes(data: SampleSet, seen: Snapshot) -> dict[int, Pod]:
    """The pods of the set's own StatefulSet, by partition; those beyond its number are on their way out."""
    owner = seen.owned(StatefulSet).get(runtime_name(data))
    mine = [p for p in seen.all(Pod) if owner and p.controlled_by() == owner.uid]
    return {index_of(p): p for p in sorted(mine, key=index_of)}


def listening(pods: dict[int, Pod]) -> dict[int, Pod]:
    return {i: p for i, p in pods.items() if p.ip and p.phase == "Running"}


def address(pod: Pod) -> str:
    host = f"[{pod.ip}]" if ":" in pod.ip else pod.ip
    return f"http://{host}:{PORT}"


def state_question(pod: Pod, data: SampleSet) -> HttpQuestion:
    return HttpQuestion(f"{address(pod)}/cacheStatus/cacheInfo.json", token_of(data))


def result_question(pod: Pod, token: Token, operation: str, name: str) -> HttpQuestion:
    return HttpQuestion(f"{address(pod)}/{operation}Result/{name}", token)


def upload(pod: Pod, token: Token, operation: str, name: str, body: str) -> HttpCall:
    return HttpCall(f"{address(pod)}/upload/{operation}Options", name, body, token)


def make_service(data: SampleSet) -> Service:
    labels = {LABEL: data.name}
    return Service(
        metadata=Metadata(name=f"{runtime_name(data)}-service", namespace=data.namespace, labels=labels),
        spec={
            "clusterIP": "None",
            "selector": labels,
            "ports": [{"name": "service", "port": PORT}],
        },
    )


def make_runtime(
    data: SampleSet, engine: str, secrets: Iterable[str], root: str = "", replicas: int | None = None
) -> StatefulSet:
    """With the keys of these *secrets* at hand, which may come later.

    *root* is the source, or more of it; *replicas*: more than partitions while some leave.
    """
    labels = {LABEL: data.name}
    volumes, mounts = storage(data, engine)
    for volume, mount in source_folder(root or (data.spec.source.uri if data.spec.source else "")):
        volumes.append(volume)
        mounts.append(mount)
    volumes.append({"name": "token", "secret": {"secretName": token_of(data).name}})
    mounts.append({"name": "token", "mountPath": TOKEN, "readOnly": True})
    if at_hand := sorted(secrets):
        volumes.append(key_volume(at_hand))
        mounts.append({"name": "keys", "mountPath": KEYS, "readOnly": True})
    index = {"fieldRef": {"fieldPath": "metadata.labels['apps.kubernetes.io/pod-index']"}}
    # Where it listens: kubelets, unlike our nodes, tell nobody.
    own = {"fieldRef": {"fieldPath": "status.podIP"}}
    seen_at = {"name": CLAIM_VARIABLE, "value": CLAIM_FOLDER}
    container: dict[str, Any] = {
        "name": "runtime",
        "image": IMAGE,
        "command": command(data, engine),
        "imagePullPolicy": "IfNotPresent",
        "env": [
            {"name": "PARTITION", "valueFrom": index},
            {"name": "POD_IP", "valueFrom": own},
            *(seen_at for m in mounts if m["mountPath"] == CLAIM_FOLDER),
        ],
        "ports": [{"name": "runtime", "containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": PORT}, "periodSeconds": 2},
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
        "securityContext": UNPRIVILEGED,
        "volumeMounts": mounts,
    }
    pod: dict[str, Any] = {
        "containers": [container],
        "volumes": volumes,
        "affinity": affinity(data, labels),
        # The last one of a set cleans up after itself, on however busy a node.
        "terminationGracePeriodSeconds": 30,
        # It asks the API for nothing.
        "automountServiceAccountToken": False,
    }
    if data.spec.tolerations:
        pod["tolerations"] = data.spec.tolerations
    return StatefulSet(
        metadata=Metadata(name=runtime_name(data), namespace=data.namespace, labels=labels),
        spec={
            "replicas": replicas or data.spec.partitions,
            "serviceName": f"{runtime_name(data)}-service",
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    )


def affinity(data: SampleSet, labels: dict[str, str]) -> dict[str, Any]:
    alone = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    found: dict[str, Any] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [alone]}}
    if data.spec.node_affinity:
        found["nodeAffinity"] = data.spec.node_affinity
    return found


def storage(data: SampleSet, engine: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Volumes and mounts: what the engine knows, the data, its caches."""
    volumes: list[dict[str, Any]] = [on_node("root", folder(data))]
    mounts: list[dict[str, Any]] = [{"name": "root", "mountPath": ROOT}]
    # The engine local keeps the data below the root: what is made aside gets its name in one step.
    if engine == JUICEFS:
        volumes.append({"name": "data", "persistentVolumeClaim": {"claimName": data.name}})
        mounts.append({"name": "data", "mountPath": DATA})
        for number, path in enumerate(cache_folders(data)):
            volumes.append(on_node(f"cache-{number}", path))
            mounts.append({"name": f"cache-{number}", "mountPath": f"{CACHE}/{number}"})
    return volumes, mounts


def source_folder(uri: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """A source on the node, at the same path inside as outside: it means the same to both; or a claim."""
    parts = urlsplit(uri)
    if parts.scheme == "file":
        path = unquote(parts.path)
        # With its type nobody makes up an empty folder for one that is missing.
        yield (
            {"name": SOURCE, "hostPath": {"path": path, "type": "Directory"}},
            {"name": SOURCE, "mountPath": path},
        )
    if parts.scheme == "pvc":
        yield (
            {"name": SOURCE, "persistentVolumeClaim": {"claimName": parts.netloc, "readOnly": True}},
            {"name": SOURCE, "mountPath": CLAIM_FOLDER, "readOnly": True},
        )


def on_node(name: str, path: str) -> dict[str, Any]:
    return {"name": name, "hostPath": {"path": path, "type": "DirectoryOrCreate"}}


def key_volume(secrets: Iterable[str]) -> dict[str, Any]:
    """A folder for each Secret, in one volume: where nothing is mounted, only paths of volumes are known."""
    names = list(secrets)
    keys = [
        {"name": s, "optional": True, "items": [{"key": k, "path": f"{s}/{k}"} for k in KEY_NAMES]}
        for s in names
    ]
    # A Secret that has no such key has its folder, too: it is at hand, and a source may need no key.
    own_name = {"fieldRef": {"fieldPath": "metadata.name"}}
    folders = {"downwardAPI": {"items": [{"path": f"{s}/.for", **own_name} for s in names]}}
    return {"name": "keys", "projected": {"sources": [*({"secret": k} for k in keys), folders]}}


def keys_at_hand(spec: dict[str, Any]) -> set[str]:
    """The Secrets whose keys a runtime finds, from the spec of its pod."""
    return {
        str(source["secret"]["name"])
        for volume in spec.get("volumes") or ()
        if volume.get("name") == "keys"
        for source in (volume.get("projected") or {}).get("sources") or ()
        if "secret" in source
    }

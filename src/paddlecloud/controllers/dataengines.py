"""Which engine keeps the data of a SampleSet, and what speaks against a set as it is written; pure.

The engine is chosen once: what a set has begun with it goes on with, whatever nodes come and go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from ..api.core import CSIDriver, Node
from ..api.sampleset import Driver, SampleSet, SecretReference

LOCAL, JUICEFS = "local", "juicefs"
DRIVER = "csi.juicefs.com"
INSTALL = (
    "helm repo add juicefs https://juicedata.github.io/charts && "
    "helm install juicefs-csi-driver juicefs/juicefs-csi-driver --namespace kube-system"
)
FUSE = "paddlecloud.org/fuse"
"""What a node of the embedded cluster says of itself: whether file systems can be mounted there."""
NO_KEYS = "none"
"""The name under which older installations kept an empty Secret for public sources."""
ENGINE_KEYS = ("name", "storage", "metaurl", "bucket")
"""What the Secret of a JuiceFS file system must have."""
KEYS = ("access-key", "secret-key")
"""What the Secret of a bucket must have."""
BUCKETS = frozenset({
    "bos", "s3", "minio", "oss", "cos", "obs", "ks3", "jss", "oos", "scw", "scs", "ibmcos", "wasabi", "mss",
    "nos", "eos", "speedy", "space", "ufile", "qingstor", "qiniu", "b2", "wasb", "webdav",
})  # fmt: skip
SCHEMES = (
    "bos", "s3", "hdfs", "gs", "wasb", "oss", "cos", "ks3", "ufile", "qingstor", "jss", "qiniu", "b2",
    "space", "obs", "oos", "scw", "minio", "scs", "ibmcos", "wasabi", "mss", "nos", "eos", "speedy",
    "ceph", "swift", "webdav", "redis", "tikv", "file", "pvc", "http", "https",
)  # fmt: skip


class Choice(NamedTuple):
    engine: str
    why: str = ""
    """For an event, where nobody but us chose."""


def choose(data: SampleSet, nodes: Iterable[Node], drivers: Iterable[CSIDriver]) -> Choice:
    if data.status.engine:
        return Choice(data.status.engine)
    if data.spec.csi.driver is not Driver.AUTO:
        return Choice(data.spec.csi.driver.value)
    if not named(data.spec.secret_ref):
        return Choice(LOCAL, "engine local: spec.secretRef names no file system for JuiceFS")
    if not installed(drivers):
        return Choice(LOCAL, "engine local: the CSI driver of JuiceFS is not installed")
    if not any(mounts(node) for node in nodes):
        return Choice(LOCAL, "engine local: on no node can JuiceFS be mounted (FUSE)")
    return Choice(JUICEFS, "engine juicefs: nodes can mount it and spec.secretRef names its file system")


def installed(drivers: Iterable[CSIDriver]) -> bool:
    return any(driver.name == DRIVER for driver in drivers)


def mounts(node: Node) -> bool:
    """Nodes of other clusters say nothing: there it is for the driver to say what it cannot do."""
    told = node.metadata.labels.get(FUSE) or node.metadata.annotations.get(FUSE)
    return told != "false"


def no_engine(engine: str, drivers: Iterable[CSIDriver]) -> str:
    """What has to be installed before the engine can keep anything."""
    if engine != JUICEFS or installed(drivers):
        return ""
    return (
        f"the data set asks for JuiceFS, and this cluster has no CSI driver {DRIVER}: "
        f"install it ({INSTALL}), or set csi.driver: local"
    )


def named(ref: SecretReference | None) -> str:
    """The Secret that is meant, if one is."""
    return ref.name if ref is not None and ref.name != NO_KEYS else ""


def source_keys(uri: str) -> tuple[str, ...]:
    """What the Secret of a source must have; others than buckets may do with less."""
    return KEYS if urlsplit(uri).scheme in BUCKETS else ()


def elsewhere(ref: SecretReference | None, namespace: str) -> str:
    """Why a Secret cannot be used, where it is in another namespace."""
    if ref is None or ref.namespace in ("", namespace):
        return ""
    return (
        f"Secret {ref.name} is in namespace {ref.namespace}, and pods can only use those of their own, "
        f"{namespace}: copy it there"
    )


def problem(data: SampleSet) -> str:
    """Why the set can never work as it is written; empty when nothing is known against it."""
    uri = data.spec.source.uri if data.spec.source else ""
    scheme = urlsplit(uri).scheme
    for ref in (data.spec.secret_ref, data.spec.source.secret_ref if data.spec.source else None):
        if why := elsewhere(ref, data.namespace):
            return why
    if uri and scheme not in SCHEMES:
        known = ", ".join(sorted(SCHEMES))
        return f"source {uri.partition(':')[0]}: is of no kind that is known; known: {known}"
    if not uri and not data.spec.no_sync:
        return "spec.source.uri is missing: say where the data is, or set noSync"
    return ""

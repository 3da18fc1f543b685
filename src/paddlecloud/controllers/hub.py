"""Where model files are kept, as the cluster's administrator said: the ConfigMap `paddlecloud/hub`; pure.

Each namespace has a folder of its own in the store, and its pods get no other. A store on a disk (`file://`)
is mounted into the pods that use it, at the same path, so that its URI means the same everywhere; one that
speaks S3 names the Secret with its keys, which a pod takes from its own namespace:

    s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION&secret=NAME
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from ..api.core import ConfigMap
from .contract import Ref, Snapshot

NAMESPACE, NAME, KEY = "paddlecloud", "hub", "store"
KEYS = {"PADDLECLOUD_STORE_ACCESS_KEY": "access-key", "PADDLECLOUD_STORE_SECRET_KEY": "secret-key"}
"""Variables of whoever opens a store that wants keys, and where in a Secret they come from."""
SETTINGS = Ref(ConfigMap, NAMESPACE, NAME)


def store_of(seen: Snapshot, namespace: str) -> str:
    """The store of a namespace; empty while no store is set."""
    settings = seen.find(ConfigMap, NAME)
    return within(settings.data.get(KEY, ""), namespace) if settings else ""


def within(uri: str, namespace: str) -> str:
    """The part of the store at *uri* that is a namespace's."""
    if not uri:
        return ""
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{namespace}"))


def secret_of(uri: str) -> str:
    """The Secret with the keys of a store; empty for one that wants none."""
    return dict(parse_qsl(urlsplit(uri).query)).get("secret", "")


def store_keys(uri: str) -> list[dict[str, Any]]:
    """The variables with the keys of the store, out of a Secret of the pod's namespace."""
    secret = secret_of(uri)
    if not secret:
        return []
    return [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}
        for name, key in KEYS.items()
    ]


def store_volume(uri: str, *, read_only: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The volumes and mounts a pod needs to reach the store."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return [], []
    path = unquote(parts.path)
    mount = {"name": "store", "mountPath": path} | ({"readOnly": True} if read_only else {})
    # A namespace's first version finds no folder yet.
    kind = {} if read_only else {"type": "DirectoryOrCreate"}
    return [{"name": "store", "hostPath": {"path": path, **kind}}], [mount]

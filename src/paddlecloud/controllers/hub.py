"""Where model files are kept, as the cluster's administrator said: the ConfigMap `paddlecloud/hub`; pure.

A store on a disk (`file://`) is mounted into the pods that use it, at the same path, so that its URI
means the same everywhere.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

from ..api.core import ConfigMap
from .contract import Ref, Snapshot

NAMESPACE, NAME, KEY = "paddlecloud", "hub", "store"
SETTINGS = Ref(ConfigMap, NAMESPACE, NAME)


def store_of(seen: Snapshot) -> str:
    settings = seen.find(ConfigMap, NAME)
    return settings.data.get(KEY, "") if settings else ""


def store_volume(uri: str, *, read_only: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The volumes and mounts a pod needs to reach the store."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return [], []
    path = unquote(parts.path)
    mount = {"name": "store", "mountPath": path} | ({"readOnly": True} if read_only else {})
    return [{"name": "store", "hostPath": {"path": path}}], [mount]

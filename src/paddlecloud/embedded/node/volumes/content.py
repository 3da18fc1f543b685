"""Which files a ConfigMap or a Secret becomes, in the words of a kubelet where it becomes none; pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, NamedTuple

from ....api.core import ConfigMap
from .places import failed

KEYS = {"configmap": "config key", "secret": "secret key"}


class File(NamedTuple):
    content: bytes
    mode: int = 0o644


Files = dict[str, File]


def map_data(found: ConfigMap) -> dict[str, bytes]:
    texts = {key: text.encode() for key, text in found.data.items()}
    return texts | {key: base64.b64decode(text) for key, text in found.binary_data.items()}


def chosen(volume: str, kind: str, said: Mapping[str, Any], data: Mapping[str, bytes] | None) -> Files:
    """All keys, or `items` under their paths."""
    optional = bool(said.get("optional"))
    if data is None and not optional:
        raise failed(volume, f'{kind} "{said["name"]}" not found', "create it; the pod goes on by itself")
    data = data or {}
    items = said.get("items")
    if not items:
        return {key: File(content, mode_of(said)) for key, content in data.items()}
    files = {}
    for item in items:
        path = inside(volume, item["path"])
        if item["key"] in data:
            files[path] = File(data[item["key"]], int(item.get("mode") or mode_of(said)))
        elif not optional:
            keys = ", ".join(sorted(data)) or "none"
            why = f"references non-existent {KEYS[kind]}: {item['key']}"
            raise failed(volume, why, f'{kind} "{said["name"]}" has: {keys}')
    return files


def mode_of(said: Mapping[str, Any]) -> int:
    mode = said.get("defaultMode")
    return 0o644 if mode is None else int(mode)


def inside(volume: str, path: str) -> str:
    """*path* below the volume; raises for one that leads out of it or into what updates are made with."""
    parts = path.split("/")
    if not path or path.startswith("/") or ".." in parts or parts[0].startswith(".."):
        raise failed(volume, f"path {path!r} leads out of the volume", "use a path inside it")
    return "/".join(part for part in parts if part not in ("", "."))

"""Fields of a pod as files, as `downwardAPI` asks for them; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ....api.core import Pod
from ..obstacles import ConfigMissing
from ..variables import Facts, pod_field, resource_field
from .content import File, Files, inside, mode_of
from .places import failed

MAPS = ("metadata.labels", "metadata.annotations")


def files(volume: str, said: Mapping[str, Any], pod: Pod, machine: Mapping[str, str]) -> Files:
    found = {}
    for item in said.get("items") or ():
        path = inside(volume, item["path"])
        try:
            text = text_of(item, pod, machine)
        except ConfigMissing as missing:
            raise failed(volume, missing.message, missing.next_step) from missing
        found[path] = File(text.encode(), int(item.get("mode") or mode_of(said)))
    return found


def text_of(item: Mapping[str, Any], pod: Pod, machine: Mapping[str, str]) -> str:
    facts = Facts("", "", machine=machine)
    if "resourceFieldRef" in item:
        return resource_field(item["resourceFieldRef"], {}, pod, facts)
    path = item["fieldRef"]["fieldPath"]
    if path in MAPS:
        texts = pod.metadata.labels if path == MAPS[0] else pod.metadata.annotations
        return listed(texts)
    return pod_field(path, pod, facts)


def listed(texts: Mapping[str, str]) -> str:
    """One line a key, sorted, values quoted: what programs written for Kubernetes parse."""
    return "\n".join(f"{key}={json.dumps(texts[key], ensure_ascii=False)}" for key in sorted(texts))

"""Objects that volumes are filled from, and tokens with an age: a cluster small enough to read."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, TypeVar

from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Resource
from paddlecloud.embedded.node.volumes import Place, prepare

R = TypeVar("R", bound=Resource)


class Cupboard:
    """`Sources` on a dictionary; tokens are counted and bear the time they were asked for at."""

    def __init__(self, *objects: Resource) -> None:
        self.objects = {(type(o), o.name): o for o in objects}
        self.now = 1000.0
        self.asked: list[tuple[str, int]] = []

    def put(self, obj: Resource) -> None:
        self.objects[type(obj), obj.name] = obj

    async def find(self, kind: type[R], namespace: str, name: str) -> R | None:
        found = self.objects.get((kind, name))
        return found if isinstance(found, kind) else None

    async def token(self, pod: Pod, audience: str, seconds: int) -> bytes:
        self.asked.append((audience, seconds))
        return a_token(self.now, self.now + seconds)


def a_token(issued: float, expires: float) -> bytes:
    claims = json.dumps({"iat": issued, "exp": expires}).encode()
    return b"e30." + base64.urlsafe_b64encode(claims).rstrip(b"=") + b".c2ln"


def named(kind: type[R], name: str, **fields: Any) -> R:
    return kind.read({"metadata": {"name": name, "namespace": "d", "uid": f"uid-{name}"}, **fields})


def a_pod(*volumes: dict[str, Any], labels: dict[str, str] | None = None, **spec: Any) -> Pod:
    body = {"containers": [], "volumes": list(volumes), "automountServiceAccountToken": False} | spec
    metadata = {"name": "p", "namespace": "d", "uid": "uid-p", "labels": labels or {}}
    return Pod.read({"metadata": metadata, "spec": body})


def a_place(root: Path, now: float = 1000.0, **fields: Any) -> Place:
    return Place(root / "pod" / "volumes", root / "persistent", now=now, **fields)


async def one(root: Path, volume: dict[str, Any], sources: Cupboard, **place: Any) -> Path:
    """The folder of a volume `v`, made or brought up to date."""
    pod = a_pod({"name": "v", **volume})
    return (await prepare(pod, a_place(root, **{"closed": False, **place}), sources))["v"]


def texts(folder: Path) -> dict[str, str]:
    """What a program finds that does not look at names with two dots."""
    found: dict[str, str] = {}
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".."):
            continue
        inner = [entry] if entry.is_file() else [p for p in entry.resolve().rglob("*") if p.is_file()]
        base = entry if entry.is_file() else entry.resolve()
        found |= {
            str(Path(entry.name, p.relative_to(base))) if p != base else entry.name: p.read_text()
            for p in inner
        }
    return found

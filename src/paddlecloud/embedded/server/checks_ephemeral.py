"""Containers that are put beside those of a running pod, to look at it: what they may not be; pure.

They come one by one, through a door of their own, and stay as they are: none is changed or taken away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .checks_containers import Around, check_any
from .complaints import absent, duplicate, forbidden
from .schema import Violation

Body = dict[str, Any]
DOOR = "ephemeralcontainers"
FIELD = "ephemeralContainers"
PATH = f"spec.{FIELD}"
NEVER = "cannot be set for an Ephemeral Container"
REFUSED = (
    "ports", "resources", "resizePolicy", "restartPolicy", "livenessProbe", "readinessProbe", "startupProbe",
    "lifecycle",
)  # fmt: skip


def check_visitors(pod: Body, old: Body | None) -> Iterator[Violation]:
    """A pod that was changed through the door, and as it was before."""
    spec = pod["spec"]
    others = [c for field in ("containers", "initContainers") for c in spec.get(field) or ()]
    around = Around(spec, {v["name"]: v for v in spec.get("volumes") or ()}, {c["name"] for c in others})
    mains = {c["name"] for c in spec["containers"]}
    for i, container in enumerate(spec.get(FIELD) or ()):
        path = f"{PATH}[{i}]"
        yield from check_any(container, path, around)
        if container["name"] in around.names:
            yield duplicate(f"{path}.name", container["name"])
        around.names.add(container["name"])
        target = container.get("targetContainerName") or ""
        if target and target not in mains:
            yield absent(f"{path}.targetContainerName", target)
        yield from (forbidden(f"{path}.{field}", NEVER) for field in REFUSED if container.get(field))
        for j, mount in enumerate(container.get("volumeMounts") or ()):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    yield forbidden(f"{path}.volumeMounts[{j}].{field}", NEVER)
    yield from check_stay(spec, (old or pod)["spec"])


def check_stay(spec: Body, old: Body) -> Iterator[Violation]:
    now = {c["name"]: c for c in spec.get(FIELD) or ()}
    for before in old.get(FIELD) or ():
        name = before["name"]
        if name not in now:
            yield forbidden(PATH, f'existing ephemeral containers "{name}" may not be removed\n')
        elif now[name] != before:
            yield forbidden(PATH, f'existing ephemeral containers "{name}" may not be changed\n')

"""What a URL path means in the Kubernetes API; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

# Namespaces are both objects and a place for others.
NAMESPACE_SUBRESOURCES = ("status", "finalize")
SEGMENT = re.compile(r"[^/%]+")


@dataclass(frozen=True, slots=True)
class Target:
    """A collection, an object, or a subresource of one."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""
    """What follows the subresource, as in `…/proxy/some/path`."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


def parse(path: str) -> Target | None:
    """The target of a resource path; None where the path is no resource's."""
    parts = path.removeprefix("/").rstrip("/").split("/")
    if "%" in path:
        parts = [unquote(p) for p in parts]  # some clients encode the colon in the name of a role
    if any(p in ("", ".", "..") for p in parts[:7]):
        return None
    if parts[0] == "api" and len(parts) >= 3:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) >= 4:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    inside = (
        rest[0] == "namespaces" and not group and len(rest) >= 3 and rest[2] not in NAMESPACE_SUBRESOURCES
    )
    if inside or (rest[0] == "namespaces" and group and len(rest) >= 3):
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = (*rest[:3], "", "", "")[:3]
    return Target(group, version, plural, namespace, name, subresource, "/".join(rest[3:]))

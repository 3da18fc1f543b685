"""How a pod gets to the API: a volume with token, authority and namespace, mounted where clients look.

The spec says so, as on every cluster: whoever reads the pod sees what its containers can read. Pure.
"""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]
PREFIX = "kube-api-access-"
PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
SECONDS = 3607
"""What the token is asked for; an odd number, by which the server knows who asks and gives a longer life."""
SOURCES: tuple[Body, ...] = (
    {"serviceAccountToken": {"expirationSeconds": SECONDS, "path": "token"}},
    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {
        "downwardAPI": {
            "items": [
                {
                    "path": "namespace",
                    "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                }
            ]
        }
    },
)


def wanted(spec: Body, account: Body | None) -> bool:
    """The pod's own word counts first, then that of its account."""
    for said in (spec, account or {}):
        if said.get("automountServiceAccountToken") is not None:
            return bool(said["automountServiceAccountToken"])
    return True


def give_access(spec: Body, suffix: str) -> None:
    """Mount the volume in all containers that have nothing at its path; one that is there already is used."""
    volumes = spec.get("volumes") or []
    name = next((v["name"] for v in volumes if str(v.get("name")).startswith(PREFIX)), "")
    known, name = bool(name), name or f"{PREFIX}{suffix}"
    mount = {"name": name, "readOnly": True, "mountPath": PATH}
    used = False
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        mounts = container.get("volumeMounts") or []
        if all(m.get("mountPath") != PATH for m in mounts):
            container["volumeMounts"] = [*mounts, dict(mount)]
            used = True
    if used and not known:
        projected = {"sources": [dict(source) for source in SOURCES], "defaultMode": 0o644}
        spec["volumes"] = [*volumes, {"name": name, "projected": projected}]

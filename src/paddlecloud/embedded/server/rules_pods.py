"""Pods and the templates of pods: what a real server fills in; pure.

`complete_spec` is what every pod spec gets wherever it stands; `begin_pod` what only a new pod gets.
"""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]
CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
TOLERATED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
MODES = ("configMap", "secret", "downwardAPI", "projected")


def complete_pod(pod: Body) -> None:
    spec = pod["spec"]
    complete_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    for field in CONTAINERS:
        for container in spec.get(field) or ():
            resources = container["resources"] if field != "ephemeralContainers" else {}
            if limits := resources.get("limits"):
                resources["requests"] = {**limits, **(resources.get("requests") or {})}


def begin_pod(pod: Body) -> None:
    """What admission adds on a real server, and the first status."""
    spec = pod["spec"]
    account = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = account
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    given = spec.get("tolerations") or []
    for key in TOLERATED:
        if not any(t.get("key") in (None, key) and t.get("effect") in (None, "NoExecute") for t in given):
            given = [
                *given,
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            ]
    spec["tolerations"] = given
    pod["status"].setdefault("phase", "Pending")
    pod["status"].setdefault("qosClass", quality(spec))


def complete_spec(spec: Body) -> None:
    for field, value in (
        ("restartPolicy", "Always"),
        ("terminationGracePeriodSeconds", 30),
        ("dnsPolicy", "ClusterFirst"),
        ("schedulerName", "default-scheduler"),
    ):
        spec.setdefault(field, value)
    spec.setdefault("securityContext", {})
    if account := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for field in CONTAINERS:
        for container in spec.get(field) or ():
            complete_container(container, host=bool(spec.get("hostNetwork")))
    for volume in spec.get("volumes") or ():
        complete_volume(volume)


def complete_container(container: Body, *, host: bool) -> None:
    if "imagePullPolicy" not in container:
        image = container.get("image") or ""
        latest = "@" not in image and (":" not in image.rpartition("/")[2] or image.endswith(":latest"))
        container["imagePullPolicy"] = "Always" if latest else "IfNotPresent"
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if host:
            port.setdefault("hostPort", port["containerPort"])
    for variable in container.get("env") or ():
        complete_field_ref((variable.get("valueFrom") or {}).get("fieldRef"))
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(field)) is not None:
            complete_probe(probe)
    for hook in (container.get("lifecycle") or {}).values():
        if isinstance(hook, dict):
            complete_http(hook.get("httpGet"))


def complete_probe(probe: Body) -> None:
    for field, value in (
        ("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3),
    ):  # fmt: skip
        probe.setdefault(field, value)
    complete_http(probe.get("httpGet"))
    if (grpc := probe.get("grpc")) is not None and grpc.get("service") is None:
        grpc["service"] = ""


def complete_http(action: Body | None) -> None:
    if action is not None:
        action.setdefault("path", "/")
        action.setdefault("scheme", "HTTP")


def complete_field_ref(ref: Body | None) -> None:
    if ref is not None:
        ref.setdefault("apiVersion", "v1")


def complete_volume(volume: Body) -> None:
    if len(volume) == 1:
        volume["emptyDir"] = {}
    for kind in MODES:
        if (source := volume.get(kind)) is not None:
            source.setdefault("defaultMode", 420)
    if (host := volume.get("hostPath")) is not None:
        host.setdefault("type", "")
    if (iscsi := volume.get("iscsi")) is not None:
        iscsi.setdefault("iscsiInterface", "default")
    for source in (volume, *((volume.get("projected") or {}).get("sources") or ())):
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            complete_field_ref(item.get("fieldRef"))
        if (token := source.get("serviceAccountToken")) is not None:
            token.setdefault("expirationSeconds", 3600)
    if claim := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"):
        claim["spec"].setdefault("volumeMode", "Filesystem")


def quality(spec: Body) -> str:
    resources = [c["resources"] for f in CONTAINERS[:2] for c in spec.get(f) or ()]
    if not any(r.get("requests") or r.get("limits") for r in resources):
        return "BestEffort"
    limited = all({"cpu", "memory"} <= set(r.get("limits") or ()) for r in resources)
    equal = all((r.get("requests") or r.get("limits")) == r.get("limits") for r in resources)
    return "Guaranteed" if limited and equal else "Burstable"

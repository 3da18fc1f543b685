"""Nodes, storage, settings and access, as rows of `kubectl get`; pure."""

from __future__ import annotations

from typing import Any

from .ages import age, created

Body = dict[str, Any]
ROLE, ROLES = "kubernetes.io/role", "node-role.kubernetes.io/"
DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
SHORT_MODES = {
    "ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP",
}  # fmt: skip


def named(body: Body) -> list[Any]:
    """A kind nobody made columns for: its name and when it was made."""
    return [body["metadata"]["name"], body["metadata"].get("creationTimestamp")]


def node(body: Body) -> list[Any]:
    status, meta = body.get("status") or {}, body["metadata"]
    info = status.get("nodeInfo") or {}
    addresses: dict[str, str] = {}
    for address in status.get("addresses") or ():
        addresses.setdefault(address["type"], address["address"])
    return [
        meta["name"], node_status(body), ",".join(roles(meta.get("labels") or {})) or "<none>",
        created(body), info.get("kubeletVersion", ""), addresses.get("InternalIP", "<none>"),
        addresses.get("ExternalIP", "<none>"), info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>", info.get("containerRuntimeVersion") or "<unknown>",
    ]  # fmt: skip


def node_status(body: Body) -> str:
    conditions = (body.get("status") or {}).get("conditions") or ()
    ready = next((c["status"] for c in conditions if c["type"] == "Ready"), None)
    word = "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    return f"{word},SchedulingDisabled" if (body.get("spec") or {}).get("unschedulable") else word


def roles(labels: dict[str, str]) -> list[str]:
    found = {k.removeprefix(ROLES) for k in labels if k.startswith(ROLES) and k != ROLES}
    return sorted(found | ({labels[ROLE]} if labels.get(ROLE) else set()))


def event(body: Body) -> list[Any]:
    """Events of both groups: each has its own names for the same things."""
    involved = body.get("involvedObject") or body.get("regarding") or {}
    series = body.get("series") or {}
    when = body.get("eventTime")
    first = body.get("firstTimestamp") or body.get("deprecatedFirstTimestamp") or when
    last = series.get("lastObservedTime") or body.get("lastTimestamp") or body.get("deprecatedLastTimestamp")
    source = body.get("source") or body.get("deprecatedSource") or {}
    told = [source.get("component"), source.get("host")]
    if not source.get("component"):
        controller = body.get("reportingComponent") or body.get("reportingController")
        told = [controller, body.get("reportingInstance")]
    count = series.get("count") or body.get("count") or body.get("deprecatedCount") or 1
    return [
        age(last or when or first), body.get("type", ""), body.get("reason", ""),
        f"{involved.get('kind', '').lower()}/{involved.get('name', '')}", involved.get("fieldPath", ""),
        ", ".join(t for t in told if t), (body.get("message") or body.get("note") or "").strip(),
        age(first), count, body["metadata"]["name"],
    ]  # fmt: skip


def claim(body: Body) -> list[Any]:
    spec, status = body.get("spec") or {}, body.get("status") or {}
    phase = "Terminating" if body["metadata"].get("deletionTimestamp") else status.get("phase", "")
    bound = bool(spec.get("volumeName"))
    return [
        body["metadata"]["name"], phase, spec.get("volumeName", ""),
        (status.get("capacity") or {}).get("storage", "") if bound else "",
        access_modes(status.get("accessModes")) if bound else "", spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or "<unset>", created(body),
        spec.get("volumeMode", "<unset>"),
    ]  # fmt: skip


def volume(body: Body) -> list[Any]:
    spec, status = body.get("spec") or {}, body.get("status") or {}
    ref = spec.get("claimRef") or {}
    phase = "Terminating" if body["metadata"].get("deletionTimestamp") else status.get("phase", "")
    return [
        body["metadata"]["name"], (spec.get("capacity") or {}).get("storage", ""),
        access_modes(spec.get("accessModes")), spec.get("persistentVolumeReclaimPolicy", ""), phase,
        f"{ref.get('namespace', '')}/{ref.get('name', '')}" if ref else "", spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or "<unset>", status.get("reason", ""), created(body),
        spec.get("volumeMode", "<unset>"),
    ]  # fmt: skip


def access_modes(modes: list[str] | None) -> str:
    given = modes or ()
    return ",".join(short for mode, short in SHORT_MODES.items() if mode in given)


def storage_class(body: Body) -> list[Any]:
    notes = body["metadata"].get("annotations") or {}
    mark = " (default)" if any(notes.get(k) == "true" for k in DEFAULT_CLASS) else ""
    return [
        body["metadata"]["name"] + mark, body["provisioner"], body.get("reclaimPolicy", "Delete"),
        body.get("volumeBindingMode", "<unset>"), bool(body.get("allowVolumeExpansion")), created(body),
    ]  # fmt: skip


def driver(body: Body) -> list[Any]:
    spec = body["spec"]
    requests = ",".join(r["audience"] for r in spec.get("tokenRequests") or ()) or "<unset>"
    return [
        body["metadata"]["name"], spec.get("attachRequired", True), spec.get("podInfoOnMount", False),
        spec.get("storageCapacity", False), requests, spec.get("requiresRepublish", False),
        ",".join(spec.get("volumeLifecycleModes") or ()) or "<none>", created(body),
    ]  # fmt: skip


def driver_node(body: Body) -> list[Any]:
    return [body["metadata"]["name"], len(body["spec"].get("drivers") or ()), created(body)]


def attachment(body: Body) -> list[Any]:
    spec = body["spec"]
    attached = bool((body.get("status") or {}).get("attached"))
    claim = spec["source"].get("persistentVolumeName", "")
    return [body["metadata"]["name"], spec["attacher"], claim, spec["nodeName"], attached, created(body)]


def namespace(body: Body) -> list[Any]:
    return [body["metadata"]["name"], (body.get("status") or {}).get("phase", ""), created(body)]


def config_map(body: Body) -> list[Any]:
    count = len(body.get("data") or {}) + len(body.get("binaryData") or {})
    return [body["metadata"]["name"], count, created(body)]


def secret(body: Body) -> list[Any]:
    return [body["metadata"]["name"], body.get("type", ""), len(body.get("data") or {}), created(body)]


def account(body: Body) -> list[Any]:
    return [body["metadata"]["name"], len(body.get("secrets") or ()), created(body)]


def quota(body: Body) -> list[Any]:
    status = body.get("status") or {}
    hard, used = status.get("hard") or {}, status.get("used") or {}
    requests: list[str] = []
    limits: list[str] = []
    for resource in sorted(hard):
        shown = f"{resource}: {used.get(resource, '0')}/{hard[resource]}"
        (limits if resource.startswith("limits") else requests).append(shown)
    return [body["metadata"]["name"], ", ".join(requests), ", ".join(limits), created(body)]


def lease(body: Body) -> list[Any]:
    return [body["metadata"]["name"], (body.get("spec") or {}).get("holderIdentity", ""), created(body)]


def binding(body: Body) -> list[Any]:
    subjects = body.get("subjects") or ()
    of = {kind: [s for s in subjects if s["kind"] == kind] for kind in ("User", "Group", "ServiceAccount")}
    return [
        body["metadata"]["name"], f"{body['roleRef']['kind']}/{body['roleRef']['name']}", created(body),
        ", ".join(s["name"] for s in of["User"]), ", ".join(s["name"] for s in of["Group"]),
        ", ".join(f"{s.get('namespace', '')}/{s['name']}" for s in of["ServiceAccount"]),
    ]  # fmt: skip


def runtime(body: Body) -> list[Any]:
    return [body["metadata"]["name"], body["handler"], created(body)]


def signing_request(body: Body) -> list[Any]:
    spec, status = body["spec"], body.get("status") or {}
    conditions = [c["type"] for c in status.get("conditions") or ()]
    words = [w for w in ("Approved", "Denied", "Failed") if w in conditions] or ["Pending"]
    seconds = spec.get("expirationSeconds")
    return [
        body["metadata"]["name"], created(body), spec["signerName"], spec.get("username", ""),
        f"{seconds}s" if seconds is not None else "<none>",
        ",".join([*words, *(["Issued"] if status.get("certificate") else [])]),
    ]  # fmt: skip


def api_service(body: Body) -> list[Any]:
    ref = (body.get("spec") or {}).get("service")
    conditions = (body.get("status") or {}).get("conditions") or ()
    found = next((c for c in conditions if c["type"] == "Available"), None)
    word = "Unknown" if found is None else found["status"]
    if found and word != "True":
        word = f"{word} ({found.get('reason', '')})"
    shown = f"{ref.get('namespace', '')}/{ref.get('name', '')}" if ref else "Local"
    return [body["metadata"]["name"], shown, word, created(body)]


def webhooks(body: Body) -> list[Any]:
    return [body["metadata"]["name"], len(body.get("webhooks") or ()), created(body)]


def admission_policy(body: Body) -> list[Any]:
    spec = body["spec"]
    kind = spec.get("paramKind")
    shown = f"{kind['apiVersion']}/{kind['kind']}" if kind else "<unset>"
    return [body["metadata"]["name"], len(spec.get("validations") or ()), shown, created(body)]


def admission_binding(body: Body) -> list[Any]:
    spec = body["spec"]
    ref = spec.get("paramRef")
    shown = "<unset>"
    if ref:
        shown = f"{ref['namespace']}/{ref.get('name', '*')}" if ref.get("namespace") else ref.get("name", "*")
    return [body["metadata"]["name"], spec.get("policyName", ""), shown, created(body)]

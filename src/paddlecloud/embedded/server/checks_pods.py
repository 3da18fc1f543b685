"""Pods and the templates of pods: what they may not be, and what of a pod may change; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .checks_containers import Around, check_any, check_container
from .checks_scheduling import check_affinity, check_spreading, check_tolerations
from .checks_security import check_host_users, check_pod_security
from .checks_volumes import check_volumes
from .checks_words import check_address, check_label, check_qualified, check_subdomain
from .complaints import duplicate, forbidden, invalid, one_of, required
from .facts.scalars import amount
from .names import check_labels
from .schema import Violation

Body = dict[str, Any]
POLICIES = ("Always", "OnFailure", "Never")
DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
LONGEST = 2**31 - 1
FEWEST = "must be between 1 and 2147483647, inclusive"
SEARCH_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)

UNCHANGED = forbidden(
    "spec",
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
    "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
    "(allow it to be set to 1 if it was previously negative)",
)


def check_pod(pod: Body, old: Body | None) -> Iterator[Violation]:
    spec = pod["spec"]
    if old is not None:
        yield from check_change(spec, old["spec"])
        return
    yield from check_spec(spec, "spec")
    if spec.get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def check_change(spec: Body, old: Body) -> Iterator[Violation]:
    if changed := counted(spec, old):
        if not spec.get("containers"):
            yield required("spec.containers")
        yield forbidden(f"spec.{changed}", "pod updates may not add or remove containers")
        return
    seconds, before = spec.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")
    if seconds is not None and not 0 < seconds <= LONGEST:
        yield invalid("spec.activeDeadlineSeconds", seconds, FEWEST)
    elif seconds is not None and before is not None and seconds > before:
        why = "must be less than or equal to previous value"
        yield invalid("spec.activeDeadlineSeconds", seconds, why)
    elif seconds is None and before is not None:
        yield invalid(
            "spec.activeDeadlineSeconds", None, "must not update from a positive integer to nil value"
        )
    kept = [without_time(t) for t in spec.get("tolerations") or ()]
    if any(without_time(t) not in kept for t in old.get("tolerations") or ()):
        yield forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        )
    else:
        yield from check_tolerations(spec.get("tolerations") or [], "spec.tolerations")
    if frozen(spec, old) != frozen(old, old):
        yield UNCHANGED


def check_template(template: Body, path: str) -> Iterator[Violation]:
    """The template of pods that a workload makes."""
    yield from check_labels(template["metadata"].get("labels"), f"{path}.labels")
    yield from check_spec(template["spec"], f"{path}.spec")
    if template["spec"].get("ephemeralContainers"):
        why = "ephemeral containers not allowed in pod template"
        yield forbidden(f"{path}.spec.ephemeralContainers", why)


def check_spec(spec: Body, path: str) -> Iterator[Violation]:
    """A pod's spec, wherever it stands."""
    volumes = spec.get("volumes") or []
    yield from check_volumes(volumes, f"{path}.volumes")
    if not spec.get("containers"):
        yield required(f"{path}.containers")
    around = Around(spec, {v["name"]: v for v in volumes if v["name"]})
    for field in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(field) or ()):
            first = field == "initContainers"
            yield from check_container(container, f"{path}.{field}[{i}]", around, first=first)
    for i, container in enumerate(spec.get("ephemeralContainers") or ()):
        yield from check_any(container, f"{path}.ephemeralContainers[{i}]", around)
    yield from one_of(spec["restartPolicy"], f"{path}.restartPolicy", POLICIES)
    yield from one_of(spec["dnsPolicy"], f"{path}.dnsPolicy", DNS)
    yield from check_labels(spec.get("nodeSelector"), f"{path}.nodeSelector")
    yield from check_pod_security(spec, path)
    yield from check_affinity(spec.get("affinity") or {}, f"{path}.affinity")
    yield from check_names(spec, path)
    for i, gate in enumerate(spec.get("readinessGates") or ()):
        yield from check_qualified(gate["conditionType"], f"{path}.readinessGates[{i}].conditionType")
    yield from check_gates(spec, path)
    yield from check_spreading(
        spec.get("topologySpreadConstraints") or [], f"{path}.topologySpreadConstraints"
    )
    yield from check_host_users(spec, path)
    for field in ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"):
        if name := spec.get(field):
            yield from check_subdomain(name, f"{path}.{field}")
    if (seconds := spec.get("activeDeadlineSeconds")) is not None and not 0 < seconds <= LONGEST:
        yield invalid(f"{path}.activeDeadlineSeconds", seconds, FEWEST)
    for field in ("hostname", "subdomain"):
        if name := spec.get(field):
            yield from check_label(name, f"{path}.{field}")
    yield from check_tolerations(spec.get("tolerations") or [], f"{path}.tolerations")
    for name, text in (spec.get("overhead") or {}).items():
        if amount(text) < 0:
            why = "must be greater than or equal to 0"
            yield invalid(f"{path}.overhead.limits[{name}]", text, why)
    if (system := (spec.get("os") or {}).get("name")) is not None:
        yield from one_of(system, f"{path}.os", ("linux", "windows"))


def check_names(spec: Body, path: str) -> Iterator[Violation]:
    """How a pod finds others by name."""
    for i, alias in enumerate(spec.get("hostAliases") or ()):
        yield from check_address(alias["ip"], f"{path}.hostAliases[{i}].ip")
        for j, name in enumerate(alias.get("hostnames") or ()):
            yield from check_subdomain(name, f"{path}.hostAliases[{i}].hostnames[{j}]")
    config, here = spec.get("dnsConfig"), f"{path}.dnsConfig"
    servers = (config or {}).get("nameservers") or []
    if spec["dnsPolicy"] == "None":
        if config is None:
            yield required(here, "must provide `dnsConfig` when `dnsPolicy` is None")
        elif not servers:
            yield required(
                f"{here}.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None"
            )
    if len(servers) > 3:
        listed = ", ".join(f'"{s}"' for s in servers)
        why = f"Invalid value: []string{{{listed}}}: must not have more than 3 nameservers"
        yield Violation(f"{here}.nameservers", "FieldValueInvalid", why)
    for i, server in enumerate(servers):
        yield from check_address(server, f"{here}.nameservers[{i}]")
    for i, search in enumerate((config or {}).get("searches") or ()):
        if list(check_subdomain(search.replace("_", "-").rstrip("."), "")) and search != ".":
            yield invalid(f"{here}.searches[{i}]", search, SEARCH_RULE)
    for i, option in enumerate((config or {}).get("options") or ()):
        if not option.get("name"):
            yield required(f"{here}.options[{i}]", "must not be empty")


def check_gates(spec: Body, path: str) -> Iterator[Violation]:
    seen: set[str] = set()
    for i, gate in enumerate(spec.get("schedulingGates") or ()):
        here, name = f"{path}.schedulingGates[{i}]", gate["name"]
        yield from check_qualified(name, here)
        if name in seen:
            yield duplicate(here, name)
        seen.add(name)


def counted(spec: Body, old: Body) -> str:
    """The list of containers that has another length now, or an empty text."""
    for field in ("containers", "initContainers"):
        if len(spec.get(field) or ()) != len(old.get(field) or ()):
            return field
    return ""


def without_time(toleration: Body) -> Body:
    return {k: v for k, v in toleration.items() if k != "tolerationSeconds"}


def frozen(spec: Body, old: Body) -> Body:
    """The part of a pod's spec that never changes; what is scheduled elsewhere is not looked at here."""
    free = {"activeDeadlineSeconds", "tolerations"}
    if old.get("schedulingGates"):
        free |= {"schedulingGates", "nodeSelector", "affinity"}
    if (old.get("terminationGracePeriodSeconds") or 0) < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        free.add("terminationGracePeriodSeconds")
    kept = {k: v for k, v in spec.items() if k not in free}
    for field in ("containers", "initContainers"):
        if field in kept:
            kept[field] = [{k: v for k, v in c.items() if k != "image"} for c in kept[field]]
    return kept

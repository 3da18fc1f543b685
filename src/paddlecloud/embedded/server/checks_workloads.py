"""What keeps pods running, and what protects it: what these objects may not be; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .checks_numbers import check_part, check_share, is_nothing, shown
from .checks_pods import check_template
from .checks_scheduling import check_selector
from .checks_words import check_label
from .complaints import at_least_zero, forbidden, invalid, one_of, required, unquoted
from .rules_selectors import selects, shown_map, shown_selector
from .schema import Violation

Body = dict[str, Any]
SET_MAY_CHANGE = (
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
)  # fmt: skip
LISTED = ", ".join(f"'{field}'" for field in SET_MAY_CHANGE[:-1])
SET_IS_FIXED = forbidden(
    "spec",
    f"updates to statefulset spec for fields other than {LISTED} and 'minReadySeconds' are forbidden",
)


def check_workload(body: Body, old: Body | None) -> Iterator[Violation]:
    """Deployments, ReplicaSets, StatefulSets and DaemonSets: one selector, one template."""
    spec, kind = body["spec"], body["kind"]
    yield from at_least_zero(spec.get("replicas"), "spec.replicas")
    yield from at_least_zero(spec.get("minReadySeconds"), "spec.minReadySeconds")
    yield from check_fit(spec, kind)
    template = spec["template"]
    yield from check_template(template, "spec.template")
    if template["spec"]["restartPolicy"] in ("OnFailure", "Never"):
        yield from one_of(template["spec"]["restartPolicy"], "spec.template.spec.restartPolicy", ("Always",))
    if template["spec"].get("activeDeadlineSeconds") is not None:
        named = "ReplicaSet" if kind == "Deployment" else kind
        why = f"activeDeadlineSeconds in {named} is not Supported"
        yield forbidden("spec.template.spec.activeDeadlineSeconds", why)
    yield from at_least_zero(spec.get("revisionHistoryLimit"), "spec.revisionHistoryLimit")
    if old is not None and kind != "StatefulSet" and spec.get("selector") != old["spec"].get("selector"):
        yield unquoted("spec.selector", shown_selector(spec.get("selector")), "field is immutable")


def check_fit(spec: Body, kind: str) -> Iterator[Violation]:
    """A selector that selects the pods of the template."""
    selector, labels = spec.get("selector"), spec["template"]["metadata"].get("labels")
    # A daemon set without a selector selects nothing; the others must say what they select.
    if selector is None and kind != "DaemonSet":
        yield required("spec.selector")
    problems = list(check_selector(selector, "spec.selector"))
    if problems:
        yield from problems
        yield unquoted("spec.selector", shown_selector(selector), "invalid label selector")
        return
    if selector is not None and not any(selector.values()):
        why = f"empty selector is invalid for {kind.lower()}"
        yield unquoted("spec.selector", shown_selector(selector), why)
    elif selector is None or not selects(selector, labels or {}):
        why = "`selector` does not match template `labels`"
        yield unquoted("spec.template.metadata.labels", shown_map(labels), why)


def check_deployment(body: Body, old: Body | None) -> Iterator[Violation]:
    yield from check_workload(body, old)
    spec, path = body["spec"], "spec.strategy"
    kind, rolling = spec["strategy"]["type"], spec["strategy"].get("rollingUpdate")
    if kind not in ("Recreate", "RollingUpdate"):
        nothing = "RollingUpdate:(*apps.RollingUpdateDeployment)(nil)"
        value = f'apps.DeploymentStrategy{{Type:"{kind}", {nothing}}}'
        why = f'Unsupported value: {value}: supported values: "Recreate", "RollingUpdate"'
        yield Violation(path, "FieldValueNotSupported", why)
    elif kind == "Recreate" and rolling is not None:
        why = "may not be specified when strategy `type` is 'Recreate'"
        yield forbidden(f"{path}.rollingUpdate", why)
    elif rolling:
        here = f"{path}.rollingUpdate"
        yield from check_part(rolling["maxUnavailable"], f"{here}.maxUnavailable")
        yield from check_share(rolling["maxSurge"], f"{here}.maxSurge")
        if is_nothing(rolling["maxUnavailable"]) and is_nothing(rolling["maxSurge"]):
            why = "may not be 0 when `maxSurge` is 0"
            yield unquoted(f"{here}.maxUnavailable", shown(rolling["maxUnavailable"]), why)
    deadline = spec["progressDeadlineSeconds"]
    yield from at_least_zero(deadline, "spec.progressDeadlineSeconds")
    if deadline <= spec.get("minReadySeconds", 0):
        yield invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def check_stateful_set(body: Body, old: Body | None) -> Iterator[Violation]:
    spec = body["spec"]
    policy = spec["podManagementPolicy"]
    if policy not in ("OrderedReady", "Parallel"):
        yield invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    yield from check_set_strategy(spec["updateStrategy"], "spec.updateStrategy")
    for field, value in (spec.get("persistentVolumeClaimRetentionPolicy") or {}).items():
        here = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
        yield from one_of(value, here, ("Retain", "Delete"))
    yield from check_workload(body, old)
    yield from at_least_zero((spec.get("ordinals") or {}).get("start"), "spec.ordinals.start")
    if old is None:
        if spec.get("serviceName"):
            yield from check_label(spec["serviceName"], "spec.serviceName")
    elif fixed(spec) != fixed(old["spec"]):
        yield SET_IS_FIXED


def check_set_strategy(strategy: Body, path: str) -> Iterator[Violation]:
    kind, rolling = strategy["type"], strategy.get("rollingUpdate")
    if kind not in ("RollingUpdate", "OnDelete"):
        nothing = "RollingUpdate:(*apps.RollingUpdateStatefulSetStrategy)(nil)"
        value = f'apps.StatefulSetUpdateStrategy{{Type:"{kind}", {nothing}}}'
        yield unquoted(path, value, "must be 'RollingUpdate' or 'OnDelete'")
    elif kind == "OnDelete" and rolling is not None:
        nothing = "MaxUnavailable:(*intstr.IntOrString)(nil)"
        value = (
            f"apps.RollingUpdateStatefulSetStrategy{{Partition:{rolling.get('partition') or 0}, {nothing}}}"
        )
        yield unquoted(f"{path}.rollingUpdate", value, "only allowed for updateStrategy 'RollingUpdate'")
    elif rolling:
        yield from at_least_zero(rolling.get("partition"), f"{path}.rollingUpdate.partition")


def fixed(spec: Body) -> Body:
    return {k: v for k, v in spec.items() if k not in SET_MAY_CHANGE}


def check_daemon_set(body: Body, old: Body | None) -> Iterator[Violation]:
    yield from check_workload(body, old)
    strategy, path = body["spec"]["updateStrategy"], "spec.updateStrategy"
    kind, rolling = strategy["type"], strategy.get("rollingUpdate")
    if kind not in ("RollingUpdate", "OnDelete"):
        nothing = "RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)"
        value = f'apps.DaemonSetUpdateStrategy{{Type:"{kind}", {nothing}}}'
        why = f'Unsupported value: {value}: supported values: "RollingUpdate", "OnDelete"'
        yield Violation(path, "FieldValueNotSupported", why)
    elif kind == "RollingUpdate" and rolling:
        here, gone, more = f"{path}.rollingUpdate", rolling["maxUnavailable"], rolling["maxSurge"]
        yield from check_part(gone, f"{here}.maxUnavailable")
        yield from check_part(more, f"{here}.maxSurge")
        if not is_nothing(gone) and not is_nothing(more):
            yield unquoted(f"{here}.maxSurge", shown(more), "may not be set when maxUnavailable is non-zero")
        elif is_nothing(gone) and is_nothing(more):
            yield required(f"{here}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def check_replication_controller(body: Body, _: Body | None) -> Iterator[Violation]:
    spec = body["spec"]
    yield from at_least_zero(spec.get("minReadySeconds"), "spec.minReadySeconds")
    selector, template = spec.get("selector") or {}, spec.get("template")
    if not selector:
        yield required("spec.selector")
    yield from at_least_zero(spec.get("replicas"), "spec.replicas")
    if template is None:
        yield required("spec.template")
        return
    labels = template["metadata"].get("labels") or {}
    if selector and any(labels.get(k) != v for k, v in selector.items()):
        why = "`selector` does not match template `labels`"
        yield unquoted("spec.template.metadata.labels", shown_map(labels), why)
    yield from check_template(template, "spec.template")


def check_pod_template(body: Body, _: Body | None) -> Iterator[Violation]:
    yield from check_template(body["template"], "template")


def check_budget(body: Body, _: Body | None) -> Iterator[Violation]:
    spec = body["spec"]
    if "minAvailable" in spec and "maxUnavailable" in spec:
        value = "policy.PodDisruptionBudgetSpec{…}"
        yield unquoted("spec", value, "minAvailable and maxUnavailable cannot be both set")
    for field in ("minAvailable", "maxUnavailable"):
        yield from check_part(spec.get(field), f"spec.{field}")
    yield from check_selector(spec.get("selector"), "spec.selector")
    if policy := spec.get("unhealthyPodEvictionPolicy"):
        yield from one_of(policy, "spec.unhealthyPodEvictionPolicy", ("AlwaysAllow", "IfHealthyBudget"))

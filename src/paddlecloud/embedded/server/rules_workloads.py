"""What keeps pods running: Deployments, sets, Jobs, and who scales them: what is filled in; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .rules_pods import complete_spec

Body = dict[str, Any]
JOB_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
NO_LIMIT = 2**31 - 1


def fill(body: Body, defaults: Mapping[str, Any]) -> None:
    for field, value in defaults.items():
        body.setdefault(field, value)


def complete_deployment(body: Body) -> None:
    spec = body["spec"]
    complete_spec(spec["template"]["spec"])
    fill(spec, {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600})
    strategy = spec["strategy"]
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        fill(strategy.setdefault("rollingUpdate", {}), {"maxUnavailable": "25%", "maxSurge": "25%"})


def complete_replica_set(body: Body) -> None:
    complete_spec(body["spec"]["template"]["spec"])
    body["spec"].setdefault("replicas", 1)


def complete_replication_controller(body: Body) -> None:
    spec = body["spec"]
    spec.setdefault("replicas", 1)
    if (template := spec.get("template")) is not None:
        complete_spec(template["spec"])
        if labels := template["metadata"].get("labels"):
            spec.setdefault("selector", dict(labels))
            body["metadata"].setdefault("labels", dict(labels))


def complete_stateful_set(body: Body) -> None:
    spec = body["spec"]
    complete_spec(spec["template"]["spec"])
    fill(spec, {"replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady"})
    strategy = spec["updateStrategy"]
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {}).setdefault("partition", 0)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    fill(retention, {"whenDeleted": "Retain", "whenScaled": "Retain"})
    for claim in spec.get("volumeClaimTemplates") or ():
        fill(claim, {"apiVersion": "v1", "kind": "PersistentVolumeClaim"})
        claim["spec"].setdefault("volumeMode", "Filesystem")
        claim["status"].setdefault("phase", "Pending")


def complete_daemon_set(body: Body) -> None:
    spec = body["spec"]
    complete_spec(spec["template"]["spec"])
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = spec["updateStrategy"]
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        fill(strategy.setdefault("rollingUpdate", {}), {"maxUnavailable": 1, "maxSurge": 0})


def begin_daemon_set(body: Body) -> None:
    annotations = body["metadata"].setdefault("annotations", {})
    annotations["deprecated.daemonset.template.generation"] = "1"


def complete_pod_template(body: Body) -> None:
    complete_spec(body["template"]["spec"])


def complete_job(body: Body) -> None:
    spec = body["spec"]
    complete_spec(spec["template"]["spec"])
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    fill(
        spec,
        {"parallelism": 1, "backoffLimit": NO_LIMIT if "backoffLimitPerIndex" in spec else 6,
         "completionMode": "NonIndexed", "suspend": False,
         "manualSelector": False, "podReplacementPolicy": "TerminatingOrFailed"},
    )  # fmt: skip
    if "podFailurePolicy" in spec:
        spec["podReplacementPolicy"] = "Failed"
    if (labels := spec["template"]["metadata"].get("labels")) and not body["metadata"].get("labels"):
        body["metadata"]["labels"] = labels


def begin_job(body: Body) -> None:
    """A job finds its pods by its uid, unless somebody chose otherwise."""
    spec, metadata = body["spec"], body["metadata"]
    if spec.get("manualSelector"):
        return
    # In place: a job that took its labels from the template gets the generated ones too, as on a real server.
    labels = spec["template"]["metadata"].setdefault("labels", {})
    generated = dict.fromkeys(JOB_LABELS, metadata["uid"]) | dict.fromkeys(NAME_LABELS, metadata["name"])
    for key, value in generated.items():
        labels.setdefault(key, value)
    selector = spec.setdefault("selector", {})
    selector.setdefault("matchLabels", {})[JOB_LABELS[1]] = metadata["uid"]
    if not metadata.get("labels"):
        metadata["labels"] = dict(labels)


def complete_cron_job(body: Body) -> None:
    spec = body["spec"]
    complete_spec(spec["jobTemplate"]["spec"]["template"]["spec"])
    fill(
        spec,
        {"concurrencyPolicy": "Allow", "suspend": False, "successfulJobsHistoryLimit": 3,
         "failedJobsHistoryLimit": 1},
    )  # fmt: skip

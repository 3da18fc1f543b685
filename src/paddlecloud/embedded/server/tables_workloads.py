"""Pods and what keeps them running, as rows of `kubectl get`; pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from .ages import Ago, age, created, span

Body = dict[str, Any]


def pod(body: Body) -> list[Any]:
    spec, status = body.get("spec") or {}, body.get("status") or {}
    containers = status.get("containerStatuses") or []
    ready = sum(1 for c in containers if c.get("ready"))
    return [
        body["metadata"]["name"],
        f"{ready}/{len(spec.get('containers') or ())}",
        pod_status(body),
        restarts(containers),
        created(body),
        status.get("podIP") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        "<none>",
    ]


def restarts(containers: list[Body]) -> Ago | str:
    """How often, and when last."""
    count = sum(c.get("restartCount", 0) for c in containers)
    ends = [((c.get("lastState") or {}).get("terminated") or {}).get("finishedAt") for c in containers]
    last = max((e for e in ends if e), default="")
    return age(last, f"{count} ({{}} ago)") if count and last else str(count)


def pod_status(body: Body) -> str:
    """The one word of the STATUS column: the most telling reason of its containers, else the phase."""
    if body["metadata"].get("deletionTimestamp"):
        return "Terminating"
    status = body.get("status") or {}
    if word := initializing(body, status.get("initContainerStatuses") or []):
        return word
    containers = status.get("containerStatuses") or []
    word = next((w for c in containers if (w := container_word(c.get("state") or {}))), "")
    if word == "Completed" and any(c.get("ready") and "running" in c["state"] for c in containers):
        conditions = status.get("conditions") or ()
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
        return "Running" if ready else "NotReady"
    return str(word or status.get("reason") or status.get("phase") or "Pending")


def initializing(body: Body, containers: list[Body]) -> str:
    """The first init container that has not succeeded, or an empty text."""
    for i, container in enumerate(containers):
        state = container.get("state") or {}
        if (state.get("terminated") or {}).get("exitCode") == 0:
            continue
        word = container_word(state)
        if word and word != "PodInitializing":
            return f"Init:{word}"
        return f"Init:{i}/{len((body.get('spec') or {}).get('initContainers') or ())}"
    return ""


def container_word(state: Body) -> str:
    """Why a container does not run, in one word; empty where it does or nobody said."""
    ended = state.get("terminated") or {}
    reason = (state.get("waiting") or {}).get("reason") or ended.get("reason")
    if reason or not ended:
        return str(reason or "")
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def templated(template: Body | None) -> list[str]:
    """The names and the images of the containers of a template."""
    containers = ((template or {}).get("spec") or {}).get("containers") or ()
    return [",".join(c["name"] for c in containers), ",".join(c.get("image", "") for c in containers)]


def pairs(labels: Mapping[str, str] | None) -> str:
    return ",".join(f"{k}={v}" for k, v in sorted((labels or {}).items())) or "<none>"


def selecting(selector: Body | None) -> str:
    """A selector in the form that `-l` takes."""
    terms = [(k, f"{k}={v}") for k, v in ((selector or {}).get("matchLabels") or {}).items()]
    for term in (selector or {}).get("matchExpressions") or ():
        key, values = term["key"], ",".join(sorted(term.get("values") or ()))
        words = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "DoesNotExist": f"!{key}"}
        terms.append((key, words.get(term["operator"], key)))
    return ",".join(text for _, text in sorted(terms)) or "<none>"


def status_of(body: Body, *fields: str) -> list[int]:
    status = body.get("status") or {}
    return [status.get(field) or 0 for field in fields]


def deployment(body: Body) -> list[Any]:
    spec = body["spec"]
    ready, updated, available = status_of(body, "readyReplicas", "updatedReplicas", "availableReplicas")
    return [
        body["metadata"]["name"], f"{ready}/{spec.get('replicas', 1)}", updated, available,
        created(body), *templated(spec["template"]), selecting(spec.get("selector")),
    ]  # fmt: skip


def replica_set(body: Body) -> list[Any]:
    spec = body["spec"]
    # A ReplicationController selects by labels alone.
    selector = spec.get("selector") or {}
    selector = selector if body["kind"] == "ReplicaSet" else {"matchLabels": selector}
    return [
        body["metadata"]["name"], spec.get("replicas", 1), *status_of(body, "replicas", "readyReplicas"),
        created(body), *templated(spec.get("template")), selecting(selector),
    ]  # fmt: skip


def stateful_set(body: Body) -> list[Any]:
    [ready] = status_of(body, "readyReplicas")
    spec = body["spec"]
    return [
        body["metadata"]["name"], f"{ready}/{spec.get('replicas', 1)}", created(body),
        *templated(spec["template"]),
    ]  # fmt: skip


def daemon_set(body: Body) -> list[Any]:
    spec = body["spec"]
    counts = status_of(
        body, "desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled",
        "numberAvailable",
    )  # fmt: skip
    return [
        body["metadata"]["name"], *counts, pairs(spec["template"]["spec"].get("nodeSelector")),
        created(body), *templated(spec["template"]), selecting(spec.get("selector")),
    ]  # fmt: skip


def pod_template(body: Body) -> list[Any]:
    template = body["template"]
    return [body["metadata"]["name"], *templated(template), pairs(template["metadata"].get("labels"))]


def job(body: Body) -> list[Any]:
    spec, status = body["spec"], body.get("status") or {}
    done, wanted = status.get("succeeded") or 0, spec.get("completions")
    if wanted is not None:
        completions = f"{done}/{wanted}"
    else:
        several = spec.get("parallelism") or 0
        completions = f"{done}/1 of {several}" if several > 1 else f"{done}/1"
    return [
        body["metadata"]["name"], job_status(body), completions, job_duration(status),
        created(body), *templated(spec["template"]), selecting(spec.get("selector")),
    ]  # fmt: skip


def job_status(body: Body) -> str:
    status = body.get("status") or {}
    true = {c["type"] for c in status.get("conditions") or () if c["status"] == "True"}
    for word in ("Complete", "Failed"):
        if word in true:
            return word
    if body["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return next((w for w in ("Suspended", "FailureTarget", "SuccessCriteriaMet") if w in true), "Running")


def job_duration(status: Body) -> Ago | str:
    start, end = status.get("startTime"), status.get("completionTime")
    if not start:
        return ""
    if not end:
        return age(start)
    return span((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())


def cron_job(body: Body) -> list[Any]:
    spec, status = body["spec"], body.get("status") or {}
    last = status.get("lastScheduleTime")
    return [
        body["metadata"]["name"], spec["schedule"], spec.get("timeZone") or "<none>",
        str(bool(spec.get("suspend"))), len(status.get("active") or ()), age(last) if last else "<none>",
        created(body), *templated(spec["jobTemplate"]["spec"]["template"]),
        selecting(spec["jobTemplate"]["spec"].get("selector")),
    ]  # fmt: skip


def revision(body: Body) -> list[Any]:
    owner = next((o for o in body["metadata"].get("ownerReferences") or () if o.get("controller")), None)
    shown = "<none>"
    if owner:
        group = owner["apiVersion"].rpartition("/")[0]
        shown = f"{owner['kind'].lower()}{'.' + group if group else ''}/{owner['name']}"
    return [body["metadata"]["name"], shown, body["revision"], created(body)]


def autoscaler(body: Body) -> list[Any]:
    spec, status = body["spec"], body.get("status") or {}
    target = spec["scaleTargetRef"]
    return [
        body["metadata"]["name"], f"{target['kind']}/{target['name']}", measures(spec, status),
        str(spec["minReplicas"]) if "minReplicas" in spec else "<unset>", spec["maxReplicas"],
        status.get("currentReplicas") or 0, created(body),
    ]  # fmt: skip


def measures(spec: Body, status: Body) -> str:
    """What an autoscaler measures and wants, in that order."""
    if "targetCPUUtilizationPercentage" in spec:
        seen = status.get("currentCPUUtilizationPercentage")
        return f"cpu: {'<unknown>' if seen is None else f'{seen}%'}/{spec['targetCPUUtilizationPercentage']}%"
    found = []
    current = status.get("currentMetrics") or []
    for i, metric in enumerate(spec.get("metrics") or ()):
        kind = metric["type"][:1].lower() + metric["type"][1:]
        source, seen = metric.get(kind) or {}, {}
        if i < len(current):
            seen = (current[i].get(kind) or {}).get("current") or {}
        name = f"{source['name']}: " if "name" in source else ""
        found.append(name + measure(source.get("target") or {}, seen))
    if not found:
        return "<none>"
    more = f" + {len(found) - 2} more..." if len(found) > 2 else ""
    return ", ".join(found[:2]) + more


def measure(target: Body, seen: Body) -> str:
    if "averageUtilization" in target:
        now = seen.get("averageUtilization")
        return f"{'<unknown>' if now is None else f'{now}%'}/{target['averageUtilization']}%"
    if "averageValue" in target:
        return f"{seen.get('averageValue', '<unknown>')}/{target['averageValue']} (avg)"
    return f"{seen.get('value', '<unknown>')}/{target.get('value', '<unknown>')}"


def budget(body: Body) -> list[Any]:
    spec = body["spec"]
    least, most = spec.get("minAvailable", "N/A"), spec.get("maxUnavailable", "N/A")
    return [
        body["metadata"]["name"],
        str(least),
        str(most),
        *status_of(body, "disruptionsAllowed"),
        created(body),
    ]


def priority(body: Body) -> list[Any]:
    return [
        body["metadata"]["name"], body["value"], bool(body.get("globalDefault")), created(body),
        body.get("preemptionPolicy", ""),
    ]  # fmt: skip

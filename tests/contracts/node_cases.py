"""Pods as cases: what they are made of, when they have come where the case wants them, and what is then said.

Addresses, times and identities differ from run to run: of these only the presence is looked at.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

Body = dict[str, Any]
IMAGE = "busybox"


def read(name: str) -> dict[str, Body]:
    found: dict[str, Body] = yaml.safe_load(Path(__file__).with_name(name).read_text())
    return found


def pod(name: str, spec: Body, **metadata: Any) -> Body:
    """The manifest; what nearly every case wants need not be written."""
    whole = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, **spec}
    for kind in ("initContainers", "containers"):
        if kind in whole:
            whole[kind] = [container(c) for c in whole[kind]]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": whole}


def container(given: Body) -> Body:
    return {"name": "main", "image": IMAGE, "imagePullPolicy": "IfNotPresent", **given}


def has_come(until: str, status: Body) -> bool:
    """Whether a pod is where a case wants it.

    A phase; `ready`; `restarted` and running again; `NAME runs`; or the reason a container waits for.
    """
    containers = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
    if until in ("Succeeded", "Failed"):
        return status.get("phase") == until
    if until == "ready":
        return any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", ()))
    if until == "restarted":
        return any(c["restartCount"] == 1 and c["ready"] for c in containers)
    if until.endswith(" runs"):
        return any(c["name"] == until.split()[0] and "running" in c["state"] for c in containers)
    return any(c["state"].get("waiting", {}).get("reason") == until for c in containers)


def summary(status: Body) -> Body:
    """What is said of a pod, a line for each condition and each container."""
    found = {key: cut(status[key]) for key in ("phase", "reason", "message", "qosClass") if status.get(key)}
    for condition in status["conditions"]:
        found[condition["type"]] = line(condition["status"], condition)
    containers = [*status.get("initContainerStatuses", ()), *status["containerStatuses"]]
    return {**found, **{told["name"]: of_container(told) for told in containers}}


def of_container(told: Body) -> str:
    [(kind, details)] = told["state"].items()
    words = [line(kind, details)]
    words += [word for word in ("started", "ready") if told[word]]
    if told["restartCount"]:
        words.append(f"restarts: {told['restartCount']}")
    # A kubelet removes the second last run some time after the last one has ended.
    if kind != "terminated" and (before := told["lastState"].get("terminated")):
        words.append(line("before: terminated", before))
    return ", ".join(words)


def line(kind: str, details: Body) -> str:
    code = str(details["exitCode"]) if "exitCode" in details else ""
    words = " ".join(word for word in (kind, details.get("reason"), code) if word)
    message = cut(details.get("message", ""))
    return f"{words}: {message}" if message else words


FLEETING = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|test-[0-9a-f]{8}")


def cut(message: str) -> str:
    """Its first line, without names that no two runs have in common; ours goes on with what to do."""
    return FLEETING.sub("*", message.partition("\n")[0])


def agrees(said: str | None, wanted: str) -> bool:
    """Whether these are the wanted words, where `*` stands for any."""
    pattern = ".*".join(re.escape(part) for part in wanted.split("*"))
    return said is not None and re.fullmatch(pattern, said, re.DOTALL) is not None


def lacks(status: Body) -> list[str]:
    """What must be told of every container, whatever its value, and is not."""
    missing = [f"pod {key}" for key in ("startTime", "hostIP", "podIP") if not status.get(key)]
    for told in status["containerStatuses"]:
        [(kind, details)] = told["state"].items()
        times = {"running": ["startedAt"], "terminated": ["startedAt", "finishedAt", "containerID"]}
        missing += [f"{told['name']} {key}" for key in times.get(kind, ()) if not details.get(key)]
        if kind != "waiting":
            missing += [f"{told['name']} {key}" for key in ("containerID", "imageID") if not told.get(key)]
    return missing

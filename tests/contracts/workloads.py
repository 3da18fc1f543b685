"""A cluster without nodes, and a kubelet made of single sentences: a test says what its pods do.

Whoever makes pods of workloads (ours or kube-controller-manager) sees only what this says of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

Body = dict[str, Any]
GROUPS = {
    "pods": "/api/v1",
    "services": "/api/v1",
    "endpoints": "/api/v1",
    "events": "/api/v1",
    "persistentvolumeclaims": "/api/v1",
    "resourcequotas": "/api/v1",
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "statefulsets": "/apis/apps/v1",
    "controllerrevisions": "/apis/apps/v1",
    "jobs": "/apis/batch/v1",
    "cronjobs": "/apis/batch/v1",
    "endpointslices": "/apis/discovery.k8s.io/v1",
}
KINDS = {
    "deployments": "Deployment",
    "replicasets": "ReplicaSet",
    "statefulsets": "StatefulSet",
    "jobs": "Job",
    "cronjobs": "CronJob",
    "services": "Service",
    "pods": "Pod",
    "resourcequotas": "ResourceQuota",
}
LIMIT = 30.0


def stamp(moment: datetime | None = None) -> str:
    return (moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")


def template(labels: dict[str, str] | None = None, image: str = "example/web:1", **spec: Any) -> Body:
    """A pod template; a scheduler nobody runs leaves its pods where they are."""
    containers = [{"name": "main", "image": image}]
    found: Body = {"spec": {"schedulerName": "nobody", "containers": containers, **spec}}
    return {**found, "metadata": {"labels": labels}} if labels else found


@dataclass(frozen=True)
class Workloads:
    rest: Rest
    namespace: str

    def path(self, plural: str, name: str = "", sub: str = "") -> str:
        parts = [f"{GROUPS[plural]}/namespaces/{self.namespace}/{plural}", name, sub]
        return "/".join(p for p in parts if p)

    def make(self, plural: str, name: str, spec: Body, **metadata: Any) -> Body:
        group = GROUPS[plural].removeprefix("/apis/").removeprefix("/api/")
        body = {
            "apiVersion": group,
            "kind": KINDS[plural],
            "metadata": {"name": name, **metadata},
            "spec": spec,
        }
        made: Body = self.rest.post(self.path(plural), body).expect(201)
        return made

    def get(self, plural: str, name: str) -> Body:
        found: Body = self.rest.get(self.path(plural, name)).expect(200)
        return found

    def all(self, plural: str, selector: str = "") -> list[Body]:
        query = {"labelSelector": selector} if selector else {}
        items: list[Body] = self.rest.get(self.path(plural), **query).expect(200)["items"]
        return items

    def patch(self, plural: str, name: str, patch: Body) -> Body:
        found: Body = self.rest.merge(self.path(plural, name), patch).expect(200)
        return found

    def delete(self, plural: str, name: str, **options: Any) -> None:
        self.rest.delete(self.path(plural, name), options or None).expect(200)

    def pods(self, selector: str = "") -> list[Body]:
        """The pods that are not on their way out, oldest name first."""
        found = [p for p in self.all("pods", selector) if "deletionTimestamp" not in p["metadata"]]
        return sorted(found, key=name_of)

    def pods_are(self, count: int, selector: str = "") -> list[Body]:
        """The pods, once there are exactly so many."""
        self.wait(lambda: len(self.pods(selector)) == count, f"{count} pods, there are", selector)
        return self.pods(selector)

    def report(self, pod: Body | str, phase: str = "Running", **status: Any) -> None:
        """What a kubelet would report of a pod."""
        name = pod if isinstance(pod, str) else name_of(pod)
        self.rest.merge(self.path("pods", name, "status"), {"status": {"phase": phase, **status}}).expect(200)

    def run(self, *pods: Body | str, ready: bool = True, ip: str = "10.0.0.1", since: str = "") -> None:
        for pod in pods:
            holds = {"status": "True" if ready else "False", "lastTransitionTime": since or stamp()}
            conditions = [{"type": kind, **holds} for kind in ("Ready", "ContainersReady")]
            self.report(
                pod, "Running", conditions=conditions, podIP=ip, podIPs=[{"ip": ip}], startTime=stamp()
            )

    def run_all(self) -> None:
        """Every pod that waits becomes ready; one that goes meanwhile is let go."""
        for pod in self.pods():
            if pod["status"].get("phase") == "Pending":
                holds = {"type": "Ready", "status": "True", "lastTransitionTime": stamp()}
                status = {"status": {"phase": "Running", "conditions": [holds]}}
                assert self.rest.merge(self.path("pods", name_of(pod), "status"), status).status in (200, 404)

    def end(
        self, *pods: Body | str, phase: str = "Succeeded", code: int | None = None, **status: Any
    ) -> None:
        """The containers of pods exit."""
        code = (0 if phase == "Succeeded" else 1) if code is None else code
        for pod in pods:
            ended = {"exitCode": code, "startedAt": stamp(), "finishedAt": stamp()}
            main = {"name": "main", "state": {"terminated": ended}, "ready": False, "restartCount": 0,
                    "image": "example/web:1", "imageID": ""}  # fmt: skip
            self.report(pod, phase, containerStatuses=[main], **status)

    def status(self, plural: str, name: str) -> Body:
        found: Body = self.get(plural, name).get("status") or {}
        return found

    def status_has(self, plural: str, name: str, limit: float = LIMIT, **wanted: Any) -> Body:
        """The status, once it says this; None stands for a field that is not there."""

        def says() -> bool:
            status = self.status(plural, name)
            return all(status.get(field) == value for field, value in wanted.items())

        self.wait(says, f"{plural} {name} with {wanted}", lambda: self.status(plural, name), limit=limit)
        return self.status(plural, name)

    def condition(self, plural: str, name: str, kind: str) -> Body | None:
        found = self.status(plural, name).get("conditions") or ()
        return next((c for c in found if c["type"] == kind), None)

    def told(self, plural: str, name: str, kind: str, limit: float = LIMIT, **wanted: Any) -> Body:
        """The condition, once it says this."""

        def says() -> bool:
            found = self.condition(plural, name, kind)
            return found is not None and all(found.get(k) == v for k, v in wanted.items())

        self.wait(says, f"{kind} of {plural} {name} {wanted}", lambda: self.status(plural, name), limit=limit)
        found = self.condition(plural, name, kind)
        assert found is not None
        return found

    def events(self, name: str) -> list[tuple[str, str, str]]:
        """Type, reason and message of what was told of an object."""
        query = {"fieldSelector": f"involvedObject.name={name}"}
        items = self.rest.get(self.path("events"), **query).expect(200)["items"]
        return sorted({(e["type"], e["reason"], e["message"]) for e in items})

    def heard(self, name: str, reason: str, limit: float = LIMIT) -> list[str]:
        """The messages of the events with a reason, once there is one."""

        def messages() -> list[str]:
            return [m for _, r, m in self.events(name) if r == reason]

        self.wait(
            lambda: bool(messages()), f"the event {reason} of {name}", lambda: self.events(name), limit=limit
        )
        return messages()

    def wait(
        self, condition: Callable[[], Any], what: str, show: Any = None, *, limit: float = LIMIT
    ) -> None:
        try:
            until(condition, what=what, limit=limit)
        except TimeoutError as error:
            seen = show() if callable(show) else self.names("pods")
            raise TimeoutError(f"{error}; seen: {seen}") from None

    def settle(self) -> None:
        """Return when the controllers have done what was asked of them before: a set made now has its pod."""
        spec = {"selector": {"matchLabels": {"app": "last"}}, "template": template({"app": "last"})}
        self.make("replicasets", "last", spec)
        self.pods_are(1, "app=last")

    def names(self, plural: str, selector: str = "") -> list[str]:
        return sorted(name_of(o) for o in self.all(plural, selector))

    def settled(self, plural: str, name: str) -> Body:
        """The object, once its controller has seen its newest spec."""

        def seen() -> bool:
            body = self.get(plural, name)
            return bool(
                (body.get("status") or {}).get("observedGeneration", 0) >= body["metadata"]["generation"]
            )

        self.wait(seen, f"{plural} {name} observed", lambda: self.get(plural, name))
        return self.get(plural, name)


def name_of(obj: Body) -> str:
    return str(obj["metadata"]["name"])


def owners(obj: Body) -> list[tuple[str, str, bool]]:
    return [
        (o["kind"], o["name"], o.get("controller", False)) for o in obj["metadata"].get("ownerReferences", ())
    ]


def images(pods: Iterable[Body]) -> list[str]:
    return sorted(p["spec"]["containers"][0]["image"].rpartition(":")[2] for p in pods)

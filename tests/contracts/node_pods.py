"""Pods that really run, in one namespace: made, waited for, read and asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.contracts import node_cases
from tests.contracts.node_cases import Body
from tests.contracts.workloads import Workloads
from tests.kubernetes.rest import Answer, Rest

LIMIT = 90.0
"""Seconds; a pod takes one, and two dozen of them on a busy machine take their time."""


@dataclass(frozen=True)
class NodePods:
    rest: Rest
    namespace: str

    @property
    def objects(self) -> Workloads:
        return Workloads(self.rest, self.namespace)

    def path(self, plural: str, name: str = "") -> str:
        return f"/api/v1/namespaces/{self.namespace}/{plural}" + (f"/{name}" if name else "")

    def make_all(self, cases: Mapping[str, Body]) -> None:
        """All at once, so that the waits of the cases overlap."""
        for name, case in cases.items():
            self.make(name, case["spec"], **case.get("metadata", {}))

    def make(self, name: str, spec: Body, **metadata: Any) -> Body:
        text = json.dumps(node_cases.pod(name, spec, **metadata)).replace("NAMESPACE", self.namespace)
        made: Body = self.rest.send("POST", self.path("pods"), text).expect(201)
        return made

    def status(self, name: str) -> Body:
        found: Body = self.rest.get(self.path("pods", name)).expect(200)["status"]
        return found

    def wait(self, name: str, until: str) -> Body:
        """The status, once the pod is where the words want it."""
        self.until(lambda: node_cases.has_come(until, self.status(name)), f"{name}: {until}", name)
        return self.status(name)

    def until(self, condition: Callable[[], Any], what: str, name: str = "") -> None:
        shown = (lambda: (self.status(name), self.objects.events(name))) if name else None
        self.objects.wait(condition, what, shown, limit=LIMIT)

    def ask_log(self, name: str, **query: Any) -> Answer:
        return self.rest.get(f"{self.path('pods', name)}/log", **query)

    def log(self, name: str, **query: Any) -> str:
        answer = self.ask_log(name, **query)
        assert answer.status == 200, answer.text
        return answer.text

    def logged(self, name: str, text: str) -> None:
        """Return once the pod has written exactly this."""
        self.until(lambda: self.ask_log(name).text == text, f"{text!r} in the log of {name}", name)

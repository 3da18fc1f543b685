"""PaddleJobs whose pods really run: made, waited for, looked at, in one namespace of one cluster.

Which cluster it is makes no difference to a case but for what nobody can have without names.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.contracts.node_cases import IMAGE, Body
from tests.contracts.node_pods import LIMIT, NodePods
from tests.contracts.objects import jobs
from tests.kubernetes.rest import Event
from tests.scenarios.pdc_home import PDC, variables

LIVES = "trap 'exit 0' TERM; sleep 600 & wait"
PYTHON = "python"


def role(replicas: int, script: str, image: str = IMAGE, **spec: Any) -> Body:
    """A role whose pods run a script: of Python in the image of Python, else of the shell."""
    program = ["python3", "-u"] if image == PYTHON else ["sh"]
    container: Body = {"name": "paddle", "image": image, "imagePullPolicy": "IfNotPresent"}
    container["command"] = [*program, "-c", script]
    whole = {"terminationGracePeriodSeconds": 1, "containers": [container], **spec}
    return {"replicas": replicas, "template": {"spec": whole}}


@dataclass(frozen=True)
class NodeJobs:
    pods: NodePods
    kubeconfig: Path
    names: bool
    """Whether pods can look up the names of Services."""

    def path(self, name: str = "") -> str:
        return jobs(self.pods.namespace, name)

    def make(self, name: str, **spec: Any) -> None:
        kind = {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob"}
        body = {**kind, "metadata": {"name": name}, "spec": spec}
        self.pods.rest.post(self.path(), body, fieldValidation="Strict").expect(201)

    def make_all(self, cases: Mapping[str, Body]) -> None:
        """All at once, so that their waits overlap."""
        for name, spec in cases.items():
            self.make(name, **spec)

    def change(self, name: str, **spec: Any) -> None:
        self.pods.rest.merge(self.path(name), {"spec": spec}).expect(200)

    def scale(self, name: str, replicas: int) -> None:
        self.pods.rest.merge(f"{self.path(name)}/scale", {"spec": {"replicas": replicas}}).expect(200)

    def remove(self, name: str) -> None:
        self.pods.rest.delete(self.path(name)).expect(200)

    def status(self, name: str) -> Body:
        found: Body = self.pods.rest.get(self.path(name)).expect(200).get("status") or {}
        return found

    def until(self, name: str, what: str, condition: Callable[[Body], Any]) -> Body:
        """The status of a job, once it meets the condition."""

        def seen() -> Any:
            pods = {pod: body["status"] for pod, body in self.all(name).items()}
            return self.status(name), self.pods.objects.events(name), pods

        self.pods.objects.wait(lambda: condition(self.status(name)), f"{name}: {what}", seen, limit=LIMIT)
        return self.status(name)

    def comes_to(self, name: str, phase: str, **wanted: Any) -> Body:
        """The status, once the job is there and says the rest too."""

        def says(status: Body) -> bool:
            return all(status.get(key) == value for key, value in {"phase": phase, **wanted}.items())

        return self.until(name, f"{phase} {wanted}", says)

    def condition(self, name: str, kind: str) -> Body:
        found: list[Body] = [c for c in self.status(name).get("conditions") or () if c["type"] == kind]
        return found[0] if found else {}

    def all(self, name: str) -> dict[str, Body]:
        """The pods of a job that are not on their way out."""
        return {p["metadata"]["name"]: p for p in self.pods.objects.pods(f"paddle-job-name={name}")}

    def uids(self, name: str) -> dict[str, str]:
        return {pod: body["metadata"]["uid"] for pod, body in self.all(name).items()}

    def delete_pod(self, pod: str) -> None:
        self.pods.rest.delete(self.pods.path("pods", pod)).expect(200)

    def gone(self, name: str) -> None:
        """Return once the job has no pod left at all."""
        query = {"labelSelector": f"paddle-job-name={name}"}
        self.pods.until(
            lambda: not self.pods.rest.get(self.pods.path("pods"), **query).expect(200)["items"],
            f"an end of all pods of {name}",
        )

    def endpoints(self, name: str) -> dict[str, str]:
        found: dict[str, str] = self.pods.rest.get(self.pods.path("configmaps", name)).expect(200)["data"]
        return found

    def log(self, pod: str) -> str:
        return self.pods.log(pod, container="paddle")

    def has_said(self, pod: str, words: str) -> None:
        def said() -> bool:
            return words in self.pods.ask_log(pod, container="paddle").text

        self.pods.until(said, f"{words!r} in the log of {pod}", pod)

    def kept(self, name: str) -> str:
        """What `pdc logs job/NAME` prints, whoever kept it."""
        command = [*PDC, "--kubeconfig", str(self.kubeconfig), "logs", f"job/{name}"]
        command += ["--namespace", self.pods.namespace]
        done = subprocess.run(command, env=variables(), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def witness(self, name: str) -> Iterator[Witness]:
        """Sees every change of the pods of a job from here on."""
        selector = f"paddle-job-name={name}"
        with self.pods.rest.watch(self.pods.path("pods"), labelSelector=selector) as events:
            yield Witness(events)


@dataclass
class Witness:
    events: Iterator[Event]
    begun: list[str] = field(default_factory=list)
    """The pods whose program runs, in the order in which that was seen."""
    waited_for: set[str] = field(default_factory=set)
    """The reasons programs waited for."""

    def sees(self, count: int) -> list[str]:
        """The first so many pods that began."""
        for event in self.events:
            for told in event.object["status"].get("containerStatuses") or ():
                if told["state"].keys() & {"running", "terminated"} and event.name not in self.begun:
                    self.begun.append(event.name)
                self.waited_for.add(told["state"].get("waiting", {}).get("reason", ""))
            if len(self.begun) >= count:
                break
        return self.begun

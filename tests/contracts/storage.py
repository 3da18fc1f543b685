"""Volumes, claims and a class of one test's own, gone at its end: nobody else's claims take its volumes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.contracts.objects import core
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

Body = dict[str, Any]
VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
PROVISIONER = "example.com/elsewhere"
"""Made by somebody who never comes, on every server."""
LIMIT = 30.0


@dataclass
class Storage:
    rest: Rest
    namespace: str
    made: list[str] = field(default_factory=list)

    @property
    def class_name(self) -> str:
        """A class that no object has unless the test makes it: volumes and claims meet by it."""
        return self.namespace

    def add_class(self, **fields: Any) -> None:
        body = {"metadata": {"name": self.class_name}, "provisioner": PROVISIONER, **fields}
        self.rest.post(CLASSES, body).expect(201)
        self.made.append(f"{CLASSES}/{self.class_name}")

    def volume_name(self, name: str) -> str:
        return f"{self.namespace}-{name}"

    def add_volume(self, name: str, size: str = "1Gi", **spec: Any) -> Body:
        """A volume on paper; *labels* and *annotations* are its metadata's."""
        full = self.volume_name(name)
        metadata = {"name": full} | {k: spec.pop(k) for k in ("labels", "annotations") if k in spec}
        found: Body = {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": self.class_name,
            **spec,
        }
        if not any(kind in found for kind in ("csi", "local", "nfs")):
            found.setdefault("hostPath", {"path": f"/srv/{full}"})
        self.made.append(f"{VOLUMES}/{full}")
        made: Body = self.rest.post(VOLUMES, {"metadata": metadata, "spec": found}).expect(201)
        return made

    def add_claim(self, name: str, size: str = "1Gi", **spec: Any) -> Body:
        metadata = {"name": name} | {k: spec.pop(k) for k in ("labels", "annotations") if k in spec}
        found = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            "storageClassName": self.class_name,
            **spec,
        }
        body = {"metadata": metadata, "spec": found}
        made: Body = self.rest.post(core(self.namespace, "persistentvolumeclaims"), body).expect(201)
        return made

    def add_pod(self, name: str, **spec: Any) -> Body:
        spec = {"schedulerName": "nobody", "containers": [{"name": "main", "image": "x"}], **spec}
        body = {"metadata": {"name": name}, "spec": spec}
        made: Body = self.rest.post(core(self.namespace, "pods"), body).expect(201)
        return made

    def user_of(self, claim: str, name: str = "user", **spec: Any) -> Body:
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
        return self.add_pod(name, volumes=volumes, **spec)

    def claim_path(self, name: str) -> str:
        return core(self.namespace, "persistentvolumeclaims", name)

    def volume_path(self, name: str) -> str:
        return f"{VOLUMES}/{self.volume_name(name)}"

    def claim(self, name: str) -> Body:
        found: Body = self.rest.get(self.claim_path(name)).expect(200)
        return found

    def volume(self, name: str) -> Body:
        found: Body = self.rest.get(self.volume_path(name)).expect(200)
        return found

    def claim_is(self, name: str, phase: str) -> Body:
        return self.wait(lambda: self.claim(name), phase, f"claim {name}")

    def volume_is(self, name: str, phase: str) -> Body:
        return self.wait(lambda: self.volume(name), phase, f"volume {name}")

    def wait(self, get: Callable[[], Body], phase: str, what: str) -> Body:
        try:
            return until(
                lambda: found if (found := get())["status"].get("phase") == phase else None,
                what=f"{what} {phase}", limit=LIMIT,
            )  # fmt: skip
        except TimeoutError as error:
            raise TimeoutError(f"{error}; it is {get()['status']}; heard: {self.everything()}") from None

    def bound(self, claim: str, volume: str) -> tuple[Body, Body]:
        """Both, once both say they belong together."""
        return self.claim_is(claim, "Bound"), self.volume_is(volume, "Bound")

    def delete_claim(self, name: str) -> None:
        self.rest.delete(self.claim_path(name)).expect(200)

    def delete_pod(self, name: str = "user") -> None:
        self.rest.delete(core(self.namespace, "pods", name), {"gracePeriodSeconds": 0}).expect(200)

    def gone(self, path: str) -> None:
        until(lambda: self.rest.get(path).status == 404, what=f"the end of {path}", limit=LIMIT)

    def heard(self, name: str, reason: str) -> str:
        """The message of an event of a claim, a pod or (by its full name) a volume, once there is one."""
        # Events of what lives in no namespace are kept in `default`.
        place = "default" if name.startswith(self.namespace) else self.namespace
        fields = f"involvedObject.name={name},reason={reason}"

        def message() -> str:
            items = self.rest.get(core(place, "events"), fieldSelector=fields).expect(200)["items"]
            return f"{items[0]['type']}: {items[0]['message']}" if items else ""

        try:
            return until(message, what=f"an event {reason} of {name}", limit=LIMIT)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; heard: {self.everything()}") from None

    def everything(self) -> list[tuple[str, str, str]]:
        items = [
            e for place in (self.namespace, "default")
            for e in self.rest.get(core(place, "events")).expect(200)["items"]
        ]  # fmt: skip
        return [(e["involvedObject"]["name"], e["reason"], e["message"]) for e in items]

    def clear(self) -> None:
        """Take away what no namespace takes along; nobody may hold a volume back."""
        for pod in self.rest.get(core(self.namespace, "pods")).expect(200)["items"]:
            self.delete_pod(pod["metadata"]["name"])
        self.rest.delete(core(self.namespace, "persistentvolumeclaims"))
        for path in reversed(self.made):
            self.rest.delete(path)
            self.rest.merge(path, {"metadata": {"finalizers": None}})

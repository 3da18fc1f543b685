"""The pod of a kfp 2 executor, with what its platform settings add; pure.

Values that are known only in the run stand in the pod as `{{extra.x}}`, with the binding beside it.
"""

from __future__ import annotations

from typing import Any

from ...api.workflowgraph import Binding, Output
from ..component import IMAGE
from .lightweight import prepared
from .values import parameter, whole

Body = dict[str, Any]
DEEDS = ["python", "-m", "paddlecloud.pipelines.deeds"]
CLAIMS = {"argostub/createpvc": "create-claim", "argostub/deletepvc": "delete-claim"}


def claim_deed(container: Body) -> Body | None:
    """Volumes that are made and deleted by a task of their own; the image is only a name for it."""
    action = CLAIMS.get(str(container.get("image") or ""))
    if action is None:
        return None
    order: Body = {"action": action, "inputs": "{{inputs}}", "outputs": {}}
    outputs = {"name": Output()} if action == "create-claim" else {}
    return {"form": "deed", "image": IMAGE, "command": DEEDS, "pod": order, "outputs": outputs}


def pod_of(container: Body, settings: Body) -> tuple[Body, dict[str, Binding]]:
    adding = Adding(container)
    adding.settings(settings)
    return adding.pod(), adding.extras


class Adding:
    def __init__(self, container: Body) -> None:
        image, command = prepared(str(container["image"]), list(container.get("command") or ()))
        self.main: Body = {
            "name": "main",
            "image": image,
            "command": command,
            "args": list(container.get("args") or ()),
        }
        self.main["env"] = [
            {"name": e["name"], "value": e.get("value", "")} for e in container.get("env") or ()
        ]
        self.main["resources"] = resources(container.get("resources") or {})
        self.spec: Body = {"containers": [self.main]}
        self.metadata: Body = {}
        self.extras: dict[str, Binding] = {}

    def pod(self) -> Body:
        for key in ("args", "env", "resources", "command"):
            if not self.main[key]:
                del self.main[key]
        return {"spec": self.spec, "metadata": self.metadata}

    def settings(self, said: Body) -> None:
        for number, mount in enumerate(said.get("pvcMount") or ()):
            name = self.named(
                mount, "pvcNameParameter", ("constant", "taskOutputParameter", "componentInputParameter")
            )
            self.mount(f"claim-{number}", {"persistentVolumeClaim": {"claimName": name}}, mount)
        for number, secret in enumerate(said.get("secretAsVolume") or ()):
            source = {"secretName": self.of(secret, "secretName"), "optional": bool(secret.get("optional"))}
            self.mount(f"secret-{number}", {"secret": source}, secret)
        for number, config in enumerate(said.get("configMapAsVolume") or ()):
            source = {"name": self.of(config, "configMapName"), "optional": bool(config.get("optional"))}
            self.mount(f"config-{number}", {"configMap": source}, config)
        for number, empty in enumerate(said.get("emptyDirMounts") or ()):
            source = {k: empty[k] for k in ("medium", "sizeLimit") if empty.get(k)}
            self.mount(f"empty-{number}", {"emptyDir": source}, empty)
        self.variables(said)
        self.placing(said)

    def variables(self, said: Body) -> None:
        env = self.main["env"]
        for secret in said.get("secretAsEnv") or ():
            name = self.of(secret, "secretName")
            for pair in secret.get("keyToEnv") or ():
                key = {"name": name, "key": pair["secretKey"], "optional": bool(secret.get("optional"))}
                env.append({"name": pair["envVar"], "valueFrom": {"secretKeyRef": key}})
        for config in said.get("configMapAsEnv") or ():
            name = self.of(config, "configMapName")
            for pair in config.get("keyToEnv") or ():
                key = {"name": name, "key": pair["configMapKey"], "optional": bool(config.get("optional"))}
                env.append({"name": pair["envVar"], "valueFrom": {"configMapKeyRef": key}})
        for field in said.get("fieldPathAsEnv") or ():
            env.append({"name": field["name"], "valueFrom": {"fieldRef": {"fieldPath": field["fieldPath"]}}})

    def placing(self, said: Body) -> None:
        if labels := (said.get("nodeSelector") or {}).get("labels"):
            self.spec["nodeSelector"] = dict(labels)
        if tolerations := [
            whole(t) for t in said.get("tolerations") or () if t and "tolerationJson" not in t
        ]:
            self.spec["tolerations"] = tolerations
        if seconds := said.get("activeDeadlineSeconds"):
            self.spec["activeDeadlineSeconds"] = int(seconds)
        if policy := said.get("imagePullPolicy"):
            self.main["imagePullPolicy"] = policy
        if secrets := [
            {"name": s["secretName"]} for s in said.get("imagePullSecret") or () if s.get("secretName")
        ]:
            self.spec["imagePullSecrets"] = secrets
        if pod := said.get("podMetadata"):
            self.metadata = {k: dict(pod[k]) for k in ("labels", "annotations") if pod.get(k)}

    def mount(self, name: str, source: Body, where: Body) -> None:
        self.spec.setdefault("volumes", []).append({"name": name, **source})
        mount = {"name": name, "mountPath": where["mountPath"]}
        if where.get("subPath"):
            mount["subPath"] = where["subPath"]
        self.main.setdefault("volumeMounts", []).append(mount)

    def of(self, said: Body, field: str) -> str:
        return self.named(said, f"{field}Parameter", (field,))

    def named(self, said: Body, newer: str, older: tuple[str, ...]) -> str:
        """A name that may be made in the run; the newer form is read first, both are written."""
        source = said.get(newer)
        if source is None:
            given = next((k for k in older if k in said), "")
            if given in ("taskOutputParameter", "componentInputParameter"):
                source = {given: said[given]}
            else:
                return str(said.get(given) or "")
        binding = parameter(source)
        if isinstance(binding.value, str):
            return binding.value
        key = f"{len(self.extras)}"
        self.extras[key] = binding
        return "{{extra." + key + "}}"


def resources(said: Body) -> Body:
    """Both forms of it: texts of now, and the numbers of before."""
    limits: Body = {}
    requests: Body = {}
    for place, words in ((limits, "Limit"), (requests, "Request")):
        for what in ("Cpu", "Memory"):
            text = said.get(f"resource{what}{words}")
            number = said.get(f"{what.lower()}{words}")
            if text:
                place[what.lower()] = str(text)
            elif number:
                place[what.lower()] = f"{number:g}" + ("G" if what == "Memory" else "")
    accelerator = said.get("accelerator") or {}
    count = accelerator.get("resourceCount") or accelerator.get("count")
    if count:
        limits[str(accelerator.get("resourceType") or accelerator.get("type"))] = str(count)
    return {k: v for k, v in (("limits", limits), ("requests", requests)) if v}

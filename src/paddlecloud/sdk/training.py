"""A training job made from a script: the PaddleJob that runs it and the ConfigMap that carries it; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..api.core import ConfigMap
from ..api.meta import Metadata
from ..api.paddlejob import PaddleJob
from ..errors import WrongUse

IMAGE = "paddlecloud/paddle"
CODE = "/opt/paddlecloud/code"
LARGEST = 900 * 1024  # bytes; a ConfigMap holds a mebibyte with all that is around it
# Paddle wants to be told its own endpoint; the operator's variables only imply it.
RUN = 'PADDLE_CURRENT_ENDPOINT="$POD_IP:$PADDLE_PORT" exec python "$0" "$@"'
Body = dict[str, Any]


@dataclass(frozen=True)
class Training:
    name: str
    script: str
    """The name of the file that is run."""
    files: Mapping[str, str]
    """The code, by file name."""
    arguments: tuple[str, ...] = ()
    namespace: str = "default"
    workers: int = 1
    ps: int = 0
    image: str = IMAGE
    data: str = ""
    """A SampleSet."""
    data_path: str = "/data"
    env: Mapping[str, str] = field(default_factory=dict)

    def objects(self) -> tuple[ConfigMap, PaddleJob]:
        """What is made of it; raises `WrongUse` for what cannot be made."""
        size = sum(len(text.encode()) for text in self.files.values())
        if size > LARGEST:
            raise WrongUse(
                f"the code has {size} bytes, and {LARGEST} can be sent",
                next_step="put it into an image of your own (`pdc image build`) and name that with --image",
            )
        if self.ps and self.image == IMAGE:
            raise WrongUse(
                f"the Paddle of {IMAGE} has no parameter servers",
                next_step="name an image with Paddle 2.6 with --image",
            )
        metadata = Metadata(name=self.code_name, namespace=self.namespace)
        return ConfigMap(metadata=metadata, data=dict(self.files)), PaddleJob.read(self._job())

    @property
    def code_name(self) -> str:
        return f"{self.name}-code"

    def _job(self) -> Body:
        spec: Body = {"cleanPodPolicy": "Never"}
        if self.data:
            spec["sampleSetRef"] = {"name": self.data, "mountPath": self.data_path}
        if self.ps:
            spec |= {"withGloo": 1, "ps": {"replicas": self.ps, "template": self._template()}}
        spec["worker"] = {"replicas": self.workers, "template": self._template()}
        return {
            "apiVersion": PaddleJob.api_version,
            "kind": "PaddleJob",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": spec,
        }

    def _template(self) -> Body:
        env = [{"name": name, "value": value} for name, value in self.env.items()]
        if self.workers > 1 and "PADDLE_DISTRI_BACKEND" not in self.env:
            # Without the launcher Paddle does not find out by itself that there is no GPU to talk over.
            env.insert(0, {"name": "PADDLE_DISTRI_BACKEND", "value": "gloo"})
        container: Body = {
            "name": "paddle",
            "image": self.image,
            "command": ["sh", "-c", RUN, f"{CODE}/{self.script}"],
            "volumeMounts": [{"name": "code", "mountPath": CODE}],
        }
        if self.arguments:
            container["args"] = list(self.arguments)
        if env:
            container["env"] = env
        volume = {"name": "code", "configMap": {"name": self.code_name}}
        return {"spec": {"containers": [container], "volumes": [volume]}}

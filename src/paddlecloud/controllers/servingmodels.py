"""Which version of a model an endpoint serves: resolved once and kept, unless it follows its alias; pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..api.meta import Condition
from ..api.model import Model, ModelPhase, ModelVersion
from ..api.paddleservice import EndpointSpec, EndpointStatus
from .conditions import waiting
from .contract import Snapshot
from .model import resolve

ONNX, PADDLE = "onnx", "paddle"
CONVERTED, PARAMETERS = "model.onnx", (".pdiparams", "__params__")


def resolved(
    role: str, spec: EndpointSpec, before: Sequence[EndpointStatus], seen: Snapshot
) -> tuple[EndpointStatus, Condition | None]:
    """What the endpoint serves, and what keeps it from serving.

    *before*: what it served, then the other endpoint, whose pin it takes over with its reference.
    """
    old = before[0]
    if not spec.model:
        if spec.container_image and spec.tag and spec.port:
            return EndpointStatus(name=old.name), None
        return old, waiting(
            "Incomplete",
            f"spec.{role} needs either model, or containerImage, tag and port; edit the PaddleService",
        )
    model = seen.find(Model, spec.model.partition("@")[0])
    # A changed reference is a new question; a pin answers only the one it was made for.
    pins = (e.model_version for e in before if e.model == spec.model and not spec.follow)
    wanted = next(pins, "") or resolve(spec.model, model, seen.all(ModelVersion))
    if not wanted:
        return old, waiting(
            "WaitingForModel",
            f"waits for {spec.model}: no such model, alias or version; push one or move the alias",
        )
    version = seen.find(ModelVersion, wanted)
    if version is None or version.status.phase is not ModelPhase.READY:
        shown = version.status.phase.value if version else "missing"
        return old, waiting("WaitingForModel", f"waits for ModelVersion {wanted} to be Ready; it is {shown}")
    storage = version.status.storage
    return (
        EndpointStatus(
            name=old.name, model=spec.model, model_version=wanted, storage=storage, engine=engine_of(version)
        ),
        None,
    )


def engine_of(version: ModelVersion) -> str:
    """What the model server chooses of the files: a conversion only if it was found to be exact."""
    paths = {file.path for file in version.status.files}
    inexact = any(c.format == ONNX and not c.exact for c in version.status.conversions)
    alone = not any(path.endswith(PARAMETERS) for path in paths)
    return ONNX if not paths or (CONVERTED in paths and (alone or not inexact)) else PADDLE

"""Pods from templates: labels, annotations and finalizers of the template, a name of the owner's; pure."""

from __future__ import annotations

import copy
from typing import Any

from ...api.core import Pod
from ...api.meta import Metadata, Resource


def pod_of(template: dict[str, Any], owner: Resource, name: str) -> Pod:
    """The pod that *owner* makes of its template."""
    body = copy.deepcopy(template)
    given = body.get("metadata") or {}
    metadata = {
        "name": name,
        "namespace": owner.namespace,
        **{field: given[field] for field in ("labels", "annotations", "finalizers") if given.get(field)},
    }
    return Pod(metadata=Metadata.model_validate(metadata), spec=body.get("spec") or {})


def generated(pod: Pod, owner: Resource, prefix: str = "") -> Pod:
    """The pod as one of many alike: it tells the beginning of its name."""
    beginning = {"generateName": prefix or f"{owner.name}-"}
    return pod.but(metadata=Metadata.model_validate({**pod.metadata.wire(), **beginning}))

"""The volume that the steps of a pipeline share; the first step that needs it makes it."""

from __future__ import annotations

from ..api.core import PersistentVolumeClaim
from ..api.meta import Key, Metadata
from ..errors import AlreadyExists
from ..sdk.client import Client


def make_claim(client: Client, key: Key) -> None:
    """The shared volume of the pipeline; a volume that is there is used as it is."""
    claim = PersistentVolumeClaim(
        metadata=Metadata(name=key.name, namespace=key.namespace),
        spec={
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "task-center",
            "resources": {"requests": {"storage": "10Gi"}},
        },
    )
    try:
        client.create(claim)
    except AlreadyExists:
        return

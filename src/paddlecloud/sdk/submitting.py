"""Makes a job and the code it runs, so that neither is left without the other."""

from __future__ import annotations

from ..api.core import ConfigMap
from ..api.paddlejob import PaddleJob
from .client import Client


def submit(client: Client, job: PaddleJob, code: ConfigMap | None = None) -> PaddleJob:
    """Create both; the code goes when the job goes. Returns the job as it was made."""
    if code is None:
        return client.create(job)
    client.create(code)
    try:
        made = client.create(job)
    except BaseException:
        client.delete(ConfigMap, code.key)
        raise
    owner = {"apiVersion": made.api_version, "kind": made.kind, "name": made.name, "uid": made.uid}
    client.patch(ConfigMap, code.key, {"metadata": {"ownerReferences": [owner]}})
    return made

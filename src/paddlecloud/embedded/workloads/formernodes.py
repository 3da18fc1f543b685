"""Nodes that this home once had and has no more: a smaller `--nodes` takes them out of the API.

Without its Node a pod is stranded, and `podkeeping` lets it go; what still runs of it the node sweeps away.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterable

from ... import log
from ...api.core import Node
from ...cluster.client import Client
from ...errors import Conflict, NotFound, PaddleCloudError
from .looking import RETRY

OURS = "paddlecloud://"


def former(nodes: Iterable[Node], names: Collection[str]) -> list[Node]:
    """The nodes of ours that are not among *names*; those of others are none of our business."""
    return [node for node in nodes if node.name not in names and runtime(node).startswith(OURS)]


def runtime(node: Node) -> str:
    return str((node.status.get("nodeInfo") or {}).get("containerRuntimeVersion") or "")


async def forget_former(names: Collection[str], client: Client) -> None:
    while True:
        try:
            for node in former((await client.list(Node)).items, names):
                with contextlib.suppress(NotFound, Conflict):
                    await client.delete(Node, node.key, uid=node.uid)
            return
        except PaddleCloudError as error:
            log.logger("workloads").warning("former nodes are looked for again: %s", error.message)
            await asyncio.sleep(RETRY)

"""Follows what the volumes of running pods show: the one place of the package that knows the client.

Of ConfigMaps and Secrets only the metadata is followed: their contents are asked for when a pod shows them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....api.core import ConfigMap, Secret
from ....api.meta import Resource
from ....cluster.informer import Informer
from ....cluster.kubeconfig import Access
from ....cluster.metadata import MetadataClient, kind_class
from ..workshop import Workshop, place_of
from .refreshing import Refreshing

if TYPE_CHECKING:
    from ..roster import Roster


async def keep_files(access: Access, roster: Roster, shop: Workshop) -> None:
    """Keep the files of all pods of *roster* as the cluster says, until cancelled."""
    refreshing = Refreshing(
        roster.every, lambda pod: place_of(pod, shop), shop.upstream, shop.recorder, roster.evict
    )
    async with MetadataClient(access) as slim, asyncio.TaskGroup() as tasks:
        for kind in (ConfigMap, Secret):
            known = kind_class(kind.api_version, kind.kind, kind.plural, namespaced=True)
            informer = Informer(slim, known)
            informer.subscribe(told(refreshing, kind.kind))
            tasks.create_task(informer.run())
        tasks.create_task(refreshing.run())


def told(refreshing: Refreshing, kind: str) -> Callable[[Resource | None, Resource | None], None]:
    def tell(old: Resource | None, new: Resource | None) -> None:
        if (changed := new or old) is not None:
            refreshing.changed(kind, changed.key)

    return tell

"""Follows every kind the server serves: whole objects where somebody needs them, metadata of the others.

Kinds come and go with their definitions; whoever looks at `informers` sees those of this moment.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from ... import log
from ...api.meta import Resource
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...cluster.kubeconfig import Access
from ...cluster.metadata import MetadataClient, kind_class, served_kinds
from ...errors import PaddleCloudError
from .families import bonds

# They are many, own nothing, are owned by nobody who waits for them, and end by themselves.
IGNORED = (("", "events"), ("events.k8s.io", "events"))
DEFINITION = kind_class(
    "apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False
)
AGAIN = 60.0
SETTLE = 0.2  # seconds; definitions are installed by the dozen
LOG = log.logger("workloads.everything")


def name_of(kind: type[Resource]) -> tuple[str, str]:
    return (kind.group(), kind.plural)


class Everything:
    def __init__(self, access: Access, whole: Mapping[type[Resource], Informer[Any]]) -> None:
        self._access = access
        self._whole = {name_of(kind): informer for kind, informer in whole.items()}
        for informer in whole.values():
            informer.nudged = True
        self._listed: asyncio.Task[None] | None = None
        self._slim: dict[tuple[str, str], tuple[Informer[Any], asyncio.Task[None]]] = {}
        self._stale = asyncio.Event()
        self._listeners: list[asyncio.Event] = []
        self._followers: list[Callable[[Resource | None, Resource | None], None]] = []
        self._grown = False
        """Kinds have come that nobody was told of yet."""
        self.complete = asyncio.Event()
        """All kinds have been listed once."""

    def told(self) -> asyncio.Event:
        """An event of the caller's own, set when anything comes, goes, or changes its bonds to others."""
        self._listeners.append(asyncio.Event())
        return self._listeners[-1]

    def follow(self, follower: Callable[[Resource | None, Resource | None], None]) -> None:
        """Call with (old, new) at every change; with twice None after kinds went or came.

        What of a new kind was there and gone before its first list is told of by nobody else.
        """
        self._followers.append(follower)

    @property
    def informers(self) -> list[Informer[Any]]:
        return [*self._whole.values(), *(informer for informer, _ in self._slim.values())]

    def kind(self, api_version: str, name: str) -> type[Resource] | None:
        """The class of a kind, whatever its version."""
        group = api_version.rpartition("/")[0]
        kinds = (informer.kind for informer in self.informers)
        return next((k for k in kinds if (k.group(), k.kind) == (group, name)), None)

    async def run(self) -> None:
        """Follow until cancelled."""
        for informer in self._whole.values():
            informer.subscribe(self._tell)
        async with MetadataClient(self._access) as slim, Client(self._access) as client:
            try:
                self._follow(slim, DEFINITION)
                self._slim[name_of(DEFINITION)][0].subscribe(lambda old, new: self._stale.set())
                while True:
                    await self._discover(slim, client)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(AGAIN):
                            await self._stale.wait()
                    await asyncio.sleep(SETTLE)
                    self._stale.clear()
            finally:
                for task in (self._listed, *(task for _, task in self._slim.values())):
                    if task is not None:
                        task.cancel()

    async def _discover(self, slim: MetadataClient, client: Client) -> None:
        try:
            kinds = {name_of(k): k for k in await served_kinds(client)}
        except PaddleCloudError as error:
            LOG.warning("the kinds are not known yet: %s", error.message)
            return
        for name in self._slim.keys() - kinds.keys() - {name_of(DEFINITION)}:
            self._slim.pop(name)[1].cancel()
            self._tell(None, None)
        for name, kind in kinds.items():
            # A kind that was gone may have come back before anybody looked: its informer need not wait.
            if name in self._whole:
                self._whole[name].nudge()
            elif name in self._slim and self._slim[name][0].kind.api_version == kind.api_version:
                self._slim[name][0].nudge()
            elif name not in IGNORED:
                if name in self._slim:
                    self._slim.pop(name)[1].cancel()
                    self._tell(None, None)
                self._follow(slim, kind)
        if self._listed is not None:
            self._listed.cancel()
        self._listed = asyncio.create_task(self._completed(self.informers))

    async def _completed(self, informers: list[Informer[Any]]) -> None:
        for informer in informers:
            await informer.synced.wait()
        self.complete.set()
        if self._grown:
            self._grown = False
            self._tell(None, None)

    def _follow(self, slim: MetadataClient, kind: type[Resource]) -> None:
        informer: Informer[Any] = Informer(slim, kind)
        informer.nudged = True
        informer.subscribe(self._tell)
        self._slim[name_of(kind)] = (informer, asyncio.create_task(informer.run()))
        self._grown = True

    def _tell(self, old: Resource | None, new: Resource | None) -> None:
        for follower in self._followers:
            follower(old, new)
        # Leases are renewed and statuses written all the time; who owns what stays.
        if old is not None and new is not None and bonds(old) == bonds(new):
            return
        for listener in self._listeners:
            listener.set()

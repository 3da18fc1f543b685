"""Keeps the files of running pods as the cluster says: ConfigMaps, Secrets, labels, tokens.

A change wakes the pods that refer to it; tokens are looked at every so often. What cannot be had right now
stays as it was, the pod hears of it, and the next look tries again. What a pod shows of itself is the
business of who keeps it: that one alone knows which of two versions is the newer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .... import log
from ....api.core import ConfigMap, Pod, Secret
from ....api.meta import Key
from ....errors import PaddleCloudError
from ..events import Recorder
from . import emptydir
from .emptydir import EVERY
from .filling import FILLED, SECRET, fill, folder_of, token_due
from .places import ACCESS, Place, Sources, Volume, volumes_of

LOG = log.logger("node.volumes")


class Reference(NamedTuple):
    kind: str
    namespace: str
    name: str


class Refreshing:
    """Tell it what changed and let `run` run."""

    def __init__(
        self,
        pods: Callable[[], Iterable[Pod]],
        place: Callable[[Pod], Place],
        sources: Sources,
        recorder: Recorder,
        evict: Callable[[Pod, str], None],
    ) -> None:
        self._pods, self._place, self._sources, self._recorder = pods, place, sources, recorder
        self._evict = evict
        self._changed: set[Reference] = set()
        self._wake = asyncio.Event()

    def changed(self, kind: str, key: Key) -> None:
        """A ConfigMap or Secret is another now."""
        self._changed.add(Reference(kind, *key))
        self._wake.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            on_time = True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._wake.wait()
                    on_time = False
            self._wake.clear()
            changed, self._changed = self._changed, set()
            for pod in list(self._pods()):
                # With the time it is the tokens' turn.
                if on_time or changed & references(pod):
                    await refresh(pod, self._place(pod), self._sources, self._recorder, tokens_only=on_time)
                if on_time:
                    await self.weigh(pod)

    async def weigh(self, pod: Pod) -> None:
        """End a pod whose emptyDir holds more than it may."""
        if pod.finished or not any(emptydir.limited(pod)):
            return
        found = await asyncio.to_thread(emptydir.excess, pod, self._place(pod))
        if found is not None:
            why = f'Usage of EmptyDir volume "{found.volume}" exceeds the limit "{found.limit}". '
            await self._recorder.warn(pod, "Evicted", why)
            self._evict(pod, why)


async def refresh(
    pod: Pod, place: Place, sources: Sources, recorder: Recorder, tokens_only: bool = False
) -> None:
    """Bring the files of one pod up to date; volumes that were never made are left to its preparation."""
    if pod.finished or pod.metadata.deletion_timestamp is not None:
        return
    for volume in volumes_of(pod):
        filled = next((kind for kind in FILLED if kind in volume), "")
        if not filled or (tokens_only and filled not in SECRET):
            continue
        if not folder_of(volume, place).is_dir():
            continue
        if tokens_only and volume["name"].startswith(ACCESS) and not token_due(volume, place):
            continue  # every pod has one: nobody is asked about it until it is time
        try:
            await fill(volume, pod, place, sources)
        except (PaddleCloudError, OSError) as error:
            LOG.warning("volume %s of pod %s stays as it was: %s", volume["name"], pod.key, error)
            await recorder.warn(pod, "FailedMount", str(error))


def shown(pod: Pod) -> tuple[Any, ...]:
    """What of a pod its volumes can show and that can change."""
    return pod.metadata.labels, pod.metadata.annotations


def references(pod: Pod) -> set[Reference]:
    """The ConfigMaps and Secrets in the volumes of *pod*."""
    parts = (part for volume in pod.spec.get("volumes") or () for part in parts_of(volume))
    found = set()
    for part in parts:
        if said := part.get("configMap"):
            found.add(Reference(ConfigMap.kind, pod.namespace, str(said.get("name"))))
        if said := part.get("secret"):
            name = said.get("secretName") or said.get("name")
            found.add(Reference(Secret.kind, pod.namespace, str(name)))
    return found


def parts_of(volume: Volume) -> Iterator[Volume]:
    yield volume
    yield from (volume.get("projected") or {}).get("sources") or ()

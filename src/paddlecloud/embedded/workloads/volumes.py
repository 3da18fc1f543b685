"""Carries out what is decided about volumes and claims: binds, makes folders, reclaims, tells.

`volumebinding` and `volumelife` decide; here is all the writing. Every write names the version it was decided
on, and what it returns stands in for the cache until the watch has shown it, so that a look never acts on
anything older than its own deeds. Killed between any two writes, the next look goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from ...api.core import PersistentVolume, PersistentVolumeClaim, Pod
from ...api.meta import Key, Resource
from ...api.scheduling import StorageClass
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...controllers.contract import Note
from ...controllers.events import record
from ...errors import AlreadyExists, ApiError, Conflict, NotFound
from . import volumefolders
from .podclaims import claim_names, wanted_claims
from .volumebinding import claim_steps
from .volumelife import claim_of, protect_claim, volume_steps
from .volumesteps import Patch, Provision, Reclaim, Seen, Step, Tell, phase, tell, warn

R = TypeVar("R", bound=Resource)
KINDS: tuple[type[Resource], ...] = (PersistentVolumeClaim, PersistentVolume, StorageClass, Pod)
COMPONENT = "persistentvolume-controller"
REMEMBERED = 4096


class Volumes:
    """Follows the informers of `KINDS`; call `look` after changes."""

    def __init__(
        self,
        client: Client,
        informers: Mapping[type[Resource], Informer[Any]],
        root: Path,
        now: Callable[[], datetime],
    ) -> None:
        self._client, self._informers, self._root, self._now = client, informers, root, now
        self._ours: dict[tuple[type[Resource], Key], Resource] = {}  # our last writes, until they are shown
        self._told: dict[tuple[str, Note], None] = {}
        self._users: dict[Key, Pod] = {}
        self._stirred = True
        for kind in KINDS:
            informers[kind].subscribe(self._pod if kind is Pod else self._stir)

    async def look(self) -> None:
        if not self._stirred:
            return
        self._stirred = False
        try:
            seen = await self._look_around()
            for pod in self._users.values():
                await self._make_own(pod, seen)
            taken: set[str] = set()
            # The oldest claim chooses first.
            for claim in sorted(seen.claims.values(), key=age):
                steps = claim_steps(claim, seen, taken)
                taken |= {s.obj.name for s in steps if isinstance(s, Patch | Tell) and is_volume(s.obj)}
                await self._carry_out(steps)
                await self._carry_out(protect_claim(claim, seen))
            for volume in seen.volumes.values():
                if volume.name not in taken:
                    await self._carry_out(volume_steps(volume, seen))
        except BaseException:
            self._stirred = True
            raise

    async def _look_around(self) -> Seen:
        claims = {c.key: c for c in self._newest(PersistentVolumeClaim)}
        volumes = {v.name: v for v in self._newest(PersistentVolume)}
        users: dict[Key, list[Pod]] = {}
        for pod in self._users.values():
            for name in claim_names(pod):
                users.setdefault(Key(pod.namespace, name), []).append(pod)
        seen = Seen(
            claims,
            volumes,
            {c.name: c for c in self._informers[StorageClass].all()},
            {key: tuple(pods) for key, pods in users.items()},
            self._now(),
        )
        # The watch of volumes may be ahead of that of claims: nothing is released on a rumour.
        for volume in volumes.values():
            reference = volume.spec.get("claimRef") or {}
            ended = volume.status.get("phase") in ("Released", "Failed")
            if reference.get("uid") and not ended and claim_of(volume, seen) is None:
                key = Key(str(reference.get("namespace")), str(reference.get("name")))
                found = await self._client.find(PersistentVolumeClaim, *key)
                if found is not None:
                    claims[key] = found
        return seen

    def _newest(self, kind: type[R]) -> Iterable[R]:
        """What is in the cache, or what our last write made of it."""
        informer: Informer[R] = self._informers[kind]
        found = {obj.key: obj for obj in informer.all()}
        for (kind_of, key), obj in list(self._ours.items()):
            if kind_of is not kind or not isinstance(obj, kind):
                continue
            if informer.reached(obj.metadata.resource_version):
                del self._ours[kind_of, key]
            else:
                found[key] = obj
        return found.values()

    async def _make_own(self, pod: Pod, seen: Seen) -> None:
        for claim, why in wanted_claims(pod, seen.claims):
            try:
                if claim is not None:
                    self._keep(await self._client.create(claim))
            except AlreadyExists:
                continue
            except ApiError as error:
                why = f"ephemeral volume of claim {claim.name if claim else ''}: {error.message}"
            if why:
                await self._tell(warn(pod, "FailedBinding", why))

    async def _carry_out(self, steps: Iterable[Step]) -> None:
        """All of them in order; where an object has changed meanwhile, the rest waits for the next look."""
        try:
            for step in steps:
                if isinstance(step, Patch):
                    await self._patch(step)
                elif isinstance(step, Tell):
                    await self._tell(step)
                elif isinstance(step, Provision):
                    await self._provision(step)
                else:
                    await self._reclaim(step)
        except (Conflict, NotFound):
            return  # the watch tells, and that brings us back

    async def _patch(self, step: Patch) -> None:
        kind, key = type(step.obj), step.obj.key
        version = (self._ours.get((kind, key)) or step.obj).metadata.resource_version
        if step.status:
            done = await self._client.patch_status(kind, key, step.patch, resource_version=version)
        else:
            metadata = {**(step.patch.get("metadata") or {}), "resourceVersion": version}
            done = await self._client.patch(kind, key, {**step.patch, "metadata": metadata})
        self._keep(done)

    async def _tell(self, step: Tell) -> None:
        identity = (step.obj.uid, step.note)
        if identity in self._told:
            return
        while len(self._told) >= REMEMBERED:
            self._told.pop(next(iter(self._told)))
        self._told[identity] = None
        await record(self._client, step.obj, step.note, COMPONENT, self._now())

    async def _provision(self, step: Provision) -> None:
        claim, name = step.claim, volumefolders.volume_name(step.claim)
        try:
            folder = await asyncio.to_thread(volumefolders.make_folder, self._root, name)
        except OSError as error:
            why = f"cannot make {self._root / name}: {error.strerror}"
            words = f'failed to provision volume with StorageClass "{step.storage_class.name}": {why}'
            await self._tell(warn(claim, "ProvisioningFailed", words))
            return
        try:
            volume = await self._client.create(volumefolders.make_volume(claim, step.storage_class, folder))
        except AlreadyExists:
            return
        self._keep(volume)
        await self._tell(tell(claim, "ProvisioningSucceeded", f"Successfully provisioned volume {name}"))

    async def _reclaim(self, step: Reclaim) -> None:
        volume = step.volume
        problem = await asyncio.to_thread(volumefolders.remove_folder, self._root, volume)
        if problem:
            await self._carry_out(phase(volume, "Failed", self._now(), problem))
            await self._tell(warn(volume, "VolumeFailedDelete", problem))
            return
        if volume.metadata.deletion_timestamp is None:
            await self._client.delete(PersistentVolume, volume.key, uid=volume.uid)
        # Everything but the removal of its data was waited for.
        current = await self._client.get(PersistentVolume, "", volume.name)
        others = [f for f in current.metadata.finalizers if f != "kubernetes.io/pv-protection"]
        await self._client.patch(PersistentVolume, volume.key, {"metadata": {"finalizers": others}})

    def _keep(self, obj: Resource) -> None:
        self._ours[type(obj), obj.key] = obj
        self._stirred = True

    def _pod(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None and claim_names(new):
            self._stirred |= old is None or uses(old) != uses(new)
            self._users[new.key] = new
        elif old is not None and self._users.pop(old.key, None) is not None:
            self._stirred = True

    def _stir(self, old: Resource | None, new: Resource | None) -> None:
        self._stirred = True


def uses(pod: Pod) -> tuple[Any, ...]:
    """All of a pod that matters to its claims."""
    return pod.uid, pod.node, pod.finished, pod.metadata.deletion_timestamp is not None


def age(claim: PersistentVolumeClaim) -> tuple[str, Key]:
    return str(claim.metadata.creation_timestamp or ""), claim.key


def is_volume(obj: Resource) -> bool:
    return isinstance(obj, PersistentVolume)

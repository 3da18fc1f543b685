"""The verbs: what creating, updating, patching and deleting an object mean.

Every write is: take the newest state, make the new one, check it, store it as the next revision. A
patch that loses a race starts again; an update that names a revision is refused instead. Nothing is
stored that was not checked, and nothing is answered that was not stored.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Any

from ...errors import AlreadyExists, BadRequest, Conflict, MethodNotAllowed
from ..store import Entry, Place, Store
from . import refusals, tracking
from .admission import Admission
from .apply import applied
from .casting import Unfit, check_given, unfit_metadata
from .checks_ephemeral import DOOR
from .definitions import CLEANUP, terminating
from .deletion import DeleteOptions, begin_deletion, may_go
from .establishing import Establishing
from .kinds import CRD, Kind
from .outlines import outline_of
from .ownership import Writer
from .patches import patched
from .quotas import QUOTAS, Quotas
from .readying import Readying
from .registry import Registry
from .rescaling import rescaled
from .rules import rules_of
from .schema import Violation
from .uids import Uids
from .versions import as_read
from .views import kept_kind, shown
from .writing import SERVER_SIDE, WriteOptions, check_identity, check_place, merged, outside

Body = dict[str, Any]
SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # no vowels: no words
MUST_NAME_REVISION = Violation(
    "metadata.resourceVersion", "FieldValueInvalid", "Invalid value: 0x0: must be specified for an update"
)


def utc_now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def suffix() -> str:
    return "".join(secrets.choice(SUFFIX) for _ in range(5))


# Completes a Service and gives back what to call when it is stored.
Allocate = Callable[[Body], Callable[[], None] | None]


class Objects:
    def __init__(self, store: Store, allocate: Allocate, clock: Callable[[], datetime] = utc_now) -> None:
        self.store = store
        self.clock = clock
        self._uids = Uids()
        self._allocate = allocate
        self._establishing = Establishing(self)
        self._readying = Readying(Admission(store), self._establishing.named)
        self.quotas = Quotas(store)
        self.registry = Registry()
        self.learn_kinds()

    def learn_kinds(self) -> None:
        self.registry = Registry(e.load() for e in self.store.entries(CRD.resource))

    def stamp(self) -> str:
        return f"{self.clock().isoformat()[:19]}Z"

    def get(self, kind: Kind, namespace: str, name: str) -> Entry:
        entry = self.store.get(Place(kind.resource, namespace, name))
        if entry is None:
            raise refusals.not_found(kind, name)
        return as_read(kind, entry)

    def _kept(self, kind: Kind, place: Place) -> Entry:
        """The entry in the form that is kept, for those who will write it back."""
        entry = self.store.get(place)
        if entry is None:
            raise refusals.not_found(kind, place.name)
        return as_read(kept_kind(kind), entry)

    async def create(self, kind: Kind, namespace: str, body: Body, options: WriteOptions) -> Body:
        if not kind.stored:
            raise MethodNotAllowed("the server does not allow this method on the requested resource")
        metadata = body.setdefault("metadata", {})
        if not isinstance(metadata, dict):
            raise unfit_metadata(kind, body)
        check_given(kind, body, {})
        check_place(kind, namespace, body)
        if kind.terminating:
            raise MethodNotAllowed("create not allowed while custom resource definition is terminating")
        if metadata.get("resourceVersion"):
            raise BadRequest("resourceVersion should not be set on objects to be created")
        owners = metadata.pop("managedFields", None) if options.owners_known else None
        for server_side in (*SERVER_SIDE, "resourceVersion", "managedFields", "selfLink"):
            metadata.pop(server_side, None)
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = metadata["generateName"] + suffix()
        self._check_namespace(kind, namespace, str(metadata.get("name") or ""))
        metadata |= {"uid": self._uids.next(), "creationTimestamp": self.stamp()}
        if kind.custom or rules_of(kind.resource).counted:
            metadata["generation"] = 1
        if kind.namespaced:
            metadata["namespace"] = namespace
        if kind.has_status:
            body.pop("status", None)
        said = tracking.said_in_spec(body)
        body = self._readying.ready(kind, body, None, options)
        if not options.owners_known:
            owners = tracking.created(kind, shown(kind, body), said, options.manager, self.stamp())
        tracking.put(body, owners)
        self._readying.give_access(kind, body, suffix)
        name = body["metadata"]["name"]
        place = Place(kind.resource, namespace if kind.namespaced else "", name)
        if self.store.get(place):
            raise refusals.already_exists(kind, name)
        admitted = self.quotas.admitted(kind, place.namespace, body, dry_run=options.dry_run)
        with self._given(kind, body):
            async with admitted:
                if options.dry_run:
                    return shown(kind, body)
                try:
                    await self.store.put(place, body, 0)
                except Conflict as error:
                    raise refusals.already_exists(kind, name) from error
        self._after_write(kind)
        if kind.resource == QUOTAS:
            self.quotas.recount(place.namespace)
        return shown(kind, body)

    async def update(
        self, kind: Kind, place: Place, body: Body, options: WriteOptions, subresource: str = ""
    ) -> Body:
        check_place(kind, place.namespace, body)
        wanted = (body.get("metadata") or {}).get("resourceVersion") or ""
        if not wanted and kind.custom:
            raise refusals.invalid(kind, place.name, [MUST_NAME_REVISION])
        return await self.change(kind, place, lambda _: body, options, subresource)

    async def patch(
        self,
        kind: Kind,
        place: Place,
        patch: Any,
        content_type: str,
        options: WriteOptions,
        subresource: str = "",
    ) -> Body:
        try:
            return await self.change(
                kind, place, lambda old: patched(old, patch, content_type, kind), options, subresource
            )
        except Unfit as error:
            raise refusals.invalid_patch(error.body, error.sentence) from error

    async def apply(
        self, kind: Kind, place: Place, config: Body, force: bool, options: WriteOptions, subresource: str
    ) -> tuple[Body, bool]:
        """Server-side apply; the object and whether it is new."""
        options.owners_known = True
        outline = outline_of(kind)
        ignored = outline.ignored(kind, subresource)
        writer = Writer(options.manager, kind.api_version, subresource, "Apply")
        while True:
            if self.store.get(place) is None and not subresource:
                if options.may_create is not None:
                    options.may_create()
                body = applied(None, config, writer, force, outline, ignored, self.stamp())
                refusals.check_new(kind, place.name, body)
                body["metadata"].pop("resourceVersion", None)
                try:
                    return await self.create(kind, place.namespace, body, options), True
                except AlreadyExists:
                    continue

            def make(old: Body) -> Body:
                made = applied(old, config, writer, force, outline, ignored, self.stamp())
                check_place(kind, place.namespace, made)
                if made["metadata"].get("uid") != old["metadata"]["uid"]:
                    raise refusals.other_uid(kind, place.name, made["metadata"]["uid"])
                return made

            # A scale is the object itself, seen through another door.
            through = "" if subresource == "scale" else subresource
            return await self.change(kind, place, make, options, through), False

    async def rescale(
        self, kind: Kind, place: Place, make: Callable[[Body], Body], options: WriteOptions
    ) -> Body:
        """Change the number of replicas through the Scale that *make* makes of the present one."""
        options.door = "scale"
        return await self.change(kind, place, rescaled(kind, place.name, make), options, "")

    async def change(
        self,
        kind: Kind,
        place: Place,
        make: Callable[[Body], Body],
        options: WriteOptions,
        subresource: str,
    ) -> Body:
        """Make the next state of an object from its newest one, as often as somebody else was faster."""
        options.door = options.door or subresource
        while True:
            entry = self._kept(kind, place)
            before = entry.load()
            old = shown(kind, before)
            made = make(shown(kind, entry.load()))
            check_identity(kind, old, made)
            new = self._readying.ready(kind, merged(kind, old, made, subresource), before, options)
            if options.owners_known:
                owners = made["metadata"].get("managedFields")
            else:
                owners = tracking.changed(
                    kind, old, made, shown(kind, new), options.manager, options.door, self.stamp()
                )
            tracking.put(new, owners)
            if new == before:
                return old  # nothing changes: no revision, no event
            counted = kind.custom or rules_of(kind.resource).counted
            if counted and subresource in ("", DOOR) and outside(new) != outside(before):
                new["metadata"]["generation"] = before["metadata"].get("generation", 1) + 1
            # What a subresource changes is used already.
            admitted: AbstractAsyncContextManager[None] = (
                contextlib.nullcontext()
                if subresource
                else self.quotas.admitted(kind, place.namespace, new, before, dry_run=options.dry_run)
            )
            with self._given(kind, new):
                try:
                    async with admitted:
                        if options.dry_run:
                            return shown(kind, new)
                        if may_go(new):
                            await self.store.delete(place, new, entry.revision)
                        else:
                            await self.store.put(place, new, entry.revision)
                except Conflict:
                    # Whoever named no revision gets the newest one, as often as it takes.
                    await self.store.settled(place)
                    continue
            self._after_write(kind)
            if kind.resource in ("/pods", QUOTAS) or may_go(new):
                self.quotas.recount(place.namespace)
            return shown(kind, new)

    async def delete(self, kind: Kind, place: Place, options: DeleteOptions) -> tuple[Body, bool]:
        """The object as it is now and whether it is gone; it stays while finalizers or grace hold it."""
        while True:
            entry = self._kept(kind, place)
            body = entry.load()
            options.check(kind, body)
            if kind == CRD and not terminating(body):
                # It stays until the last of its objects is gone.
                body["metadata"]["finalizers"] = [*(body["metadata"].get("finalizers") or ()), CLEANUP]
            new = begin_deletion(kind, body, options, self.clock())
            gone = new is None or may_go(new)
            try:
                if options.dry_run:
                    pass
                elif gone:
                    await self.store.delete(place, new or body, entry.revision)
                elif new != body:
                    await self.store.put(place, new or body, entry.revision)
            except Conflict:
                await self.store.settled(place)
                continue
            self._after_write(kind)
            if gone:
                self.quotas.recount(place.namespace)
            return shown(kind, new or body), gone

    async def bind(self, kind: Kind, place: Place, node: str) -> None:
        """Give a pod its node; raises `Conflict` when it has one already."""
        while True:
            entry = self.get(kind, place.namespace, place.name)
            pod = entry.load()
            if pod["spec"].get("nodeName"):
                raise Conflict(
                    f'Operation cannot be fulfilled on pods/binding "{place.name}": '
                    f'pod {place.name} is already assigned to node "{pod["spec"]["nodeName"]}"'
                )
            pod["spec"]["nodeName"] = node
            conditions = [c for c in pod["status"].get("conditions") or () if c["type"] != "PodScheduled"]
            scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": self.stamp()}
            pod["status"]["conditions"] = [*conditions, scheduled]
            try:
                await self.store.put(place, pod, entry.revision)
                return
            except Conflict:
                await self.store.settled(place)

    @contextlib.contextmanager
    def _given(self, kind: Kind, body: Body) -> Iterator[None]:
        """What the cluster gives to a service is nobody else's while the service is being stored."""
        release = self._allocate(body) if kind.resource == "/services" else None
        try:
            yield
        finally:
            if release is not None:
                release()

    def _check_namespace(self, kind: Kind, namespace: str, name: str) -> None:
        if not kind.namespaced:
            return
        entry = self.store.get(Place("/namespaces", "", namespace))
        if entry is None:
            [namespaces] = [k for k in self.registry.kinds if k.resource == "/namespaces"]
            raise refusals.not_found(namespaces, namespace)
        if entry.body["metadata"].get("deletionTimestamp") and kind.resource != "/events":
            raise refusals.terminating(kind, namespace, name)

    def _after_write(self, kind: Kind) -> None:
        if kind == CRD:
            self.learn_kinds()
            self._establishing.soon()
        elif kind.terminating and self._establishing.going(kind.resource):
            self._establishing.soon()

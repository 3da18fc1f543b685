"""HorizontalPodAutoscalers: every fifteen seconds, as kube-controller-manager does, a look at what pods use.

Where there is none nothing is measured. The scale of what it is about is the state; what was asked for a
moment ago is remembered in the process only, so one that starts anew begins with what it finds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from ...api.autoscaling import HorizontalPodAutoscaler
from ...api.core import Pod
from ...api.meta import Key, Resource
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...cluster.requests import Place, Scope, get, listing, patching
from ...controllers.contract import Note
from ...controllers.events import record
from ...errors import Conflict, NotFound, PaddleCloudError
from .podload import Asked, Unmeasured, pods_asked
from .scalerates import Allowed, Past, allowed
from .stamps import stamp

EVERY = 15.0
MEASURED = Place("metrics.k8s.io/v1beta1", "pods")
COMPONENT = "horizontal-pod-autoscaler"
Body = dict[str, Any]


class PodAutoscaling:
    """Call `look` every `EVERY` seconds."""

    def __init__(
        self,
        client: Client,
        autoscalers: Informer[HorizontalPodAutoscaler],
        kind_named: Callable[[str, str], type[Resource] | None],
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client, self._autoscalers, self._kind_named = client, autoscalers, kind_named
        self._now, self._clock = now, clock
        self._past: dict[Key, Past] = {}

    async def look(self) -> None:
        there = self._autoscalers.all()
        for key in self._past.keys() - {one.key for one in there}:
            del self._past[key]
        for one in there:
            try:
                await self._keep(one)
            except (Conflict, NotFound):
                continue  # it changed or went meanwhile

    async def _keep(self, one: HorizontalPodAutoscaler) -> None:
        reference = one.spec["scaleTargetRef"]
        kind = self._kind_named(str(reference.get("apiVersion") or ""), reference["kind"])
        target = Key(one.namespace, reference["name"])
        try:
            if kind is None:
                raise NotFound(f"no kind {reference['kind']} is known in {reference.get('apiVersion')}")
            scale = await self._client.request(get(kind, target, "scale"))
        except PaddleCloudError as error:
            await self._fails(one, "AbleToScale", "FailedGetScale", error.message)
            return
        current = int(scale.get("spec", {}).get("replicas") or 0)
        if current == 0:
            told = "scaling is disabled since the replica count of the target is zero"
            off = said("ScalingActive", "False", "ScalingDisabled", told)
            await self._tell(one, scale, 0, [], [able(), off])
            return
        within = bounded(one.spec, current)
        if within != current:
            # No measure is asked where the number is none that is allowed.
            why = f"Current number of replicas {'above' if within < current else 'below'} Spec."
            why += "MaxReplicas" if within < current else "MinReplicas"
            await self._scale(one, kind, target, current, within, why)
            await self._tell(one, scale, within, [], [rescaled(within)], True)
            return
        try:
            verdict, measured, best = await self._decide(one, scale, current)
        except Unmeasured as error:
            await self._fails(one, "ScalingActive", error.reason, error.message)
            return
        conditions = [able(), active(best.name), limited(verdict)]
        if changes := verdict.pods != current:
            why = f"{best.name} above target" if verdict.pods > current else "All metrics below target"
            await self._scale(one, kind, target, current, verdict.pods, why)
            conditions[0] = rescaled(verdict.pods)
        await self._tell(one, scale, verdict.pods, measured, conditions, changes)

    async def _scale(
        self, one: HorizontalPodAutoscaler, kind: type[Resource], target: Key, old: int, new: int, why: str
    ) -> None:
        patch = {"spec": {"replicas": new}}
        await self._client.request(patching(kind, target, patch, subresource="scale"))
        past, now = self._past.get(one.key, Past()), self._clock()
        self._past[one.key] = past.but(now, change=new - old)
        note = Note("Normal", "SuccessfulRescale", f"New size: {new}; reason: {why}")
        await record(self._client, one, note, COMPONENT, self._now())

    async def _decide(
        self, one: HorizontalPodAutoscaler, scale: Body, current: int
    ) -> tuple[Allowed, list[Body], Asked]:
        selector = str((scale.get("status") or {}).get("selector") or "")
        if not selector:
            raise Unmeasured("InvalidSelector", "the HPA target's scale is missing a selector")
        scope = Scope(one.namespace, labels=selector)
        pods = (await self._client.list(Pod, one.namespace, selector)).items
        try:
            found = (await self._client.request(listing(MEASURED, scope, limit=0)))["items"]
        except PaddleCloudError as error:
            raise Unmeasured("FailedGetResourceMetric", error.message) from error
        usage = {body["metadata"]["name"]: body for body in found}
        asked, failed = [], None
        for metric in one.spec.get("metrics") or ():
            try:
                asked.append(pods_asked(metric, current, pods, usage, self._now()))
            except Unmeasured as error:
                failed = failed or error
        best = max(asked, key=lambda each: each.pods, default=None)
        # A metric that is not known might ask for more: it keeps what is there.
        if best is None or (failed is not None and best.pods < current):
            raise failed or Unmeasured("InvalidMetricSourceType", "no metric is asked for")
        now = self._clock()
        past = self._past.get(one.key)
        if past is None:
            past = Past(asked=((now, current),))
        past = self._past[one.key] = past.but(now, asked=best.pods)
        return allowed(one.spec, current, best.pods, past, now), [each.current for each in asked], best

    async def _fails(self, one: HorizontalPodAutoscaler, kind: str, reason: str, message: str) -> None:
        words = f"the HPA was unable to compute the replica count: {message}"
        told = message if kind == "AbleToScale" else words
        before = one.status.get("conditions") or []
        if not any(c["type"] == kind and c.get("message") == told for c in before):
            await record(self._client, one, Note("Warning", reason, message), COMPONENT, self._now())
        first = [] if kind == "AbleToScale" else [able()]
        conditions = [*first, said(kind, "False", reason, told)]
        await self._write(one, {"conditions": self._stamped(one, conditions)})

    async def _tell(
        self,
        one: HorizontalPodAutoscaler,
        scale: Body,
        wanted: int,
        measured: list[Body],
        conditions: list[Body],
        scaled: bool = False,
    ) -> None:
        status: Body = {
            "currentReplicas": int((scale.get("status") or {}).get("replicas") or 0),
            "desiredReplicas": wanted,
            "currentMetrics": measured,
            "conditions": self._stamped(one, conditions),
            "observedGeneration": one.metadata.generation,
        }
        if scaled:
            status["lastScaleTime"] = stamp(self._now())
        await self._write(one, status)

    async def _write(self, one: HorizontalPodAutoscaler, status: Body) -> None:
        if {**one.status, **status} != one.status:
            await self._client.patch_status(HorizontalPodAutoscaler, one.key, status)

    def _stamped(self, one: HorizontalPodAutoscaler, conditions: list[Body]) -> list[Body]:
        """With the moment each of them became what it is."""
        before: Mapping[str, Body] = {c["type"]: c for c in one.status.get("conditions") or ()}

        def since(new: Body) -> str:
            old = before.get(new["type"], {})
            same = old.get("status") == new["status"]
            return str(old["lastTransitionTime"]) if same else stamp(self._now())

        return [{**new, "lastTransitionTime": since(new)} for new in conditions]


def bounded(spec: Body, current: int) -> int:
    return max(int(spec.get("minReplicas") or 1), min(current, int(spec["maxReplicas"])))


def rescaled(pods: int) -> Body:
    return said("AbleToScale", "True", "SucceededRescale",
                f"the HPA controller was able to update the target scale to {pods}")  # fmt: skip


def able() -> Body:
    return said("AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size")


def active(name: str) -> Body:
    return said("ScalingActive", "True", "ValidMetricFound",
                f"the HPA was able to successfully calculate a replica count from {name}")  # fmt: skip


def limited(verdict: Allowed) -> Body:
    reason, words = verdict.limited
    if reason:
        return said("ScalingLimited", "True", reason, words)
    return said("ScalingLimited", "False", "DesiredWithinRange",
                "the desired count is within the acceptable range")  # fmt: skip


def said(kind: str, status: str, reason: str, message: str) -> Body:
    return {"type": kind, "status": status, "reason": reason, "message": message}

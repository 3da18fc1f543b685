"""Decides which pods a PaddleJob needs and how far it has come.

Everything here is a function of its arguments: no client, no clock, no log. A finished job never gets
its pods back; it only decides whether to keep those that are left. Nothing goes, and nothing begins again,
before it is written down why: the pods are the only witnesses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..api.core import ConfigMap, Pod, Service
from ..api.meta import Condition, Resource
from ..api.paddlejob import CleanPodPolicy, PaddleJob, PaddleJobStatus, Phase
from ..api.sampleset import SampleSet
from ..api.scheduling import PodGroup
from ..api.template import misshapen
from .attempts import Mark, current, fingerprint, mark_of, outdated
from .conditions import progressing, set_conditions, waiting
from .contract import (
    Controller,
    Decision,
    Ending,
    Note,
    Question,
    Ref,
    Selection,
    Snapshot,
    Update,
    identity,
)  # fmt: skip
from .elasticstore import is_store, store_of, wanted_store
from .endpoints import endpoints
from .faults import Fault, crashes, find_fault, may_restart, pause_left, peers_of
from .gangs import gang, is_gang, look_at_gang_in, waits_for_gang
from .jobdata import waits_for_data
from .joblimits import EXPIRED, SUSPENDED, deadline_in, leaves_in, rest, rested_since, was_cut_off
from .joblogs import is_kept_log, keeping, kept_logs, logs_asked
from .jobmounts import look_at_mounts_in, mounts_asked
from .jobphase import counter_of, phase_of
from .jobpods import make_pod, pod_name, role_of
from .jobports import draw, is_drawn, lacks_port
from .jobprogress import log_of, progress_asked, teller
from .jobservices import services
from .jobstatus import conditions, failed, last_words, notes, only_counts_differ, summarize
from .launcherpeers import ended_logs, ended_without_peers, fault_of, joining
from .membership import has_changed, members, wait_left
from .startorder import releases

LOOK_EVERY = 10.0  # seconds between two looks at the log of a running job
CLEANS = {
    Phase.COMPLETED: (CleanPodPolicy.ALWAYS, CleanPodPolicy.ON_COMPLETION),
    Phase.FAILED: (CleanPodPolicy.ALWAYS, CleanPodPolicy.ON_FAILURE),
}


def reconcile(job: PaddleJob, seen: Snapshot) -> Decision:
    decision = decide(job, seen)
    return replace(decision, counts_only=only_counts_differ(job.status, decision.status))


def decide(job: PaddleJob, seen: Snapshot) -> Decision:
    if job.status.phase.final:
        return finished(job, seen)
    if why := misshapen_role(job):
        return unreadable(job, why, seen)
    pods = current(job, seen.owned(Pod))
    alone = ended_without_peers(job, pods, seen)
    if phase_of(job, pods) is Phase.COMPLETED and not alone:
        return told(job, pods, None, seen)
    left = deadline_in(job, seen.now)
    if left is not None and left <= 0:
        why = (
            "the job was active for longer than its activeDeadlineSeconds, "
            f"{job.spec.active_deadline_seconds}"
        )
        return ended_badly(job, pods, EXPIRED, why, seen)
    if job.spec.suspend:
        return resting(job, seen)
    if why := crashes(job, pods):
        return ended_badly(job, pods, "BackoffLimitExceeded", why, seen)
    fault = alone or fault_of(job, pods, seen)
    if fault and not fault.settles:
        return after_fault(job, pods, fault, seen)
    if has_changed(job, pods, seen.now):
        return resized(job, pods, seen)
    if not pods and (lack := None if job.status.attempt else waits_for_data(job, seen)):
        return told(job, pods, lack, seen)
    if not pods and (wait := waits_for_gang(job, seen)):
        return in_queue(job, told(job, pods, wait, seen), seen)
    decision = told(job, pods, None, seen)
    if not begun_at_all(pods) and lacks_port(job, seen.all(PaddleJob)):
        return with_port(job, decision, seen)
    return going_on(job, pods, fault, decision, seen)


def misshapen_role(job: PaddleJob) -> str:
    """What of a template is no list, object or text where it has to be; only old definitions let it in."""
    roles = job.spec.roles().items()
    return next(filter(None, [misshapen(role.template, path=f"{name}.template") for name, role in roles]), "")


def unreadable(job: PaddleJob, why: str, seen: Snapshot) -> Decision:
    """Nothing can be made from it, and nothing that is there is touched."""
    wait = waiting("InvalidTemplate", f"spec.{why}: correct the job, or delete it and make a new one")
    told = set_conditions(job.status.conditions, [wait, *rest(job)], seen.now)
    note = Note("Warning", wait.reason, wait.message)
    status = job.status.but(phase=job.status.phase, conditions=told)
    return Decision(status, everything(seen), notes=(note,))


def with_port(job: PaddleJob, decision: Decision, seen: Snapshot) -> Decision:
    """Hold another port on the nodes; pods are made from it, and begin when nobody else holds it."""
    port = draw(job, seen.all(PaddleJob))
    status = decision.status
    assert isinstance(status, PaddleJobStatus)
    if port is None:
        why = (
            "waits for ports: as many jobs with intranet Host as have ports run already; it begins after one"
        )
        told = set_conditions(job.status.conditions, [waiting("NoPorts", why), *rest(job)], seen.now)
        return replace(decision, status=status.but(conditions=told))
    return replace(decision, status=status.but(port=port), children=gang(job, seen))


def told(job: PaddleJob, pods: dict[str, Pod], wait: Condition | None, seen: Snapshot) -> Decision:
    """What is seen; nothing changes but, where the job waits for something, that it has no pods."""
    after = phase_of(job, pods)
    # Whoever waits holds no port either: whether it drew one before must not matter.
    holding = job.but(status=job.status.but(port=0)) if wait else job
    status = summarize(holding, pods, after, seen)
    store = {p.name: p for p in seen.owned(Pod).values() if is_store(p)}
    status = status.but(conditions=conditions(job, pods | store, after, wait, seen))
    children = kept_logs(seen) if wait else everything(seen)
    left = None
    if not after.final:
        left = soonest(deadline_in(job, seen.now), look_at_mounts_in(pods.values(), seen.now))
    glance = LOOK_EVERY if after is Phase.RUNNING else None
    words = notes(job.status.phase, after, status, job)
    return Decision(status, children, notes=words, check_again=left, glance=glance)


def in_queue(job: PaddleJob, decision: Decision, seen: Snapshot) -> Decision:
    """The group stands for the job until it is let in; what it needs beside pods stays."""
    kept = (*seen.owned(ConfigMap).values(), *seen.owned(Service).values())
    again = soonest(decision.check_again, look_at_gang_in(job, seen))
    return replace(decision, children=(*gang(job, seen), *kept), check_again=again)


def going_on(
    job: PaddleJob, pods: dict[str, Pod], fault: Fault | None, decision: Decision, seen: Snapshot
) -> Decision:
    """The pods that are wanted, and those of them that may begin."""
    there = seen.owned(Pod)
    pause = pause_left(job, seen.now)
    data = seen.find(SampleSet, job.spec.sample_set_ref.name) if job.spec.sample_set_ref else None
    wanted = tuple(
        # Of one that is there nothing can be changed: it is wanted as it is.
        there.get(pod_name(job, role, index)) or make_pod(job, role, index, data)
        for role, group in job.spec.roles().items()
        for index in range(group.replicas)
        if keeps_place(job, there.get(pod_name(job, role, index)), pause)
    )
    launched = job.spec.elastic_launcher
    taking_part = joining(job, pods) if launched else members(job, pods, seen.now)
    written = tuple(found for found in seen.owned(ConfigMap).values() if not is_kept_log(found))
    found = () if launched else as_seen(endpoints(job, taking_part), seen) or written
    around = (*services(job), *wanted_store(job, there))
    keep = keeping(replaced(job, seen), seen, since=None, patience=0)
    changes: tuple[Update, ...] = ()
    if taking_part and fault is None and (peers := known_peers(job, taking_part, found, seen)):
        changes = releases(begun(job, taking_part), str(Mark(job.status.attempt, peers)))
    again = soonest(
        decision.check_again,
        pause or None,
        keep.again,
        fault.settles if fault else None,
        (wait_left(pods, seen.now) or None) if job.spec.elastic is not None and not taking_part else None,
    )
    return Decision(
        decision.status,
        (*gang(job, seen), *around, *wanted, *found, *keep.logs, *keep.stay),
        notes=decision.notes,
        check_again=again,
        glance=decision.glance,
        changes=changes,
    )


def known_peers(job: PaddleJob, pods: dict[str, Pod], written: tuple[ConfigMap, ...], seen: Snapshot) -> str:
    """A fingerprint of what those that begin depend on; empty while they would not find it."""
    if job.spec.elastic_launcher:
        store = store_of(job, seen.owned(Pod))
        return fingerprint([store]) if store and store.ready else ""
    if not are_written(written[0], seen) or not can_be_called(job, seen):
        return ""
    return peers_of(job, pods) if job.spec.elastic is None else fingerprint(pods.values())


def replaced(job: PaddleJob, seen: Snapshot) -> list[Pod]:
    """The pods that go because others come in their place."""
    return [pod for pod in seen.owned(Pod).values() if outdated(job, pod)]


def keeps_place(job: PaddleJob, pod: Pod | None, pause: float) -> bool:
    """Whether the pod of a name is kept or made now; one that is replaced has to go first."""
    return not outdated(job, pod) if pod is not None else not pause


def after_fault(job: PaddleJob, pods: dict[str, Pod], fault: Fault, seen: Snapshot) -> Decision:
    """Begin again where that is allowed, or end; either is written down before anything is done."""
    why = last_words(fault, seen)
    if not may_restart(job, fault, seen.now):
        times = job.status.restarts
        after = f" after {times} restart{'s' if times > 1 else ''}" if times else ""
        words = fault.words + after + why.removeprefix(fault.words)
        return ended_badly(job, pods, "PodFailed", words, seen)
    number = job.status.restarts + 1
    words = f"restart {number}: {why}"
    # One that failed before it was let go belongs to no attempt: it is named, as one that comes back alone.
    named = [p.uid for p in fault.pods if not fault.whole or mark_of(p) is None]
    remembered: dict[str, Any] = {"attempt": job.status.attempt + 1} if fault.whole else {}
    if named:
        remembered["replaced"] = [*job.status.replaced, *named]
    status = summarize(job, pods, Phase.RESTARTING if fault.whole else job.status.phase, seen).but(
        restarts=number,
        last_restart_time=seen.now,
        conditions=set_conditions(
            job.status.conditions, [progressing("Restarting", words), *rest(job)], seen.now
        ),
        **remembered,
    )
    note = Note("Warning", "Restarting", words[:1000])
    return Decision(status, everything(seen), notes=(note,), check_again=0)


def resized(job: PaddleJob, pods: dict[str, Pod], seen: Snapshot) -> Decision:
    """All begin again with as many as there can be now: not a fault, and not counted as one."""
    count = len(members(job, pods, seen.now))
    words = f"goes on with {count} worker{'s' if count > 1 else ''}"
    status = summarize(job, pods, Phase.RESTARTING, seen).but(
        attempt=job.status.attempt + 1,
        conditions=set_conditions(
            job.status.conditions, [progressing("Scaling", words), *rest(job)], seen.now
        ),
    )
    return Decision(status, everything(seen), notes=(Note("Normal", "Scaled", words),), check_again=0)


def soonest(*seconds: float | None) -> float | None:
    return min((s for s in seconds if s is not None), default=None)


def ended_badly(job: PaddleJob, pods: dict[str, Pod], reason: str, why: str, seen: Snapshot) -> Decision:
    """The job has failed; its pods go, where they should, once that is written down."""
    status = summarize(job, pods, Phase.FAILED, seen).but(conditions=failed(job, reason, why, seen.now))
    return Decision(status, everything(seen), notes=(Note("Warning", "Failed", why[:1000]),))


def resting(job: PaddleJob, seen: Snapshot) -> Decision:
    """A job that is told to rest has no pods; what it left in its volumes is there when it goes on."""
    wait = waiting("Suspended", "the job rests; set spec.suspend to false to let it go on")
    told = set_conditions(job.status.conditions, [wait, *rest(job)], seen.now)
    status = summarize(job, {}, Phase.PENDING, seen).but(conditions=told, start_time=None)
    changed = not any(c.type == SUSPENDED and c.status == "True" for c in job.status.conditions)
    notes = (Note("Normal", "Suspended", "the job rests"),) if changed else ()
    keep = keeping(seen.owned(Pod).values(), seen, rested_since(job))
    return Decision(status, (*keep.logs, *keep.stay), notes=notes, check_again=keep.again)


def everything(seen: Snapshot) -> tuple[Resource, ...]:
    return (
        *seen.owned(PodGroup).values(), *seen.owned(ConfigMap).values(), *seen.owned(Service).values(),
        *seen.owned(Pod).values(),
    )  # fmt: skip


def as_seen(wanted: tuple[ConfigMap, ...], seen: Snapshot) -> tuple[ConfigMap, ...]:
    """The same, but those that are there already as they are there: these need no comparing."""
    there = seen.owned(ConfigMap)
    return tuple(found if (found := there.get(c.name)) and says(found, c) else c for c in wanted)


def says(found: ConfigMap, wanted: ConfigMap) -> bool:
    return found.data == wanted.data and wanted.metadata.labels.items() <= found.metadata.labels.items()


def are_written(endpoints: ConfigMap, seen: Snapshot) -> bool:
    """Whether the pods would read the endpoints as they are now."""
    there = seen.owned(ConfigMap).get(endpoints.name)
    return there is not None and there.data == endpoints.data


def can_be_called(job: PaddleJob, seen: Snapshot) -> bool:
    """Whether the names of the pods lead to them: a Service of that name may be somebody else's."""
    there = seen.owned(Service)
    return all(service.name in there for service in services(job))


def begun_at_all(pods: dict[str, Pod]) -> bool:
    return any(mark_of(pod) is not None for pod in pods.values())


def begun(job: PaddleJob, pods: dict[str, Pod]) -> dict[str, list[tuple[Pod, bool]]]:
    """The pods of each role, and whether their containers have begun."""
    groups: dict[str, list[tuple[Pod, bool]]] = {role: [] for role in job.spec.roles()}
    for pod in pods.values():
        groups[role_of(pod)].append((pod, counter_of(pod) in ("running", "succeeded")))
    return groups


def finished(job: PaddleJob, seen: Snapshot) -> Decision:
    """What was seen at the end stays told; pods are kept or cleaned up, never made."""
    going = leaving(job, seen)
    keep = keeping(going, seen, job.status.completion_time)
    useless = [service for service in seen.owned(Service).values() if cleans(job) or is_store(service)]
    # Whoever has ended holds no place in a queue, whatever the group says.
    gone = {identity(c) for c in (*going, *useless, *keep.logs, *seen.owned(PodGroup).values())}
    left = (*(c for c in everything(seen) if identity(c) not in gone), *keep.logs, *keep.stay)
    status = job.status
    if status.observed_generation != job.metadata.generation:
        status = status.but(observed_generation=job.metadata.generation)
    stays = leaves_in(job, seen.now)
    if stays is not None and stays <= 0:
        return Decision(status, left, ending=Ending())
    return Decision(status, left, check_again=soonest(stays, keep.again))


def leaving(job: PaddleJob, seen: Snapshot) -> list[Pod]:
    """The pods that go now that the job has ended."""
    cut = was_cut_off(job)
    there = seen.owned(Pod).values()
    return [pod for pod in there if cleans(job) or is_store(pod) or (cut and not pod.finished)]


def cleans(job: PaddleJob) -> bool:
    return job.spec.policy in CLEANS[job.status.phase]


def asks(job: PaddleJob, seen: Snapshot) -> tuple[Question, ...]:
    """What the pod says that tells how far the job is, or why it ended; the logs of those that go."""
    there = seen.owned(Pod)
    if job.status.phase.final:
        return logs_asked(leaving(job, seen), seen)
    if job.spec.suspend:
        return logs_asked(there.values(), seen)
    pods = current(job, there)
    going: tuple[Question, ...] = (*ended_logs(job, pods), *logs_asked(replaced(job, seen), seen))
    if (fault := find_fault(job, pods, seen.now)) and fault.culprit:
        return (log_of(fault.culprit), *going)
    first = teller(job, pods)
    goes_on = first is not None and first.phase == "Running"
    if first and ((goes_on and seen.glance) or phase_of(job, pods) is Phase.COMPLETED):
        return (*progress_asked(job, first, seen), *going)
    return (*going, *mounts_asked(pods.values(), seen.now))


def related(job: PaddleJob) -> tuple[Ref | Selection, ...]:
    ref = job.spec.sample_set_ref
    return (
        *((Ref(SampleSet, job.namespace, ref.name),) if ref else ()),
        *((Selection(PaddleJob),) if is_drawn(job) else ()),
        *((Ref(PodGroup, job.namespace, job.name),) if is_gang(job) else ()),
    )


CONTROLLER = Controller(
    "paddlejob",
    PaddleJob,
    reconcile,
    owns=(Pod, ConfigMap, Service, PodGroup),
    reads=(SampleSet, PaddleJob, PodGroup),
    related=related,
    asks=asks,
    hears_warnings=True,
)

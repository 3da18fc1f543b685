"""What goes wrong with data sets: each in a sentence of the status and an event, and over by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.decisions.builders import (
    a_claim,
    a_data_set,
    a_pod,
    a_result,
    a_runtime,
    a_runtime_reports,
    condition_of,
    seen,
    the_runtimes,
    with_stored,
)
from tests.properties.edits import edits

from paddlecloud.api.core import Node, Pod, StatefulSet
from paddlecloud.api.meta import Metadata
from paddlecloud.api.samplejob import SampleJob
from paddlecloud.api.sampleset import SampleSet, SampleSetStatus
from paddlecloud.controllers import samplejob, sampleset
from paddlecloud.controllers.contract import Decision, SecretQuestion, SecretSight, identity
from paddlecloud.controllers.datadepartures import leave_name
from paddlecloud.controllers.ownership import adopted, left_behind, owner_uid

SYNCED: dict[str, Any] = {"phase": "Synced", "totalSize": 2048, "totalFiles": 2, "cachedSize": 2048}
KEYS = SecretQuestion("ml", "keys")
BOTH = SecretSight(frozenset({"access-key", "secret-key"}))


def look(data: SampleSet, *around: Any, answers: Any = None, held: int = 2, **more: Any) -> Decision:
    snapshot = seen(data, a_claim(), the_runtimes(held), related=around, answers=answers)
    return sampleset.reconcile(data, replace(snapshot, **more))


def status_of(decision: Decision) -> SampleSetStatus:
    assert isinstance(decision.status, SampleSetStatus)
    return decision.status


def ready(**spec: Any) -> SampleSet:
    """A set whose copies are all there."""
    data = a_data_set(**spec)
    pods = [a_runtime(i) for i in range(data.spec.partitions)]
    answers = {q: a for i in range(len(pods)) for q, a in a_runtime_reports(i, **SYNCED).items()}
    stored: SampleSet = with_stored(data, look(data, *pods, answers=answers))
    assert stored.status.phase == "Ready"
    return stored


@pytest.mark.parametrize(
    "uri, sight, said",
    [
        ("s3://bucket/x", None, "Secret keys does not exist in namespace ml: create it"),
        ("s3://bucket/x", SecretSight(frozenset({"access-key"})), "Secret keys lacks secret-key"),
        ("bos://bucket/x", SecretSight(frozenset()), "Secret keys lacks access-key, secret-key"),
        ("redis://host/0", SecretSight(frozenset()), ""),
        ("s3://bucket/x", BOTH, ""),
    ],
)
def test_keys_of_a_source_are_asked_for_in_words_and_looked_for_again(
    uri: str, sight: SecretSight | None, said: str
) -> None:
    data = a_data_set(source={"uri": uri, "secretRef": {"name": "keys"}})
    decision = look(data, a_runtime(), answers=a_runtime_reports(phase="Idle") | {KEYS: sight})

    warned = [n.message for n in decision.notes if n.reason == "ErrorSecretNotExist"]
    assert [said in message for message in warned] == ([True] if said else [])
    assert bool(decision.calls) is (said == "")
    if said:
        assert said in condition_of(decision, "Progressing").message and decision.check_again == 5.0
        known = with_stored(data, decision)
        same = look(known, a_runtime(), answers=a_runtime_reports(phase="Idle") | {KEYS: sight})
        assert same.notes == (), "what was said is not said again"
        assert look(known, a_runtime(), answers=a_runtime_reports(phase="Idle") | {KEYS: BOTH}).calls


@pytest.mark.parametrize(
    "sight, said",
    [
        (None, "Secret keys does not exist in namespace ml"),
        (SecretSight(frozenset({"access-key"})), "Secret keys lacks secret-key"),
    ],
)
def test_a_job_waits_for_the_keys_of_its_source(sight: SecretSight | None, said: str) -> None:
    body = {"type": "sync", "sampleSetRef": {"name": "digits"}, "secretRef": {"name": "keys"}}
    job = SampleJob.read(
        {
            "metadata": {"name": "it", "namespace": "ml", "uid": "u"},
            "spec": body | {"syncOptions": {"source": "s3://other/x"}},
        }
    )
    around, answers = (ready(), a_runtime()), a_runtime_reports(**SYNCED) | {KEYS: sight}
    decision = samplejob.reconcile(job, seen(job, related=around, answers=answers))

    assert said in condition_of(decision, "Progressing").message and not decision.calls
    assert [n.reason for n in decision.notes] == ["ErrorSecretNotExist"] and decision.check_again


def test_a_strangers_volume_of_the_same_name_is_left_alone_and_told() -> None:
    data = a_data_set()
    taken = "PersistentVolume ml-digits exists and is not ours; it is left alone, delete or rename it"
    decision = sampleset.reconcile(data, replace(seen(data), refused=(taken,)))

    assert condition_of(decision, "Progressing").reason == "NameTaken"
    assert condition_of(decision, "Progressing").message == taken
    assert not decision.removals and not [n for n in decision.children if n.kind == "StatefulSet"]


def test_sets_whose_volumes_would_have_one_name_do_not_share_it() -> None:
    """`a-b` and `c` read like `a` and `b-c` when they are joined."""
    one, other = (
        a_data_set().but(metadata=Metadata(name=name, namespace=namespace, uid=name))
        for namespace, name in (("a-b", "c"), ("a", "b-c"))
    )
    first = sampleset.reconcile(one, seen(one)).children[0]
    second = sampleset.reconcile(other, seen(other)).children[0]

    assert identity(first) == identity(second)
    there = adopted(first, one)
    assert owner_uid(there) != other.uid and not left_behind(there, other), "a stranger's: refused in words"


@pytest.mark.parametrize(
    "told, phase, said",
    [
        ({"phase": "Failed", "message": "a.png is missing in the volume"}, "SyncFailed", "a.png is missing"),
        ({"phase": "Failed", "message": "No space left on device"}, "SyncFailed", "No space left on device"),
        (
            {"phase": "Failed", "message": "the volume has not answered for 12 s; it is waited for"},
            "SyncFailed",
            "the volume has not answered for 12 s",
        ),
        ({"phase": "Cleared", "message": "1 of 2 files are here"}, "PartialReady", "1 of 2 files are here"),
    ],
)
def test_what_happened_to_the_copies_is_told_without_an_edit(
    told: dict[str, Any], phase: str, said: str
) -> None:
    data = ready()
    decision = look(data, a_runtime(), answers=a_runtime_reports(**SYNCED | told))

    assert status_of(decision).phase == phase
    assert said in condition_of(decision, "Ready").message
    [note] = [n for n in decision.notes if n.type == "Warning"]
    assert said in note.message
    back = look(with_stored(data, decision), a_runtime(), answers=a_runtime_reports(**SYNCED))
    assert status_of(back).phase == "Ready"


@pytest.mark.parametrize(
    "pods, said",
    [
        ([], "the runtime of partition 0 is being made"),
        ([a_runtime(phase="Failed")], "digits-runtime-0 does not answer: it is Failed"),
        ([a_runtime(ready=False)], "digits-runtime-0 does not answer: it is Running"),
    ],
)
def test_a_runtime_that_died_is_told_without_an_edit(pods: list[Pod], said: str) -> None:
    decision = look(ready(), *pods)

    assert status_of(decision).phase == "PartialReady" and decision.check_again
    assert said in condition_of(decision, "Ready").message
    assert [n.reason for n in decision.notes] == ["PartialReady"]


@pytest.mark.parametrize(
    "state, message, holds, reason, events",
    [
        ("Same", "", "True", "AsSynced", []),
        ("Changed", "files at the source: 1 new", "False", "SourceChanged", ["SourceChanged"]),
        ("Unreachable", "no route to host", "Unknown", "SourceUnreachable", []),
    ],
)
def test_a_source_that_changed_is_told_once_and_the_data_stays_ready(
    state: str, message: str, holds: str, reason: str, events: list[str]
) -> None:
    data = ready()
    told = a_runtime_reports(**SYNCED, sourceState=state, sourceMessage=message)
    decision = look(data, a_runtime(), answers=told)
    current = condition_of(decision, "SourceCurrent")

    assert (current.status, current.reason, current.message) == (holds, reason, message)
    assert status_of(decision).phase == "Ready" and [n.reason for n in decision.notes] == events
    known = with_stored(data, decision)
    assert look(known, a_runtime(), answers=told).notes == ()
    silent = look(known, a_runtime(), answers=a_runtime_reports(**SYNCED))
    assert condition_of(silent, "SourceCurrent").status == holds, "what nobody tells now stays as it was told"


def test_partitions_are_told_one_by_one() -> None:
    other = SYNCED | {"diskAvail": 1 << 20, "diskUsed": 1 << 10, "revision": "r", "message": "2 files"}
    answers = a_runtime_reports(0, **SYNCED) | a_runtime_reports(1, **other)
    cache = status_of(look(ready(partitions=2), a_runtime(0), a_runtime(1), answers=answers)).cache_status

    assert cache is not None
    assert cache.partitions[1].wire() == {
        "name": "digits-runtime-1", "node": "node-1", "phase": "Synced", "revision": "r",
        "message": "2 files", "totalSize": "2.0 KiB", "totalFiles": "2", "cachedSize": "2.0 KiB",
        "diskSize": "0 B", "diskUsed": "1.0 KiB", "diskAvail": "1.0 MiB",
    }  # fmt: skip


def test_partitions_that_hold_different_data_are_not_ready() -> None:
    data, first = ready(partitions=2), a_runtime_reports(0, **SYNCED, revision="a")
    answers = first | a_runtime_reports(1, **SYNCED, revision="b")
    decision = look(data, a_runtime(0), a_runtime(1), answers=answers)

    assert status_of(decision).phase == "PartialReady"
    assert "hold different data" in condition_of(decision, "Ready").message
    same = first | a_runtime_reports(1, **SYNCED, revision="a")
    assert status_of(look(data, a_runtime(0), a_runtime(1), answers=same)).phase == "Ready"


def reader(phase: str = "Running", node: str = "node-1") -> Pod:
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "digits"}}]
    return a_pod("reader", phase, spec={"nodeName": node, "volumes": volumes, "containers": []})


def shrinking(*pods: Pod, answers: Any, said: bool = True) -> Decision:
    """A look at a set of two partitions that is to have one."""
    data = ready(partitions=2)
    data = data.but(spec=data.spec.but(partitions=1))
    if said:
        data = with_stored(data, shrinking(answers=answers, said=False))
    return look(data, a_runtime(0), a_runtime(1), *pods, answers=answers)


TWO = a_runtime_reports(0, **SYNCED) | a_runtime_reports(1, **SYNCED)
LEFT = leave_name(a_data_set(), a_runtime(1))


@pytest.mark.parametrize(
    "pods, result, replicas, told, why",
    [
        ([], None, 2, 1, "drops what it holds on node-1"),
        ([], "running", 2, 0, "drops what it holds on node-1"),
        ([], "success", 1, 0, ""),
        ([], "fail", 1, 0, ""),
        ([reader()], None, 2, 0, "when reader has read to its end"),
        ([reader("Succeeded")], None, 2, 1, "drops what it holds on node-1"),
        ([reader(node="node-0")], None, 2, 1, "drops what it holds on node-1"),
    ],
)
def test_a_partition_leaves_when_nobody_reads_its_copy_and_it_is_dropped(
    pods: list[Pod], result: str | None, replicas: int, told: int, why: str
) -> None:
    results = a_result("clear", LEFT, result, 1) if result else {}
    decision = shrinking(*pods, answers=TWO | results)
    [runtime] = [c for c in decision.children if isinstance(c, StatefulSet)]

    assert runtime.spec["replicas"] == replicas
    assert [c.url for c in decision.calls] == ["http://127.64.7.2:7716/upload/clearOptions"] * told
    leaving = [c.message for c in status_of(decision).conditions if c.type == "Leaving"]
    assert [why in message for message in leaving] == ([True] if why else [])
    assert decision.check_again == (1.0 if why else None)
    assert status_of(decision).phase == "Ready", "the partitions that stay have all of it"


def test_a_runtime_that_was_let_go_is_not_called_back() -> None:
    """Its pod takes a while to end, and the set has long stopped telling that it leaves."""
    data = ready(partitions=2)
    data = data.but(spec=data.spec.but(partitions=1))
    decision = look(data, a_runtime(0), a_runtime(1), answers=TWO, held=1)
    [runtime] = [c for c in decision.children if isinstance(c, StatefulSet)]

    assert runtime.spec["replicas"] == 1 and not decision.calls
    assert not [c for c in status_of(decision).conditions if c.type == "Leaving"]


def test_nothing_is_dropped_before_all_who_might_read_are_looked_at() -> None:
    first = shrinking(answers=TWO, said=False)

    assert not first.calls and condition_of(first, "Leaving").status == "True"
    known = with_stored(ready(partitions=2), first)
    [pods] = [w for w in sampleset.related(known) if w.kind is Pod]
    assert getattr(pods, "labels", None) == (), "all pods of the namespace"


def test_a_node_whose_partition_leaves_loses_its_label_first() -> None:
    key = "ml.sampleset.paddlepaddle.org/digits"
    nodes = [
        Node.read({"metadata": {"name": f"node-{i}", "labels": {key: f"digits-runtime-{i}"}}})
        for i in range(2)
    ]
    data = ready(partitions=2)
    decision = look(
        data.but(spec=data.spec.but(partitions=1)), a_runtime(0), a_runtime(1), *nodes, answers=TWO
    )

    assert [(u.observed.name, u.patch["metadata"]["labels"]) for u in decision.changes] == [
        ("node-1", {key: None})
    ]


def test_a_runtime_that_may_never_come_back_holds_nobody_up() -> None:
    data = ready(partitions=2)
    data = data.but(spec=data.spec.but(partitions=1))
    pods, answers = (a_runtime(0), a_runtime(1, ready=False)), a_runtime_reports(0, **SYNCED)
    known = with_stored(data, look(data, *pods, answers=answers))
    [runtime] = [c for c in look(known, *pods, answers=answers).children if isinstance(c, StatefulSet)]

    assert runtime.spec["replicas"] == 1


BASE: dict[str, Any] = {
    "source": {"uri": "s3://bucket/x", "secretRef": {"name": "keys"}},
    "secretRef": {"name": "engine"},
    "partitions": 2,
    "noSync": False,
    "csi": {"driver": "juicefs", "juiceFSMountOptions": {"cache-dir": "/c", "prefetch": 2}},
    "cache": {"levels": [{"path": "/a:/b", "cacheSize": 10}]},
    "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []},
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
}
REPORTS = a_runtime_reports(0, **SYNCED) | a_runtime_reports(1, **SYNCED) | a_runtime_reports(2, **SYNCED)


# The engine does not change: the CRD refuses that.
EDITS = [e for e in edits(SampleSet, BASE, {}) if e.spec.get("csi", {}).get("driver") == "juicefs"]


@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_an_edit_makes_what_a_fresh_set_would_have_and_back(edit: Any) -> None:
    def children(data: SampleSet) -> dict[Any, Any]:
        pods = [a_runtime(i) for i in range(data.spec.partitions)]
        return {identity(c): c.wire() for c in look(data, *pods, answers=REPORTS).children}

    before, fresh = a_data_set(**BASE), SampleSet.read(a_data_set().wire() | {"spec": edit.spec})
    pods = [a_runtime(i) for i in range(2)]
    stored = with_stored(before, look(before, *pods, answers=REPORTS))
    edited = stored.but(spec=fresh.spec)

    assert children(edited) == children(fresh)
    later = with_stored(edited, look(edited, *pods, answers=REPORTS))
    assert children(later.but(spec=before.spec)) == children(before)

"""Runtimes of a set: how they are told to copy, what they are believed, where their data is read."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.decisions.builders import (
    NOW,
    TOKEN,
    a_claim,
    a_data_set,
    a_result,
    a_runtime,
    a_runtime_reports,
    condition_of,
    metadata,
    named,
    seen,
    the_runtimes,
    with_stored,
)
from tests.decisions.data_builders import SYNCED, the_set

from paddlecloud.api.core import Node, PersistentVolume
from paddlecloud.api.sampleset import SampleSet, SampleSetStatus
from paddlecloud.controllers import sampleset
from paddlecloud.controllers.contract import Decision, SecretQuestion, SecretSight
from paddlecloud.controllers.datanodes import near_data
from paddlecloud.controllers.dataruntimes import keys_at_hand, make_runtime
from paddlecloud.controllers.datasecrets import wanted_keys
from paddlecloud.controllers.datasyncs import body_of
from paddlecloud.controllers.datavolumes import make_claim, make_volume, mount_options


def look(data: SampleSet, *pods: Any, answers: Any = None, now: datetime = NOW, **rebuffs: Any) -> Decision:
    snapshot = seen(data, a_claim(), the_runtimes(), related=pods, answers=answers, now=now)
    return sampleset.reconcile(data, replace(snapshot, **rebuffs))


def status_of(decision: Decision) -> SampleSetStatus:
    assert isinstance(decision.status, SampleSetStatus)
    return decision.status


def sync_name(data: SampleSet) -> str:
    assert data.status.jobs_name is not None
    return data.status.jobs_name.sync_job_name


def begun(**spec: Any) -> SampleSet:
    """A set whose runtimes were told to copy."""
    data = a_data_set(**spec)
    stored: SampleSet = with_stored(data, look(data, a_runtime(), answers=a_runtime_reports(phase="Idle")))
    return stored


def test_an_idle_runtime_is_told_to_copy_with_the_token_of_the_set_and_nothing_secret() -> None:
    data = a_data_set(source={"uri": "s3://bucket/x", "secretRef": {"name": "k"}})
    decision = look(data, a_runtime(), answers=a_runtime_reports(phase="Idle"))

    [call] = decision.calls
    assert (call.url, call.token) == ("http://127.64.7.1:7716/upload/syncOptions", TOKEN)
    assert json.loads(call.body) == {"source": "s3://bucket/x", "keys": "k"}
    assert call.id == sync_name(with_stored(data, decision)) and status_of(decision).phase == "Syncing"
    again = look(with_stored(data, decision), a_runtime(), answers=a_runtime_reports(phase="Idle"))
    assert again.calls == decision.calls, "who forgot it is told again, under the same name"


@pytest.mark.parametrize(
    "result, report, phase, calls",
    [
        ("running", "Syncing", "Syncing", 0),
        ("success", "Verifying", "Syncing", 0),
        ("success", "Synced", "Ready", 0),
        ("fail", "Failed", "SyncFailed", 0),
        ("cancelled", "Idle", "SyncFailed", 0),
        ("success", "Failed", "SyncFailed", 0),
        (None, "Synced", "Ready", 0),
        (None, "Idle", "Syncing", 1),
        (None, "Failed", "SyncFailed", 1),
    ],
)
def test_ready_is_what_the_runtime_has_verified(
    result: str | None, report: str, phase: str, calls: int
) -> None:
    data = begun()
    answers = a_runtime_reports(**{**SYNCED, "phase": report})
    answers |= a_result("sync", sync_name(data), result) if result else {}
    decision = look(data, a_runtime(), answers=answers)

    assert (status_of(decision).phase, len(decision.calls)) == (phase, calls)


def test_data_that_was_cleared_is_not_ready_until_it_is_back() -> None:
    data = begun()
    done = a_result("sync", sync_name(data), "success")
    ready = with_stored(data, look(data, a_runtime(), answers=a_runtime_reports(**SYNCED) | done))
    gone = {**SYNCED, "phase": "Cleared", "message": "0 of 2 files are here", "cachedSize": 0}
    cleared = look(ready, a_runtime(), answers=a_runtime_reports(**gone) | done)

    assert status_of(cleared).phase == "PartialReady" and not cleared.calls
    assert "0 of 2 files are here" in condition_of(cleared, "Ready").message
    back = look(with_stored(ready, cleared), a_runtime(), answers=a_runtime_reports(**SYNCED) | done)
    assert status_of(back).phase == "Ready"


def test_a_copy_that_failed_is_tried_again_after_a_pause_under_another_name() -> None:
    data = begun()
    answers = a_runtime_reports(phase="Idle") | a_result("sync", sync_name(data), "fail", message="no route")
    failed = look(data, a_runtime(), answers=answers)
    assert condition_of(failed, "Ready").message == "no route" and failed.check_again == 5.0

    later = look(with_stored(data, failed), a_runtime(), answers=answers, now=NOW + timedelta(seconds=6))
    assert sync_name(with_stored(data, later)).endswith("-1")
    for phase in ("Idle", "Failed"):
        # A runtime goes on saying that its last copy failed until it is told to make another.
        told = look(
            with_stored(data, later), a_runtime(), answers=a_runtime_reports(phase=phase, message="no")
        )
        assert [c.id for c in told.calls] == [sync_name(with_stored(data, later))]


def test_what_a_runtime_refuses_is_a_failure_with_its_sentence() -> None:
    data = begun()
    answers = a_runtime_reports(phase="Idle")
    [call] = look(data, a_runtime(), answers=answers).calls

    assert (
        condition_of(look(data, a_runtime(), answers=answers, rebuffs={call: "bad source"}), "Ready").message
        == "bad source"
    )


@pytest.mark.parametrize("engine, told", [("local", [0, 1]), ("juicefs", [0])])
def test_every_copy_is_made_and_one_file_system_is_filled_once(engine: str, told: list[int]) -> None:
    data = a_data_set(partitions=2, csi={"driver": engine})
    answers = a_runtime_reports(0, phase="Idle") | a_runtime_reports(1, phase="Idle")
    decision = look(data, a_runtime(0), a_runtime(1), answers=answers)

    assert [c.url for c in decision.calls] == [
        f"http://127.64.7.{i + 1}:7716/upload/syncOptions" for i in told
    ]


def test_sizes_are_summed_over_partitions_and_never_more_than_there_is() -> None:
    data = the_set(partitions=2)
    answers = a_runtime_reports(0, **SYNCED) | a_runtime_reports(1, **SYNCED)
    cache = status_of(look(data, a_runtime(0), a_runtime(1), answers=answers)).cache_status

    assert cache is not None and (cache.total_size, cache.cached_size) == ("2.0 KiB", "2.0 KiB")
    assert (cache.disk_size, cache.disk_usage_rate) == ("20 B", "50.0%")
    assert [(p.name, p.node, p.phase) for p in cache.partitions] == [
        ("digits-runtime-0", "node-0", "Synced"), ("digits-runtime-1", "node-1", "Synced"),
    ]  # fmt: skip


def test_a_partition_whose_runtime_is_gone_is_told() -> None:
    decision = look(the_set(partitions=2), a_runtime(0), answers=a_runtime_reports(0, **SYNCED))

    assert status_of(decision).phase == "PartialReady"
    assert "partition 1 is being made" in condition_of(decision, "Ready").message


@pytest.mark.parametrize(
    "answer, said",
    [
        (None, "Secret keys does not exist in namespace ml: create it"),
        (SecretSight(frozenset({"name", "storage"})), "Secret keys lacks metaurl, bucket"),
    ],
)
def test_a_set_waits_for_its_secret_and_looks_for_it(answer: Any, said: str) -> None:
    data = a_data_set(csi={"driver": "juicefs"}, secretRef={"name": "keys"})
    decision = sampleset.reconcile(data, seen(data, answers={SecretQuestion("ml", "keys"): answer}))

    assert said in condition_of(decision, "Progressing").message and decision.check_again == 5.0
    assert named(decision) == [] and [n.reason for n in decision.notes] == ["ErrorSecretNotExist"]


def test_the_token_is_made_where_it_is_missing_and_a_strangers_is_left_alone() -> None:
    data, question = a_data_set(), SecretQuestion("ml", "digits-runtime")

    assert sampleset.reconcile(data, seen(data, a_claim(), answers={question: None})).tokens == (TOKEN,)
    foreign = sampleset.reconcile(
        data, seen(data, a_claim(), answers={question: SecretSight(frozenset({"token"}), "x")})
    )
    assert foreign.tokens == () and "is not ours" in condition_of(foreign, "Progressing").message


def test_only_pods_of_the_own_statefulset_hear_the_token() -> None:
    stranger = a_runtime()
    stranger = stranger.but(metadata=stranger.metadata.but(owner_references=[]))

    asked = sampleset.questions(a_data_set(), seen(None, the_runtimes(), related=[stranger]))
    assert not any(getattr(q, "token", None) for q in asked)


@pytest.mark.parametrize(
    "driver, secret, fuse, engine",
    [
        ("local", True, "true", "local"),
        ("juicefs", False, "", "juicefs"),
        ("auto", True, "true", "juicefs"),
        ("auto", True, "false", "local"),
        ("auto", True, "", "juicefs"),
        ("auto", False, "true", "local"),
    ],
)
def test_the_engine_is_chosen_once_and_said(driver: str, secret: bool, fuse: str, engine: str) -> None:
    node = Node.read({"metadata": {"name": "node-0", "labels": {"paddlecloud.org/fuse": fuse}}})
    given: dict[str, Any] = {"secretRef": {"name": "keys"}} if secret else {}
    data = a_data_set(csi={"driver": driver}, **given)
    decision = sampleset.reconcile(data, seen(data, related=[node]))

    assert status_of(decision).engine == engine
    assert [n.reason for n in decision.notes if n.reason == "Engine"] == (
        ["Engine"] if driver == "auto" else []
    )
    assert status_of(sampleset.reconcile(with_stored(data, decision), seen(data))).engine == engine


def test_nodes_are_labelled_with_their_runtime_and_others_lose_the_label() -> None:
    key = "ml.sampleset.paddlepaddle.org/digits"
    nodes = [
        Node.read({"metadata": {"name": f"node-{i}", "labels": {key: "old"} if i else {}}}) for i in range(2)
    ]
    changes = look(the_set(), a_runtime(), *nodes, answers=a_runtime_reports(**SYNCED)).changes

    assert {u.observed.name: u.patch["metadata"]["labels"][key] for u in changes} == {
        "node-0": "digits-runtime-0", "node-1": None,
    }  # fmt: skip


def test_volumes_of_two_namespaces_do_not_meet_and_are_kept_for_their_claims() -> None:
    volume, claim = make_volume(a_data_set(), "local"), make_claim(a_data_set())

    assert (volume.name, claim.spec["volumeName"]) == ("ml-digits", "ml-digits")
    assert volume.spec["claimRef"] | {"namespace": "ml", "name": "digits"} == volume.spec["claimRef"]
    assert volume.spec["hostPath"]["path"] == "/var/lib/paddlecloud/samplesets/ml/digits/data"


@pytest.mark.parametrize(
    "spec, options",
    [
        ({}, "cache-dir=/var/lib/paddlecloud/cache/ml/digits,cache-size=1073741824"),
        (
            {"csi": {"juiceFSMountOptions": {"cache-dir": "/data/c", "writeback": True, "open-cache": 0}}},
            "cache-dir=/data/c/ml-digits,cache-size=1073741824,writeback",
        ),
        (
            {"cache": {"levels": [{"path": "/a:/b", "cacheSize": 10}, {"path": "/c", "cacheSize": 5}]}},
            "cache-dir=/a:/b:/c,cache-size=15",
        ),
    ],
)
def test_mount_options_are_ours_then_the_users_then_the_tiers(spec: dict[str, Any], options: str) -> None:
    assert mount_options(a_data_set(**spec)) == options


def test_keys_come_as_files_that_may_come_later_and_the_command_names_no_secret() -> None:
    pod = make_runtime(a_data_set(), "local", ["k"]).spec["template"]["spec"]

    [keys] = [v["projected"]["sources"] for v in pod["volumes"] if v["name"] == "keys"]
    items = [{"key": key, "path": f"k/{key}"} for key in ("access-key", "secret-key")]
    # The folder is there although the Secret has no key, or is not there yet.
    folder = {"path": "k/.for", "fieldRef": {"fieldPath": "metadata.name"}}
    assert keys == [
        {"secret": {"name": "k", "optional": True, "items": items}},
        {"downwardAPI": {"items": [folder]}},
    ]
    assert keys_at_hand(pod) == {"k"}
    words = pod["containers"][0]["command"]
    assert words[words.index("--token-file") + 1] == "/etc/paddlecloud/runtime/token"
    assert "podAntiAffinity" in pod["affinity"]


def test_the_keys_of_the_file_system_are_never_those_of_the_source() -> None:
    data = a_data_set(
        source={"uri": "s3://public/x"}, secretRef={"name": "file-system"}, status={"engine": "juicefs"}
    )

    assert json.loads(body_of(data)) == {"source": "s3://public/x"}
    assert wanted_keys(data, seen(data)) == set()


def test_whatever_the_folders_of_the_caches_are_called_their_volumes_have_names_of_volumes() -> None:
    paths = "/data/My_Cache/:/data.v2/b b:/数据"
    data = a_data_set(cache={"levels": [{"mediumType": "SSD", "path": paths, "cacheSize": 5}]})
    pod = make_runtime(data, "juicefs", ["K_ey." * 40]).spec["template"]["spec"]

    folders = [v["hostPath"]["path"] for v in pod["volumes"] if v["name"].startswith("cache-")]
    assert folders == ["/data/My_Cache/", "/data.v2/b b", "/数据"]
    names = [volume["name"] for volume in pod["volumes"]]
    assert all(re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name) for name in names)
    assert len(set(names)) == len(names)


GONE = {"metadata": metadata("digits", deletionTimestamp="2024-06-01T11:59:00Z")}


def test_a_set_ends_claim_first_then_copies_then_runtimes_then_volume() -> None:
    data = SampleSet.read({**a_data_set(status={"engine": "local"}).wire(), **GONE})
    volume = PersistentVolume.read({"metadata": metadata("ml-digits")})
    there, idle = (volume, the_runtimes()), a_runtime_reports(phase="Synced")

    first = sampleset.reconcile(data, seen(data, a_claim(), *there, related=[a_runtime()]))
    assert [r.child.name for r in first.removals] == ["digits"] and "StatefulSet/digits-runtime" in named(
        first
    )
    told = sampleset.reconcile(data, seen(data, *there, related=[a_runtime()], answers=idle))
    assert [c.url for c in told.calls] == ["http://127.64.7.1:7716/upload/clearOptions"]
    cleared = idle | a_result("clear", told.calls[0].id, "success")
    third = sampleset.reconcile(data, seen(data, *there, related=[a_runtime()], answers=cleared))
    assert not third.calls and "StatefulSet/digits-runtime" not in named(third)
    fourth = sampleset.reconcile(data, seen(data, volume))
    assert [r.child.name for r in fourth.removals] == ["ml-digits"] and fourth.finalizers
    assert sampleset.reconcile(data, seen(data)).finalizers == ()


TERM = {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}
HERE = {"key": "ml.sampleset.paddlepaddle.org/digits", "operator": "In", "values": ["digits-runtime-0"]}
ANY = {"key": "ml.sampleset.paddlepaddle.org/digits", "operator": "Exists"}


@pytest.mark.parametrize(
    "engine, index, given, wanted",
    [
        ("local", 0, [], [[HERE]]),
        ("local", 5, [], [[ANY]]),
        ("local", None, [], [[ANY]]),
        ("juicefs", 0, [], [[HERE]]),
        ("juicefs", 5, [], None),
        ("juicefs", 0, [TERM, {"matchFields": []}], [[*TERM["matchExpressions"], HERE], [HERE]]),
    ],
)
def test_a_pod_goes_to_its_data_and_where_the_user_wants(
    engine: str, index: int | None, given: Any, wanted: Any
) -> None:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    spec: dict[str, Any] = (
        {"affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": given}}}} if given else {}
    )
    near_data(spec, the_set(status={"engine": engine}), index)

    chosen = spec.get("affinity", {}).get("nodeAffinity", {}).get(required)
    assert (chosen and [t["matchExpressions"] for t in chosen["nodeSelectorTerms"]]) == wanted

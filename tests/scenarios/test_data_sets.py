"""Data sets on three nodes: copied, cleared, warmed, spread, removed; what is wrong is told, and heals."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.manifests import Body, job
from tests.scenarios.pdc_home import PdcHome, fresh_home

from paddlecloud.api.core import Event, Node, PersistentVolume, Pod, Secret
from paddlecloud.api.meta import Key
from paddlecloud.api.sampleset import SampleSet

FILES = {"a b'c.txt": "one", "深/度.txt": "two", "n01/x.txt": "three", "n01/new\nline.txt": "four"}
SIZE = f"{sum(map(len, FILES.values()))} B"
STORE = "minio://minio-service.kubeflow:9000"


@pytest.fixture(scope="module")
def home() -> Iterator[PdcHome]:
    with fresh_home() as made:
        made.ok("up", "--detach", "--nodes", "3")
        yield made


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def kept(home: PdcHome, source: Path) -> PdcHome:
    """The home with the set `words` in it, Ready on two of its nodes."""
    home.ok("data", "add", source.as_uri(), "--name", "words", "--partitions", "2", "--engine", "local")
    return home


def a_set(name: str, uri: str, namespace: str = "default", **spec: Any) -> Body:
    source = {"uri": uri, **spec.pop("source", {})}
    return {
        "apiVersion": "batch.paddlepaddle.org/v1alpha1",
        "kind": "SampleSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"source": source, "csi": {"driver": "local"}, **spec},
    }


def a_secret(name: str, data: dict[str, str]) -> Body:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data}


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture(scope="module")
def troubled(kept: PdcHome, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sets that cannot be had: no files, no Secret or half of one, the volume of a stranger, no such kind of
    source, nobody at its address, keys that its server refuses, a bucket that is not there."""
    empty, full = tmp_path_factory.mktemp("empty"), tmp_path_factory.mktemp("full")
    (full / "one").write_text("first\n")
    stranger = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "default-taken"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/mnt"},
        },
    }
    with kept.client() as client:
        right = client.get(Secret, "kubeflow", "model-store").data
    kept.apply(
        stranger,
        a_secret("half", {"access-key": coded("me")}),
        a_secret("wrong", {"access-key": coded("me"), "secret-key": coded("no such word\n")}),
        a_secret("right", {"access-key": right["access-key"], "secret-key": right["secret-key"]}),
        a_set("half", f"{STORE}/none/words", source={"secretRef": {"name": "half"}}),
        a_set("refused", f"{STORE}/none/words", source={"secretRef": {"name": "wrong"}}),
        a_set("bucketless", f"{STORE}/none/words", source={"secretRef": {"name": "right"}}),
        a_set("away", "minio://127.0.0.1:1/bucket/words"),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}},
        a_set("empty", empty.as_uri()),
        a_set("locked", full.as_uri(), source={"secretRef": {"name": "later"}}),
        a_set("taken", full.as_uri()),
        a_set("odd", "gopher://somewhere/far"),
        a_set("words", full.as_uri(), "other"),
    )
    return empty


def state(home: PdcHome, namespace: str, name: str) -> tuple[str, str, str]:
    """Phase, and why: the reason and the sentence."""
    with home.client() as client:
        found = client.find(SampleSet, namespace, name)
    if found is None:
        return "gone", "", ""
    why = next((c for c in found.status.conditions if c.status == "False"), None)
    return found.status.phase.value or "new", why.reason if why else "", why.message if why else ""


def events(home: PdcHome, name: str) -> set[str]:
    with home.client() as client:
        found = client.list(Event, "default").items
    return {event.reason for event in found if event.involved_object.get("name") == name}


def columns(home: PdcHome, name: str = "words") -> dict[str, Any]:
    with home.client() as client:
        found = client.get(SampleSet, "default", name).status
    assert found.cache_status is not None and found.runtime_status is not None
    cache = found.cache_status
    return {"phase": found.phase.value, "total": cache.total_size, "cached": cache.cached_size}


def nodes(home: PdcHome) -> list[str]:
    """Where the partitions of the set are, the first first."""
    with home.client() as client:
        cache = client.get(SampleSet, "default", "words").status.cache_status
    return [p.node for p in cache.partitions] if cache else []


def labelled(home: PdcHome) -> set[str]:
    """The nodes that say that they have a partition of the set."""
    with home.client() as client:
        found = client.list(Node, "").items
    return {n.name for n in found if "default.sampleset.paddlepaddle.org/words" in n.metadata.labels}


def folder(home: PdcHome, node: str, namespace: str = "default") -> Path:
    return home.home.disk(node) / "samplesets" / namespace / "words"


def copies(home: PdcHome, node: str) -> dict[str, str]:
    """The files that a node has of the set."""
    root = folder(home, node) / "data"
    return {str(p.relative_to(root)): p.read_text() for p in sorted(root.rglob("*")) if p.is_file()}


def test_every_partition_has_all_files(kept: PdcHome) -> None:
    assert columns(kept) == {"phase": "Ready", "total": SIZE, "cached": SIZE}
    assert len(set(nodes(kept))) == 2 and labelled(kept) == set(nodes(kept))
    assert [copies(kept, node) for node in nodes(kept)] == [dict(sorted(FILES.items()))] * 2
    table = kept.ok("get", "samplesets").splitlines()
    assert table[0].split("  ")[0] == "NAME" and " 2/2 " in table[1]


def test_a_look_at_the_files_has_a_line_for_each(kept: PdcHome) -> None:
    looked = kept.ok("data", "mount", "words").splitlines()
    assert {"  n01/new\\nline.txt", "  深/度.txt", "  a b'c.txt"} <= set(looked)
    assert f"… and {len(looked) - 3} more" in kept.ok("data", "mount", "words", "--limit", "2")


@pytest.mark.parametrize(
    "name, reason, said, event",
    [
        ("empty", "SyncFailed", "has no files", "SyncFailed"),
        (
            "locked",
            "WaitingForSecret",
            "Secret later does not exist in namespace default",
            "ErrorSecretNotExist",
        ),
        ("taken", "NameTaken", "PersistentVolume default-taken exists and is not ours", "NameTaken"),
        ("half", "WaitingForSecret", "Secret half lacks secret-key", "ErrorSecretNotExist"),
        ("refused", "SyncFailed", "refuses the bucket none with these keys", "SyncFailed"),
        ("bucketless", "SyncFailed", "minio-service.kubeflow:9000 has no bucket none", "SyncFailed"),
        ("away", "SyncFailed", "127.0.0.1:1 cannot be reached", "SyncFailed"),
        ("odd", "Unsupported", "source gopher: is of no kind that is known", "SyncFailed"),
    ],
)
def test_what_is_wrong_is_told(
    kept: PdcHome, troubled: Path, name: str, reason: str, said: str, event: str
) -> None:
    until(lambda: state(kept, "default", name)[1] == reason, what=f"{reason} of {name}")
    assert said in state(kept, "default", name)[2]
    until(lambda: event in events(kept, name), what=f"the event {event}")


def test_what_is_missing_is_given(kept: PdcHome, troubled: Path) -> None:
    """That it is enough is seen at the end: meanwhile there is other work."""
    (troubled / "one").write_text("first\n")
    kept.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "later"}, "data": {}})
    kept.ok("delete", "pv", "default-taken")


def test_workers_run_beside_their_partition(kept: PdcHome) -> None:
    data = {"name": "words", "mountPath": "/data"}
    reader = job("reader", "cat /data/n01/x.txt", workers=2, sampleSetRef=data, cleanPodPolicy="Never")
    kept.apply(reader)
    kept.ok("wait", "paddlejob/reader", "--for", "condition=Completed", "--timeout", "90")
    with kept.client() as client:
        placed = {p.name: p.node for p in client.list(Pod, "default").items}
    for index in (0, 1):
        assert placed[f"reader-worker-{index}"] == placed[f"words-runtime-{index}"]
    assert kept.ok("logs", "job/reader").count("three") == 2
    kept.ok("delete", "paddlejob", "reader")


def test_cleared_warmed_changed_and_synced(kept: PdcHome, source: Path) -> None:
    kept.ok("data", "clear", "words")
    until(lambda: columns(kept)["phase"] == "PartialReady", what="the cleared set")
    assert columns(kept) | {"phase": ""} == {"phase": "", "total": SIZE, "cached": "0 B"}
    one, two = nodes(kept)
    assert copies(kept, one) == copies(kept, two) == {}

    kept.ok("data", "warm", "words")
    until(lambda: columns(kept)["phase"] == "Ready", what="the warmed set")
    assert copies(kept, two) == dict(sorted(FILES.items()))

    (source / "n01" / "z.txt").write_text("five")
    kept.ok("data", "sync", "words")
    until(lambda: len(copies(kept, one)) == len(copies(kept, two)) == len(FILES) + 1, what="a sync")

    rmr: Body = {
        "apiVersion": "batch.paddlepaddle.org/v1alpha1",
        "kind": "SampleJob",
        "metadata": {"name": "words-rmr"},
        "spec": {
            "type": "rmr",
            "sampleSetRef": {"name": "words"},
            "rmrOptions": {"paths": ["n01"]},
        },
    }
    kept.apply(rmr)
    kept.ok("wait", "samplejob/words-rmr", "--for", "condition=Complete", "--timeout", "60")
    assert sorted(copies(kept, two)) == ["a b'c.txt", "深/度.txt"]


def test_what_pdc_data_shows(kept: PdcHome) -> None:
    assert f"words-runtime-1 on {nodes(kept)[1]}" in kept.ok("data", "show", "words")
    listed = json.loads(kept.ok("data", "ls", "-o", "json"))["items"]
    assert "words" in [one["metadata"]["name"] for one in listed]
    made = kept.ok("data", "add", "s3://bucket/prefix", "--name", "far", "--dry-run", "-o", "json")
    assert json.loads(made)["spec"]["source"]["uri"] == "s3://bucket/prefix"
    for mistyped in (["warm", "no-such"], ["add", "s3://me:word@host:9000/b", "--name", "keys"]):
        said = kept.pdc("data", *mistyped)
        assert said.code and ("not found" in said.text or "password in its address" in said.text)
        assert "created" not in said.text and "word" not in said.text.replace("password", "")


def test_a_forecast_is_made_kept_and_set_beside_what_happened(kept: PdcHome) -> None:
    made = json.loads(kept.ok("data", "forecast", "words", "--seconds", "1", "-o", "json"))
    assert made["workers"] == 2 and all(made["speeds"][name] > 0 for name in ("link", "cold", "near"))
    assert made["bytes"] > 0 and made["gain"] > 0

    def told() -> Any:
        return json.loads(kept.ok("data", "report", "words", "-o", "json"))

    until(lambda: (told()["forecast"] or {}).get("madeAt") == made["madeAt"], what="the set to keep it")
    rows = {row["what"]: row for row in told()["rows"]}
    assert rows["gain"]["predicted"] == made["gain"]
    assert {"sync", "warmup"} == {done["type"] for done in told()["operations"]}
    assert "WHAT" in kept.ok("data", "report", "words")


def test_partitions_come_with_copies_and_leave_with_them(kept: PdcHome) -> None:
    kept.ok("data", "sync", "words")
    spread(kept, 3)
    all_three = nodes(kept)
    assert sorted(all_three) == ["node-0", "node-1", "node-2"]
    until(lambda: labelled(kept) == set(all_three), what="labels on all three nodes")
    last = copies(kept, all_three[0])
    assert last and copies(kept, all_three[2]) == last

    spread(kept, 1)
    until(lambda: not folder(kept, all_three[2]).exists(), what="the end of the third copy")
    until(lambda: not folder(kept, all_three[1]).exists(), what="the end of the second copy")
    until(lambda: labelled(kept) == {all_three[0]}, what="a label on the node that stays")
    assert copies(kept, all_three[0]) == last


def spread(home: PdcHome, partitions: int) -> None:
    """Edit the number of partitions, and wait until the set is as it should be."""
    with home.client() as client:
        client.patch(SampleSet, Key("default", "words"), {"spec": {"partitions": partitions}})

        def done() -> bool:
            status = client.get(SampleSet, "default", "words").status
            leaving = any(c.type == "Leaving" for c in status.conditions)
            return status.phase == "Ready" and len(nodes(home)) == partitions and not leaving

        until(done, what=f"{partitions} partitions")


def test_a_set_that_is_read_goes_when_the_reader_has_ended(kept: PdcHome, troubled: Path) -> None:
    """In another namespace, where a set has the same name."""
    until(lambda: state(kept, "other", "words")[0] == "Ready", what="the set of that name elsewhere")
    read = "echo begun; until [ -e /data/go ]; do sleep 0.1; done; cat /data/one"
    data = {"name": "words", "mountPath": "/data"}
    reader = job("reader", read, sampleSetRef=data, cleanPodPolicy="Never")
    reader["metadata"]["namespace"] = "other"
    kept.apply(reader)
    until(lambda: "begun" in kept.pdc("logs", "job/reader", "-n", "other").text, what="the reader")
    kept.ok("delete", "sampleset", "words", "-n", "other", "--no-wait")
    until(lambda: state(kept, "other", "words")[1] == "InUse", what="that it is read is told")
    for node in ("node-0", "node-1", "node-2"):
        if (data_there := folder(kept, node, "other") / "data").exists():
            (data_there / "go").touch()
    kept.ok("wait", "paddlejob/reader", "--for", "condition=Completed", "-n", "other", "--timeout", "60")
    assert "first" in kept.ok("logs", "job/reader", "-n", "other")
    # A claim is in use as long as there is a pod with it, whether that runs or not.
    kept.ok("delete", "paddlejob", "reader", "-n", "other")
    until(lambda: state(kept, "other", "words")[0] == "gone", what="the end of the set")


def test_a_set_goes_with_all_its_copies(kept: PdcHome) -> None:
    kept.ok("data", "rm", "words")
    with kept.client() as client:
        assert client.find(SampleSet, "default", "words") is None
        assert client.find(PersistentVolume, "", "default-words") is None
    left = [folder(kept, node) for node in ("node-0", "node-1", "node-2")]
    until(lambda: not any(at.exists() for at in left), what="disks without the set")


def test_what_was_wrong_heals_by_itself(kept: PdcHome, troubled: Path) -> None:
    names = ("empty", "locked", "taken")
    until(lambda: {state(kept, "default", n)[0] for n in names} == {"Ready"}, what="their end", limit=60)

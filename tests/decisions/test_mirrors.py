"""Mirrors: which address is read for another, what of their table others may see, who follows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.decisions.builders import (
    a_claim,
    a_data_set,
    a_runtime,
    a_runtime_reports,
    condition_of,
    seen,
    the_runtimes,
    with_stored,
)

from paddlecloud.api.core import ConfigMap, StatefulSet
from paddlecloud.api.samplejob import SampleJob
from paddlecloud.api.sampleset import SampleSet
from paddlecloud.controllers import mirrors, samplejob, sampleset
from paddlecloud.controllers.contract import Decision
from paddlecloud.controllers.mirrors import Mirrors, parsed, root_of, shown, without_secrets
from paddlecloud.embedded.mirrorfile import mirrors_in
from paddlecloud.embedded.node.volumes import juicefsmirrors
from paddlecloud.embedded.workloads.mirrorkeeping import wanted
from paddlecloud.errors import WrongUse
from paddlecloud.mirroring import heard, mirrored, told

PUBLIC = "bos://public.hkg.bcebos.com"
TABLE = {PUBLIC: "s3://here/all/", f"{PUBLIC}/imagenet": "s3://here/imagenet-copy"}


@pytest.mark.parametrize(
    "uri, expected",
    [
        (f"{PUBLIC}/imagenet", "s3://here/imagenet-copy"),
        (f"{PUBLIC}/imagenet/", "s3://here/imagenet-copy"),
        (f"{PUBLIC}/imagenet/train", "s3://here/imagenet-copy/train"),
        (f"{PUBLIC}/imagenet2", "s3://here/all/imagenet2"),
        (PUBLIC, "s3://here/all/"),
        ("bos://public.hkg.bcebos.community/x", "bos://public.hkg.bcebos.community/x"),
        ("file:///data", "file:///data"),
        ("s3://[bad", "s3://[bad"),
        ("", ""),
    ],
)
def test_the_longest_prefix_counts_and_ends_where_a_segment_does(uri: str, expected: str) -> None:
    assert mirrored(uri, TABLE) == expected


@pytest.mark.parametrize(
    "uri, to, expected",
    [
        ("redis://old:6379/0", "redis://new:1", "redis://new:1/0"),
        ("redis://me:word@old:6379/0", "redis://new:1", "redis://me:word@new:1/0"),
        ("redis://me:word@old:6379/0", "redis://you:other@new:1", "redis://you:other@new:1/0"),
        ("redis://:wo/rd@old:6379/0", "redis://new:1", "redis://:wo/rd@new:1/0"),
        # Another kind of engine has other users.
        ("redis://me:word@old:6379/0", "sqlite3:///db", "sqlite3:///db/0"),
    ],
)
def test_users_are_not_compared_and_go_along_to_a_mirror_of_their_kind(
    uri: str, to: str, expected: str
) -> None:
    assert mirrored(uri, {"redis://old:6379": to}) == expected


@pytest.mark.parametrize(
    "uri, expected",
    [
        ("s3://me:word@host:9000/b/p?sig=word#word", "s3://me@host:9000/b/p"),
        ("redis://:wo/rd@host:1/0", "redis://host:1/0"),
        ("file:///data/a@b", "file:///data/a@b"),
        ("s3://[::1]:9000/a@b", "s3://[::1]:9000/a@b"),
    ],
)
def test_what_others_see_of_an_address_is_not_secret(uri: str, expected: str) -> None:
    assert shown(uri) == expected


@pytest.mark.parametrize(
    "text, words",
    [
        ("- a", "no table"),
        ("a: 1", "no table"),
        ("x: secret: [", "line 1 is no YAML"),
        ("s3://a: {b: c}", "no table"),
        ("s3://a: /data", "s3://a is no address, or its mirror is none"),
    ],
)
def test_a_table_that_is_none_is_a_sentence_without_what_is_in_it(
    tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "mirrors.yaml").write_text(text)
    with pytest.raises(WrongUse, match=words) as raised:
        mirrors_in(tmp_path / "mirrors.yaml")
    assert "PREFIX: URL" in raised.value.next_step and "secret" not in raised.value.message


def test_a_file_that_is_not_there_is_an_empty_table(tmp_path: Path) -> None:
    assert mirrors_in(tmp_path / "mirrors.yaml") == {}
    (tmp_path / "mirrors.yaml").write_bytes(b"\xff")
    with pytest.raises(WrongUse, match="it is no text"):
        mirrors_in(tmp_path / "mirrors.yaml")


def test_what_the_cluster_is_told_follows_the_file_and_keeps_its_secrets(tmp_path: Path) -> None:
    file = tmp_path / "mirrors.yaml"
    assert wanted(file, {}) == {}
    file.write_text("redis://me:word@old:1: redis://:word@new:2\n")
    told = wanted(file, {})
    assert yaml.safe_load(told[mirrors.KEY]) == {"redis://old:1": "redis://new:2"}
    assert wanted(file, {"somebody": "else"}) == told
    file.write_text("- no\n")
    assert wanted(file, told) == {
        **told,
        mirrors.TROUBLE: f"{file}: it is no table of mirrors; the mirrors stay as they were",
    }
    file.unlink()
    assert wanted(file, told) == {}


def test_passwords_in_a_table_stay_with_the_machine() -> None:
    table = parsed("redis://me:word@old:1: redis://:word@new:2")
    assert mirrored("redis://old:1/0", table) == "redis://:word@new:2/0"
    assert without_secrets(table) == {"redis://old:1": "redis://new:2"}


SECRET = {"name": b"fs", "storage": b"redis", "bucket": b"redis://old:1/1\n", "metaurl": b"redis://old:1/0"}


@pytest.mark.parametrize(
    "table, changed",
    [
        ({}, {}),
        ({"redis://other": "redis://new"}, {}),
        (
            {"redis://old:1": "redis://new:2"},
            {"metaurl": b"redis://new:2/0", "bucket": b"redis://new:2/1", "storage": b"redis"},
        ),
        (
            {"redis://old:1": "redis://me:wo%2Frd@new:2"},
            {
                "metaurl": b"redis://me:wo%2Frd@new:2/0", "bucket": b"redis://new:2/1", "storage": b"redis",
                "access-key": b"me", "secret-key": b"wo/rd",
            },
        ),
        (
            {"redis://old:1/0": "sqlite3:///here/meta.db", "redis://old:1/1": "file:///here/my%20objects"},
            {"metaurl": b"sqlite3:///here/meta.db", "bucket": b"/here/my objects/", "storage": b"file"},
        ),
        (
            {"redis://old:1/1": "s3://127.0.0.1:9000/objs"},
            {"bucket": b"http://127.0.0.1:9000/objs", "storage": b"s3"},
        ),
        ({"redis://old:1/1": "https://b.example.com"}, {"bucket": b"https://b.example.com"}),
    ],
)  # fmt: skip
def test_a_file_system_is_where_its_mirrors_say(table: dict[str, str], changed: dict[str, bytes]) -> None:
    assert juicefsmirrors.mirrored(SECRET, table) == {**SECRET, **changed}


def the_table(said: object, **more: str) -> ConfigMap:
    about = {"name": mirrors.NAME, "namespace": mirrors.NAMESPACE}
    return ConfigMap.read({"metadata": about, "data": {mirrors.KEY: yaml.safe_dump(said), **more}})


def look(data: SampleSet, table: ConfigMap) -> Decision:
    answers = a_runtime_reports(phase="Idle")
    return sampleset.reconcile(
        data, seen(data, a_claim(), the_runtimes(), related=[a_runtime(), table], answers=answers)
    )


def folders(decision: Decision) -> list[str]:
    [runtime] = [child for child in decision.children if isinstance(child, StatefulSet)]
    volumes = runtime.spec["template"]["spec"]["volumes"]
    return [v["hostPath"]["path"] for v in volumes if v["name"] == "source"]


def test_a_set_is_copied_from_the_mirror_of_its_source_and_says_so() -> None:
    data = a_data_set(source={"uri": f"{PUBLIC}/imagenet/demo"})
    decision = look(data, the_table({PUBLIC: "file:///data/public"}))

    assert json.loads(decision.calls[0].body) == {"source": "file:///data/public/imagenet/demo"}
    assert folders(decision) == ["/data/public"], "jobs on the set may read more of the mirror"
    [note] = [n for n in decision.notes if n.reason == "Mirror"]
    assert note.message == f"{PUBLIC}/imagenet/demo is read from its mirror file:///data/public/imagenet/demo"
    again = look(with_stored(data, decision), the_table({PUBLIC: "file:///data/public"}))
    assert "Mirror" not in [n.reason for n in again.notes] and again.calls == decision.calls


def test_another_mirror_is_another_copy() -> None:
    data = a_data_set(source={"uri": PUBLIC})
    before = look(data, the_table({PUBLIC: "file:///one"}))
    after = look(with_stored(data, before), the_table({PUBLIC: "file:///two"}))

    assert [c.id for c in before.calls] != [c.id for c in after.calls]
    assert (folders(before), folders(after)) == (["/one"], ["/two"])


@pytest.mark.parametrize(
    "table, words",
    [
        (the_table({}, trouble="h/mirrors.yaml: line 2 is no YAML"), "h/mirrors.yaml: line 2 is no YAML"),
        (the_table(["x"]), "the ConfigMap mirrors in namespace paddlecloud: it is no table of mirrors"),
    ],
)
def test_a_table_in_trouble_is_told_and_read_as_far_as_it_is_one(table: ConfigMap, words: str) -> None:
    decision = look(a_data_set(), table)

    assert [(n.reason, n.message) for n in decision.asides] == [("Mirrors", words)]
    assert json.loads(decision.calls[0].body) == {"source": "file:///data/digits"}


@pytest.mark.parametrize("namespace", ["default", "ml"])
def test_a_map_of_that_name_elsewhere_is_none(namespace: str) -> None:
    table = the_table({PUBLIC: "file:///x"})
    foreign = table.but(metadata=table.metadata.but(namespace=namespace))
    data = a_data_set(source={"uri": f"{PUBLIC}/a"})

    assert json.loads(look(data, foreign).calls[0].body) == {"source": f"{PUBLIC}/a"}


def a_sync(source: str) -> SampleJob:
    spec = {"type": "sync", "sampleSetRef": {"name": "digits"}, "syncOptions": {"source": source}}
    return SampleJob.read({"metadata": {"name": "it", "namespace": "ml", "uid": "u"}, "spec": spec})


def decide(job: SampleJob, own: str, table: ConfigMap) -> Decision:
    parts = {"cacheStatus": {"partitions": [{"name": "digits-runtime-0", "node": "node-0"}]}}
    data = a_data_set("Ready", source={"uri": own}, status={"engine": "local", **parts})
    answers: Any = a_runtime_reports(phase="Synced")
    return samplejob.reconcile(job, seen(job, related=[data, a_runtime(), table], answers=answers))


def test_a_job_reads_the_mirror_too_under_a_name_that_does_not_depend_on_it() -> None:
    job = a_sync(f"{PUBLIC}/imagenet")
    one = decide(job, f"{PUBLIC}/imagenet/demo", the_table({PUBLIC: "file:///data/public"}))
    two = decide(job, f"{PUBLIC}/imagenet/demo", the_table({PUBLIC: "s3://127.0.0.1:9000/p"}))

    assert [json.loads(d.calls[0].body)["source"] for d in (one, two)] == [
        "file:///data/public/imagenet", "s3://127.0.0.1:9000/p/imagenet",
    ]  # fmt: skip
    assert one.calls[0].id == two.calls[0].id


@pytest.mark.parametrize(
    "source, own, words",
    [
        ("file:///data/a/b", "file:///data/a", ""),
        ("file:///data/a/", "file:///data/a/", ""),
        ("s3://b/x", "file:///data/a", ""),
        ("pvc://claim/b", "pvc://claim/a", ""),
        ("pvc://other/a", "pvc://claim/a", "see no claim other"),
        ("file:///data/b", "file:///data/a", "see only file:///data/a, not file:///data/b"),
        ("file:///data/b", "s3://bucket/x", "see no folder of their node, not file:///data/b"),
    ],
)
def test_a_folder_that_the_runtimes_do_not_see_is_refused_in_words(source: str, own: str, words: str) -> None:
    decision = decide(a_sync(source), own, the_table({}))

    if words:
        assert words in condition_of(decision, "Failed").message and not decision.calls
    else:
        assert len(decision.calls) == 1


def test_the_root_of_an_address_is_the_whole_mirror() -> None:
    table = {"bos://a": "file:///data", "bos://b": "file:///data/deep"}
    assert root_of("file:///data/deep/x", table) == "file:///data"
    assert root_of("file:///elsewhere", table) == "file:///elsewhere"
    assert Mirrors(table).of("bos://b/x") == "file:///data/deep/x"


def test_containers_are_told_of_the_mirrors_of_downloads_only() -> None:
    table = {"https://models.example.org": "http://files.default.svc:8000", PUBLIC: "s3://here/all"}
    heard_of = heard(told(table))

    assert heard_of == {"https://models.example.org": "http://files.default.svc:8000"}
    assert (
        mirrored("https://models.example.org/a/b.tar.gz", heard_of)
        == "http://files.default.svc:8000/a/b.tar.gz"
    )
    assert told({PUBLIC: "s3://here/all"}) == {} and heard({}) == {}

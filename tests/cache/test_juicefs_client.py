"""What the client is told, what it says, and where secrets go: tables, and programs in its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cache.juicefs_stage import Course

from paddlecloud.cache.engine import Amount, Cancelled, Keys, SyncWish, Unfit
from paddlecloud.cache.juicefs import secrets, syncing
from paddlecloud.cache.juicefs.client import Call, Client, cause, way_out
from paddlecloud.errors import Failed

HEAD = "2026/11/16 14:40:25.187275 juicefs[25003]"


@pytest.mark.parametrize(
    "url, bare, password",
    [
        ("sqlite3:///x/meta.db", "sqlite3:///x/meta.db", ""),
        ("redis://127.0.0.1:6379/1\n", "redis://127.0.0.1:6379/1", ""),
        ("redis://:word@h:6379/1", "redis://h:6379/1", "word"),
        ("redis://me:p%40ss@h/1", "redis://me:@h/1", "p@ss"),
        ("rediss://me:a:b@h/1?insecure=1", "rediss://me:@h/1?insecure=1", "a:b"),
        ("mysql://me:p@ss%40@(h:3306)/db", "mysql://me:@(h:3306)/db", "p@ss%40"),
        ("postgres://me@h/db", "postgres://me@h/db", ""),
        ("postgres://me:@h/db", "postgres://me:@h/db", ""),
        ("tikv://a:1,b:2/x", "tikv://a:1,b:2/x", ""),
    ],
)
def test_the_password_of_the_metadata_leaves_its_address(url: str, bare: str, password: str) -> None:
    assert secrets.metadata(url) == (bare, {"META_PASSWORD": password} if password else {})


@pytest.mark.parametrize("url", ["plain", "etcd://u:xyz@h", "redis://:x?xyz@h", "mysql://u@h?password=xyz"])
def test_a_password_that_would_be_shown_is_refused(url: str) -> None:
    with pytest.raises(Unfit) as caught:
        secrets.metadata(url)
    assert "xyz" not in str(caught.value)


@pytest.mark.parametrize(
    "url, refused",
    [
        ("s3://ak:sk@bucket/x", True),
        ("s3://ak:s/k@bucket/x", True),
        ("s3://ak:s?k@bucket/x", True),
        ("s3://bucket/a:b@c/x", False),
        ("hdfs://me@a:8020,b:8020/x", False),
        ("hdfs://a:8020,b:8020/x", False),
        ("minio://[::1]:9000/x", False),
        ("file:///a:b@c", False),
    ],
)
def test_keys_in_the_address_of_a_source_are_refused(url: str, refused: bool) -> None:
    try:
        assert secrets.source(url, None) == {} and not refused
    except Unfit as error:
        assert refused and "has keys in it" in str(error)


@pytest.mark.parametrize(
    "scheme, names",
    [
        ("bos", "BDCLOUD_ACCESS_KEY BDCLOUD_SECRET_KEY"),
        ("s3", "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY"),
        ("MINIO", "MINIO_ACCESS_KEY MINIO_SECRET_KEY"),
    ],
)
def test_keys_of_a_source_become_variables_and_no_arguments(scheme: str, names: str, tmp_path: Path) -> None:
    call = syncing.call_of(SyncWish(f"{scheme}://host/b/x", Keys("who", "word")), tmp_path)
    assert call.secrets == dict(zip(names.split(), ("who", "word"), strict=True))
    assert not any("word" in text or "who" in text for text in (*call.arguments, repr(call)))


def test_every_wish_becomes_its_flag_and_both_ends_are_folders(tmp_path: Path) -> None:
    wish = SyncWish(
        "s3://host/b//", start="a", end="z", threads=3, update=True, force_update=True, perms=True, dirs=True,
        dry=True, delete_src=True, delete_dst=True, exclude="*.x", include="k*", bwlimit=9, no_https=True,
    )  # fmt: skip
    assert syncing.call_of(wish, tmp_path).arguments == (
        "sync", "--metrics=127.0.0.1:0", "--update", "--force-update", "--perms", "--dirs", "--dry",
        "--delete-src", "--delete-dst", "--no-https", "--start=a", "--end=z", "--threads=3", "--exclude=*.x",
        "--include=k*", "--bwlimit=9", "s3://host/b/", f"{tmp_path}/",
    )  # fmt: skip


def test_numbers_of_a_sync_under_way() -> None:
    text = "\n".join(
        f'juicefs_sync_{name}{{cmd="sync",pid="1"}} {value}'
        for name, value in {"copied": 2, "copied_bytes": "4.5e+07", "skipped": 1, "scanned": 9}.items()
    )
    assert syncing.amount_of(text) == Amount(3, 45_000_000, 9, 0)


@pytest.mark.parametrize(
    "text, words, step",
    [
        ("", "it said nothing", ""),
        ("odd\n", "odd", ""),
        (f"{HEAD} <ERROR>: one [f@a.go:1]\n{HEAD} <FATAL>: two [m@b.go:2]\n{HEAD} <INFO>: three", "two", ""),
        (f"{HEAD} <FATAL>: NoSuchBucket: x [m@b.go:2]", "NoSuchBucket: x", "create the bucket"),
        (f"{HEAD} <FATAL>: NOAUTH y [m@b.go:2]", "NOAUTH y", "keys in the Secret"),
        (f"{HEAD} <ERROR>: dial tcp: no such host", "dial tcp: no such host", "check the address"),
        (f"{HEAD} <FATAL>: write: no space left on device", "write: no space left on device", "free space"),
        (f"{HEAD} <FATAL>: failed to handle 2 objects", "failed to handle 2 objects", ""),
        (
            f"{HEAD} <ERROR>: copy a: close a: input/output error [w@s.go:1]\n{HEAD} <INFO>: Found: 2\n"
            f"{HEAD} <FATAL>: failed to handle 1 objects [m@b.go:2]",
            "failed to handle 1 objects: copy a: close a: input/output error",
            "the store of the file system",
        ),
    ],
)
def test_a_complaint_becomes_a_cause_and_a_way_out(text: str, words: str, step: str) -> None:
    assert cause(text) == words
    assert step in way_out(text) and bool(step) == bool(way_out(text))


def a_program(folder: Path, text: str) -> Client:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return Client(path)


def test_what_is_secret_is_taken_out_of_what_the_client_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINIO_SECRET_KEY", "of somebody else")
    client = a_program(tmp_path, 'echo "$1 $WORD $LONGER $MINIO_SECRET_KEY"; exit 1')
    with pytest.raises(Failed, match=r"juicefs format failed: format … …$"):
        client.carry_out(Call(("format",), {"WORD": "abc", "LONGER": "abcdef"}))


def test_a_call_that_takes_too_long_is_given_up_with_its_last_words(tmp_path: Path) -> None:
    client = a_program(tmp_path, "echo trying; exec sleep 60")
    with pytest.raises(Failed, match=r"juicefs mount was given up after 0 s: trying"):
        client.carry_out(Call(("mount",), patience=0.4))


def test_a_call_ends_with_whoever_asked_for_it(tmp_path: Path) -> None:
    course = Course(cancelled_after=1)
    client = a_program(tmp_path, "echo $$; exec sleep 60")
    said: list[str] = []

    def tick(text: str) -> None:
        said.append(text)
        if text:
            course.check()

    with pytest.raises(Cancelled):
        client.run("sync", tick=tick)
    assert not Path(f"/proc/{int(said[-1])}").exists()

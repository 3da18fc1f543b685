"""What a store may forget: a table of what is there, how old it is, and who uses it."""

from datetime import UTC, datetime, timedelta

import pytest

from paddlecloud.api.model import ModelVersion
from paddlecloud.models.garbage import GRACE, Living, garbage
from paddlecloud.models.keys import blob_key, manifest_key, push_key
from paddlecloud.models.objects import Item
from paddlecloud.sdk.modelgarbage import living

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
USED, UNUSED, PUSHED = "aa" * 32, "bb" * 32, "cc" * 32
WAITED, FRESH, OLD = "dd" * 32, "ee" * 32, "ff" * 32
IN_USE = Living(frozenset({USED}), frozenset({("m", "m-1"), ("m", "m-1.serving")}), frozenset({WAITED}))
NAMES = {push_key(WAITED): [PUSHED], push_key(FRESH): [], push_key(OLD): [UNUSED]}


@pytest.mark.parametrize(
    "key, young, goes",
    [
        (blob_key(USED), False, False),
        (blob_key(UNUSED), False, True),
        (blob_key(UNUSED), True, False),  # a push brings its files before anybody knows of it
        (blob_key(PUSHED), False, False),  # of a version that is not Ready yet
        (manifest_key("m", "m-1"), False, False),
        (manifest_key("m", "m-1.serving"), False, False),
        (manifest_key("m", "m-2"), False, True),
        (push_key(WAITED), False, False),
        (push_key(FRESH), True, False),
        (push_key(OLD), False, True),
        ("tmp/x", False, True),
        ("tmp/x", True, False),
        ("notes.txt", False, False),  # not ours
        ("blobs/sha256/zz/readme", False, False),
    ],
)
def test_what_goes(key: str, young: bool, goes: bool) -> None:
    age = timedelta(0) if young else GRACE
    others = [Item(k, 1, NOW - GRACE) for k in (push_key(WAITED), push_key(OLD)) if k != key]
    found = garbage([Item(key, 1, NOW - age), *others], IN_USE, NAMES.__getitem__, NOW)

    assert (key in [i.key for i in found]) is goes


def test_what_a_fresh_push_names_stays() -> None:
    items = [Item(blob_key(UNUSED), 1, NOW - GRACE), Item(push_key(OLD), 1, NOW)]
    assert garbage(items, IN_USE, NAMES.__getitem__, NOW) == []


def test_what_the_versions_of_a_namespace_use() -> None:
    files = [{"path": "a", "size": 1, "sha256": USED}]
    converted = {"format": "serving", "files": [{"path": "b", "size": 1, "sha256": PUSHED}]}
    versions = [
        a_version("m-1", {"phase": "Ready", "files": files, "conversions": [converted]}),
        a_version("m-2", {"phase": "Uploading"}),
        a_version("m-3", {"phase": "Failed"}),
    ]
    found = living(versions)

    assert found.files == {USED, PUSHED}
    assert found.manifests == {("m", "m-1"), ("m", "m-1.serving"), ("m", "m-2"), ("m", "m-3")}
    assert found.pushes == {"m-2", "m-3"}


def a_version(name: str, status: object) -> ModelVersion:
    spec = {"model": "m", "source": {"uri": f"push:sha256:{name}"}}
    return ModelVersion.read({"metadata": {"name": name}, "spec": spec, "status": status})

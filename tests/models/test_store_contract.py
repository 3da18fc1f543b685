"""What every store promises, tried on a folder and on a bucket of a real S3 server."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.cache.sources_of_others import KEYS, free_port, s3

from paddlecloud.errors import Conflict, Failed, NotFound
from paddlecloud.models import bucketstore
from paddlecloud.models.bucketstore import BucketStore
from paddlecloud.models.fetch import fetch
from paddlecloud.models.keys import blob_key
from paddlecloud.models.objects import Blob, ObjectStore
from paddlecloud.models.opening import ACCESS, SECRET, store_at
from paddlecloud.models.upload import Upload, upload

VARIABLES = {ACCESS: KEYS.access, SECRET: f"{KEYS.secret}\n"}


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home, buckets = tmp_path_factory.mktemp("s3"), tmp_path_factory.mktemp("buckets")
    with s3(home, buckets) as host:
        yield f"http://{host}"


@pytest.fixture(params=["folder", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "folder":
        return store_at((tmp_path / "my objects").as_uri())
    endpoint = request.getfixturevalue("endpoint")
    return store_at(f"s3://model-center/{tmp_path.name}?endpoint={endpoint}&secret=x", VARIABLES)


@pytest.fixture
def bucket(endpoint: str, tmp_path: Path) -> BucketStore:
    store = store_at(f"s3://model-center/{tmp_path.name}?endpoint={endpoint}", VARIABLES)
    assert isinstance(store, BucketStore)
    return store


def a_file(folder: Path, content: bytes) -> tuple[Path, Blob]:
    path = folder / "file"
    path.write_bytes(content)
    return path, Blob(hashlib.sha256(content).hexdigest(), len(content))


def test_what_was_put_is_read(store: ObjectStore, tmp_path: Path) -> None:
    path, blob = a_file(tmp_path, b"weights")
    moved: list[int] = []

    assert not store.has(blob.sha256)
    assert store.put(path, moved.append) == blob and sum(moved) == 7
    assert store.has(blob.sha256)
    with store.open(blob.sha256) as file:
        assert file.read() == b"weights"


def test_what_is_there_is_counted_and_not_kept_twice(store: ObjectStore, tmp_path: Path) -> None:
    path, blob = a_file(tmp_path, b"same")
    store.put(path, lambda _: None)
    moved: list[int] = []
    store.put(path, moved.append)

    assert sum(moved) == 4
    assert [(i.key, i.size) for i in store.items("blobs/")] == [(blob_key(blob.sha256), 4)]


def test_an_empty_file_is_a_file(store: ObjectStore, tmp_path: Path) -> None:
    path, blob = a_file(tmp_path, b"")
    assert store.put(path, lambda _: None) == blob
    with store.open(blob.sha256) as file:
        assert file.read() == b""


def test_what_is_missing_is_not_found(store: ObjectStore) -> None:
    with pytest.raises(NotFound):
        store.open("0" * 64)
    with pytest.raises(NotFound):
        store.read("models/m/v.json")
    store.remove("models/m/v.json")
    assert list(store.items("")) == []


def test_a_document_is_written_once(store: ObjectStore) -> None:
    store.write("models/m/v.json", b"one")
    store.write("models/m/v.json", b"one")
    with pytest.raises(Conflict):
        store.write("models/m/v.json", b"two")
    assert store.read("models/m/v.json") == b"one"


def test_items_have_a_size_and_a_time_until_they_are_removed(store: ObjectStore) -> None:
    store.write("models/m/v.json", b"one")
    store.write("pushes/x.json", b"three")

    (item,) = store.items("pushes/")
    assert (item.key, item.size) == ("pushes/x.json", 5)
    assert abs(datetime.now(UTC) - item.modified) < timedelta(minutes=5)
    store.remove(item.key)
    assert [i.key for i in store.items("") if not i.key.startswith("tmp/")] == ["models/m/v.json"]


def test_a_version_goes_up_and_comes_back(store: ObjectStore, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "ü x.bin").write_bytes(b"odd name")
    (source / "model.json").write_text("program")
    made = upload(Upload("m", "m-1", source), store, lambda _: None)

    assert fetch(store, "m", "m-1", tmp_path / "out") == made
    assert (tmp_path / "out" / "sub" / "ü x.bin").read_bytes() == b"odd name"


def test_a_file_that_changes_on_the_way_is_refused(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = a_file(tmp_path, b"before")
    original = type(store).put

    class Growing(type(path)):  # type: ignore[misc]
        opened = 0

        def open(self, *args: object, **more: object) -> object:
            Growing.opened += 1
            if Growing.opened == 2:
                path.write_bytes(b"after!")
            return super().open(*args, **more)

    with pytest.raises(Failed, match="changed during the upload"):
        original(store, Growing(path), lambda _: None)


def test_large_files_go_in_parts(
    bucket: BucketStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bucketstore, "PART", 5 << 20)
    content = os.urandom(12 << 20)
    path, blob = a_file(tmp_path, content)
    moved: list[int] = []

    assert bucket.put(path, moved.append) == blob
    assert moved == [5 << 20, 5 << 20, 2 << 20]
    with bucket.open(blob.sha256) as file:
        assert hashlib.sha256(file.read()).hexdigest() == blob.sha256


def test_parts_that_arrived_before_a_crash_are_not_sent_again(
    bucket: BucketStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bucketstore, "PART", 5 << 20)
    path, blob = a_file(tmp_path, os.urandom(12 << 20))

    def crash(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bucket.put(path, crash)
    assert not bucket.has(blob.sha256), "a reader sees nothing of it"

    asked = Counted(bucket)
    bucket.put(path, lambda _: None)
    assert asked.parts == [2, 3]
    assert bucket.has(blob.sha256)


class Counted:
    """Which parts are sent."""

    def __init__(self, store: BucketStore) -> None:
        self.parts: list[int] = []
        ask = store._requests.ask

        def asked(method: str, url: str, *body: object) -> object:
            if method == "PUT" and "partNumber=" in url:
                self.parts.append(int(url.partition("partNumber=")[2].partition("&")[0]))
            return ask(method, url, *body)  # type: ignore[arg-type]

        store._requests.ask = asked  # type: ignore[method-assign,assignment]


def test_a_store_that_is_away_is_a_sentence(tmp_path: Path) -> None:
    store = store_at(f"s3://b/p?endpoint=http://127.0.0.1:{free_port()}", VARIABLES)
    with pytest.raises(Failed, match="cannot be reached: Connection refused"):
        store.read("models/m/v.json")


def test_wrong_keys_are_a_sentence_without_them(endpoint: str) -> None:
    store = store_at(f"s3://b/p?endpoint={endpoint}", {ACCESS: "admin", SECRET: "wrong-one"})
    with pytest.raises(Failed, match="refuses these keys") as told:
        store.write("models/m/v.json", b"x")
    assert "wrong-one" not in str(told.value)

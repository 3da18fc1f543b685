"""The engine juicefs on a real file system: what is brought, counted, near, dropped and removed."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cache import sources_of_others as others
from tests.cache.juicefs_stage import Course, a_source, client_or_skip, mounted

from paddlecloud.cache.engine import Cancelled, Changes, Keys, SyncWish, Unfit
from paddlecloud.cache.juicefs.client import Client
from paddlecloud.cache.juicefs.engine import JuicefsEngine
from paddlecloud.errors import Failed

FILES = {
    "a/one": b"1" * 3000,
    "a/two words": b"2" * 200,
    'b/quote\'s "x"': b"3" * 10,
    "b/line\nbreak": b"4" * 20,
    "ü/naïve.txt": b"5" * 30,
    "empty": b"",
    **{f"many/{i}": b"x" * 100 for i in range(40)},
}
SIZE = sum(map(len, FILES.values()))
# Nothing of an empty file can be near.
SECRET = "not-for-other-eyes"


@pytest.fixture(scope="module")
def client() -> Client:
    return client_or_skip()


@pytest.fixture(scope="module")
def engine(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JuicefsEngine]:
    with mounted(client, tmp_path_factory.mktemp("fs")) as engine:
        yield engine


@pytest.fixture
def filled(engine: JuicefsEngine, tmp_path: Path) -> JuicefsEngine:
    """The engine with exactly `FILES` in it, all of them near."""
    wish = SyncWish(a_source(tmp_path / "source", FILES), delete_dst=True)
    engine.sync(wish, Course())
    engine.warm(None, 4, Course())
    return engine


def contents(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_what_the_client_shows_of_itself_is_no_file_of_a_set(client: Client, tmp_path: Path) -> None:
    """Drivers of clusters mount like that; what is deleted along with the source is the user's alone, too."""
    with mounted(client, tmp_path / "shown", "--hide-internal=false") as engine:
        assert (engine.data / ".config").exists() and ".config" in os.listdir(engine.data)
        assert engine.holding().total_files == 0
        engine.sync(SyncWish(a_source(tmp_path / "source", FILES), delete_dst=True), Course())
        (tmp_path / "source" / "new").write_bytes(b"n")
        done = engine.sync(SyncWish(a_source(tmp_path / "source", {}), delete_dst=True), Course())

        assert (done.copied, done.deleted, done.files) == (1, 0, len(FILES) + 1)
        assert engine.files() == sorted({*FILES, "new"})


def test_a_source_is_brought_whole_and_only_what_changed_is_brought_again(
    engine: JuicefsEngine, tmp_path: Path
) -> None:
    source = a_source(tmp_path / "source", FILES)
    course = Course()
    engine.sync(SyncWish(source, delete_dst=True), course)
    assert contents(engine.data) == FILES
    assert (course.amounts[-1].files, course.amounts[-1].bytes) == (len(FILES), SIZE)
    a_source(tmp_path / "source", {"a/one": b"changed", "new": b"n"})
    (tmp_path / "source" / "empty").unlink()
    done = engine.sync(SyncWish(source, delete_dst=True), Course())
    now = FILES | {"a/one": b"changed", "new": b"n"}
    del now["empty"]
    assert contents(engine.data) == now
    assert (done.copied, done.skipped, done.deleted) == (2, len(FILES) - 2, 1)


def test_the_folder_lists_the_users_files_and_nothing_of_the_client(filled: JuicefsEngine) -> None:
    assert {name for name in os.listdir(filled.data)} == {name.split("/")[0] for name in FILES}


def test_a_destination_takes_the_files_below_it(filled: JuicefsEngine, tmp_path: Path) -> None:
    filled.sync(SyncWish(a_source(tmp_path / "s", {"f": b"f"}), destination="/deep/er"), Course())
    assert (filled.data / "deep/er/f").read_bytes() == b"f"
    assert filled.holding().total_files == len(FILES) + 1


def test_what_is_near_is_counted_by_the_byte_through_clear_and_warm(filled: JuicefsEngine) -> None:
    assert (held := filled.holding()).total_bytes == held.cached_bytes == SIZE
    assert held.total_files == held.cached_files == len(FILES)
    assert held.disk_size >= held.disk_used > 0 and held.disk_avail > 0
    filled.clear(["a"], Course())
    assert filled.holding().cached_bytes == SIZE - 3200
    filled.clear([], Course())
    assert (held := filled.holding()).cached_bytes == held.cached_files == 0
    assert held.total_bytes == SIZE
    course = Course()
    # Twice the same, as a sampler that fills up its last batch has it.
    names = ["a/one", "b/line\nbreak", 'b/quote\'s "x"', "a/one"]
    assert filled.warm(names, 2, course).files == 4
    assert filled.holding().cached_bytes == 3030
    assert course.amounts[-1].bytes == course.amounts[-1].total_bytes == 6030


def test_removing_takes_the_data_and_leaves_the_rest(filled: JuicefsEngine) -> None:
    assert filled.remove(["many", "/many/3", "a/two words"], Course()).deleted == 41
    assert contents(filled.data) == {
        name: data for name, data in FILES.items() if not name.startswith("many") and name != "a/two words"
    }
    filled.remove(["/"], Course())
    assert os.listdir(filled.data) == [] and filled.holding().total_files == 0


def test_a_file_that_went_missing_after_the_sync_is_seen(filled: JuicefsEngine) -> None:
    found = filled.verify(Course())
    assert (found.files, found.bytes, found.revision) == (len(FILES), SIZE, filled.holding().revision)
    (filled.data / "a/one").unlink()
    with pytest.raises(Failed, match=f"{len(FILES)} files with .* and there are {len(FILES) - 1} files"):
        filled.verify(Course())
    assert filled.holding().total_files == len(FILES) - 1


def test_a_file_that_was_changed_by_hand_is_seen_though_it_is_as_long_as_before(
    filled: JuicefsEngine,
) -> None:
    before = filled.holding().revision
    assert before and filled.verify(Course()).revision == before
    (filled.data / "a/one").write_bytes(b"9" * 3000)
    with pytest.raises(Failed, match="changed since they were synced"):
        filled.verify(Course())


def test_a_source_that_changed_is_seen_and_nothing_of_it_is_brought(
    filled: JuicefsEngine, tmp_path: Path
) -> None:
    wish = SyncWish(f"file://{tmp_path}/source")
    assert filled.compare(wish, Course()) == Changes()
    (tmp_path / "source" / "fresh").write_bytes(b"new")
    assert filled.compare(wish, Course()) == Changes(changed=1)
    assert not (filled.data / "fresh").exists()


@pytest.mark.parametrize("path", ["../x", "a/../../x", "out/x", "a\0b"])
def test_no_path_leads_out_of_the_set(engine: JuicefsEngine, tmp_path: Path, path: str) -> None:
    (tmp_path / "x").write_text("kept")
    out = engine.data / "out"
    out.symlink_to(tmp_path)
    calls: list[Callable[[], object]] = [
        lambda: engine.remove([path], Course()),
        lambda: engine.clear([path], Course()),
        lambda: engine.warm([path], 1, Course()),
        lambda: engine.sync(SyncWish(f"file://{tmp_path}", destination=path), Course()),
    ]
    for call in calls:
        with pytest.raises(Unfit, match="leads out of the set"):
            call()
    out.unlink()
    assert (tmp_path / "x").read_text() == "kept"


def test_a_cancelled_sync_ends_its_process_and_goes_on_when_called_again(
    engine: JuicefsEngine, tmp_path: Path
) -> None:
    source = a_source(tmp_path / "source", {"big": os.urandom(8_000_000), "small": b"s"})
    slow = SyncWish(source, delete_dst=True, bwlimit=8)
    course = Course(cancelled_after=8)
    began = time.monotonic()
    with pytest.raises(Cancelled):
        engine.sync(slow, course)
    assert time.monotonic() - began < 6
    assert str(tmp_path) not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert engine.sync(SyncWish(source, delete_dst=True), Course()).files == 2


@pytest.mark.parametrize(
    "source, keys, error, why",
    [
        ("file:///does/not/exist", None, Failed, "does not exist"),
        ("minio://127.0.0.1:1/bucket/", Keys("me", SECRET), Failed, "refused"),
        ("webdav://127.0.0.1:1/x", Keys("me", SECRET), Failed, "127.0.0.1:1 cannot be reached"),
        ("swift://127.0.0.1:1/x", Keys("me", SECRET), Unfit, "every user of the machine"),
        (f"s3://me:{SECRET}@bucket.example/x", None, Unfit, "has keys in it"),
        ("no address", None, Unfit, "form scheme://"),
        ("--help", None, Unfit, "not an address"),
    ],
)
def test_a_source_that_cannot_be_brought_is_told_in_words_without_its_keys(
    engine: JuicefsEngine, source: str, keys: Keys | None, error: type[Failed], why: str
) -> None:
    with pytest.raises(error, match=why) as caught:
        engine.sync(SyncWish(source, keys), Course())
    assert SECRET not in str(caught.value) and (error is Failed or type(caught.value) is Unfit)


def test_a_source_without_files_is_no_success(engine: JuicefsEngine, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    with pytest.raises(Failed, match="has no files"):
        engine.sync(SyncWish(f"file://{tmp_path}/source"), Course())


def test_a_cache_too_small_for_what_is_warmed_is_no_success(client: Client, tmp_path: Path) -> None:
    source = a_source(tmp_path / "source", {str(i): os.urandom(1_000_000) for i in range(6)})
    with mounted(client, tmp_path / "fs", "--cache-size=2") as engine:
        engine.sync(SyncWish(source), Course())
        with pytest.raises(Failed, match=r"the cache holds .* that were to be warmed"):
            engine.warm(None, 2, Course())


def test_a_folder_without_a_mount_is_told(client: Client, tmp_path: Path) -> None:
    with pytest.raises(Failed, match="no JuiceFS file system is mounted"):
        JuicefsEngine(client, tmp_path, tmp_path / "state").holding()


def test_what_the_client_cannot_read_or_not_in_secret_is_read_for_it(
    engine: JuicefsEngine, tmp_path: Path
) -> None:
    (tmp_path / "www").mkdir()
    with zipfile.ZipFile(tmp_path / "www" / "set.zip", "w") as packed:
        packed.writestr("one/a b.txt", "aa")
    with others.http(tmp_path / "www") as at:
        wish = SyncWish(f"{at}/set.zip", destination="from http")
        assert engine.sync(wish, Course()).copied == 1
        assert engine.sync(wish, Course()).skipped == 1
        with pytest.raises(Failed, match=r"has no /none\.zip"):
            engine.sync(SyncWish(f"{at}/none.zip"), Course())
    (tmp_path / "redis").mkdir()
    with others.redis(tmp_path / "redis", "pass-word") as host:
        name, _, port = host.partition(":")
        connection = socket.create_connection((name, int(port)), 5)
        connection.sendall(b"AUTH pass-word\r\nSET deep/key value\r\nQUIT\r\n")
        with connection, connection.makefile("rb") as answers:
            assert answers.read() == b"+OK\r\n" * 3
        wish = SyncWish(f"redis://{host}", Keys("", "pass-word"), destination="from redis")
        assert engine.sync(wish, Course()).copied == 1
    assert (engine.data / "from http" / "one" / "a b.txt").read_text() == "aa"
    assert (engine.data / "from redis" / "deep" / "key").read_text() == "value"
    assert not engine.aside.exists()


def test_the_address_of_a_folder_is_unquoted(engine: JuicefsEngine, tmp_path: Path) -> None:
    a_source(tmp_path / "my data ü", {"x": b"1"})
    wish = SyncWish((tmp_path / "my data ü").as_uri(), destination="quoted")
    assert engine.sync(wish, Course()).copied == 1

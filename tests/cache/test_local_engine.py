"""The engine `local` on real folders: what arrives, what is kept, what is noticed, what is refused."""

import os
import shutil
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.cache.runs import Quiet, Recorded

from paddlecloud.cache.engine import Amount, Cancelled, Outcome, SyncWish, Unfit
from paddlecloud.cache.local.engine import LocalEngine
from paddlecloud.errors import Failed

NAMES = ("a.png", "sub/b c.png", 'sub/it\'s "ü"\n.txt')
SIZE = 3003


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    for number, name in enumerate(NAMES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes([number]) * (1000 + number))
    return folder


@pytest.fixture
def engine(tmp_path: Path) -> LocalEngine:
    return LocalEngine(tmp_path / "volume" / "data", tmp_path / "volume" / "index")


def sync(engine: LocalEngine, source: Path, **wish: object) -> Outcome:
    return engine.sync(SyncWish(source.as_uri(), **wish), Quiet())  # type: ignore[arg-type]


def inodes(engine: LocalEngine) -> dict[str, int]:
    return {name: (engine.data / name).stat().st_ino for name in NAMES}


def listed(folder: Path) -> list[str]:
    return sorted(at.relative_to(folder).as_posix() for at in folder.rglob("*") if not at.is_dir())


def damage(file: Path) -> None:
    """Other bytes, same size, same time: only the sum can tell."""
    status = file.stat()
    file.write_bytes(b"\xff" * status.st_size)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_every_file_arrives_and_is_counted(source: Path, engine: LocalEngine) -> None:
    run = Recorded()
    done = engine.sync(SyncWish(source.as_uri()), run)

    assert {n: (engine.data / n).read_bytes() for n in NAMES} == {n: (source / n).read_bytes() for n in NAMES}
    assert (done.files, done.bytes, done.copied, done.skipped) == (3, SIZE, 3, 0)
    assert run.amounts[0] == Amount(0, 0, 3, SIZE) and run.amounts[-1] == Amount(3, SIZE, 3, SIZE)
    held = engine.holding()
    assert (held.total_files, held.total_bytes, held.cached_files, held.cached_bytes) == (3, SIZE, 3, SIZE)
    assert held.revision == done.revision != "" and held.disk_size > 0
    assert listed(engine.data) == sorted(NAMES), "nothing of ours lies in the folder of the user"


def test_what_is_there_is_not_copied_again(source: Path, engine: LocalEngine) -> None:
    first = sync(engine, source)
    before = inodes(engine)

    again = sync(engine, source)
    assert (again.copied, again.skipped, again.revision) == (0, 3, first.revision)
    assert inodes(engine) == before


def test_only_the_changed_file_is_copied(source: Path, engine: LocalEngine) -> None:
    first = sync(engine, source)
    before = inodes(engine)
    (source / "a.png").write_bytes(b"new")

    again = sync(engine, source)
    assert again.revision != first.revision and again.copied == 1
    assert {name for name, inode in inodes(engine).items() if inode != before[name]} == {"a.png"}


def test_a_lost_record_costs_reading_and_no_copies(source: Path, engine: LocalEngine) -> None:
    first = sync(engine, source)
    before = inodes(engine)
    shutil.rmtree(engine.own)

    assert sync(engine, source) == Outcome(3, SIZE, 0, 3, 0, first.revision)
    assert inodes(engine) == before


def test_many_may_look_at_a_volume_that_is_new(tmp_path: Path) -> None:
    for number in range(10):
        engine = LocalEngine(tmp_path / f"{number}" / "data", tmp_path / f"{number}" / "index")
        with ThreadPoolExecutor(4) as pool:
            looks = [pool.submit(engine.holding) for _ in range(8)]
        assert {look.result().total_files for look in looks} == {0}


def test_a_damaged_record_is_begun_anew(source: Path, engine: LocalEngine) -> None:
    first = sync(engine, source)
    for file in engine.own.glob("files.db*"):
        file.write_bytes(b"no database " * 1000)

    assert engine.holding().total_files == 0
    assert sync(engine, source).revision == first.revision


def test_a_record_with_a_damaged_page_is_told_once_and_begun_anew(source: Path, engine: LocalEngine) -> None:
    first = sync(engine, source)
    with (engine.own / "files.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * ((engine.own / "files.db").stat().st_size - 4096))

    with pytest.raises(Failed, match=r"the record of .* cannot be used: .*malformed"):
        engine.holding()
    assert engine.holding().total_files == 0
    again = sync(engine, source)
    assert (again.copied, again.revision) == (0, first.revision)


@pytest.mark.parametrize(
    "harm, sentence",
    [
        (lambda data: (data / "a.png").unlink(), "a.png is missing"),
        (lambda data: damage(data / "a.png"), "a.png is not what was synced"),
        (lambda data: (data / "a.png").write_bytes(b"short"), "a.png is not what was synced"),
        (lambda data: shutil.rmtree(data), "a.png is missing in the volume, and 2 more"),
    ],
)
def test_verifying_names_what_is_wrong_and_the_next_sync_heals_it(
    source: Path, engine: LocalEngine, harm: Callable[[Path], None], sentence: str
) -> None:
    first = sync(engine, source)
    harm(engine.data)

    with pytest.raises(Failed, match=sentence):
        engine.verify(Quiet())
    assert engine.holding().cached_files < 3
    assert sync(engine, source).revision == first.revision
    assert engine.verify(Quiet()).files == 3 and engine.holding().cached_files == 3


@pytest.mark.parametrize(
    "harm, files, size",
    [
        (lambda file: file.unlink(), 2, SIZE - 1000),
        (lambda file: file.write_bytes(bytes(999)), 2, SIZE - 1000),
        (lambda file: os.utime(file, ns=(1, 1)), 2, SIZE - 1000),
        (lambda file: file.chmod(0o600), 3, SIZE),
    ],
)
def test_the_holding_notices_what_was_done_by_hand(
    source: Path, engine: LocalEngine, harm: Callable[[Path], None], files: int, size: int
) -> None:
    sync(engine, source)
    harm(engine.data / "a.png")
    held = engine.holding()
    assert (held.total_files, held.cached_files, held.cached_bytes) == (3, files, size)


def test_a_file_that_was_only_touched_is_trusted_after_it_was_read(source: Path, engine: LocalEngine) -> None:
    sync(engine, source)
    os.utime(engine.data / "a.png", ns=(1, 1))
    engine.verify(Quiet())
    assert engine.holding().cached_files == 3


def test_clear_drops_the_copies_and_warm_brings_them_back(source: Path, engine: LocalEngine) -> None:
    first = sync(engine, source)
    assert engine.clear(["sub"], Quiet()).deleted == 2
    assert (engine.holding().total_bytes, engine.holding().cached_bytes) == (SIZE, 1000)
    assert engine.clear([], Quiet()).deleted == 1
    assert engine.holding().cached_bytes == 0 and engine.holding().revision == first.revision

    one = engine.warm(["sub/b c.png"], 2, Quiet())
    assert (one.files, one.copied) == (1, 1) and engine.holding().cached_bytes == 1001
    rest = engine.warm(None, 2, Quiet())
    assert (rest.files, rest.copied, rest.skipped) == (3, 2, 1)
    assert engine.verify(Quiet()).revision == first.revision


def test_warming_a_file_that_changed_at_the_source_asks_for_a_sync(source: Path, engine: LocalEngine) -> None:
    sync(engine, source)
    engine.clear(["a.png"], Quiet())
    (source / "a.png").write_bytes(b"other")
    with pytest.raises(Failed, match=r"a\.png changed at the source") as raised:
        engine.warm(None, 2, Quiet())
    assert raised.value.next_step == "sync again"


def test_files_put_there_by_hand_are_verified_and_never_dropped(engine: LocalEngine) -> None:
    engine.data.mkdir(parents=True)
    (engine.data / "mine.bin").write_bytes(b"12345")

    done = engine.verify(Quiet())
    assert (done.files, done.bytes) == (1, 5) and done.revision
    assert engine.holding().cached_bytes == 5
    with pytest.raises(Unfit, match="the only one"):
        engine.clear([], Quiet())
    assert (engine.data / "mine.bin").exists()


@pytest.mark.parametrize(
    "paths, left",
    [
        (["a.png"], ["sub/b c.png", 'sub/it\'s "ü"\n.txt']),
        (["sub"], ["a.png"]),
        (["/sub/", "a.png"], []),
        (["sub/b c.png"], ["a.png", 'sub/it\'s "ü"\n.txt']),
        (["."], []),
    ],
)
def test_remove_deletes_from_the_data(
    source: Path, engine: LocalEngine, paths: list[str], left: list[str]
) -> None:
    sync(engine, source)
    engine.remove(paths, Quiet())
    assert listed(engine.data) == left
    assert engine.holding().total_files == len(left) == engine.holding().cached_files


@pytest.mark.parametrize("path", ["..", "../source", "sub/../../source/a.png", "/../source"])
def test_no_path_leaves_the_set(source: Path, engine: LocalEngine, path: str) -> None:
    sync(engine, source)
    for deed in (engine.remove, engine.clear):
        with pytest.raises(Unfit, match="leads out"):
            deed([path], Quiet())
    with pytest.raises(Unfit, match="leads out"):
        engine.warm([path], 1, Quiet())
    with pytest.raises(Unfit, match="leads out"):
        sync(engine, source, destination=path)
    assert len(listed(source)) == 3 == engine.holding().cached_files


def test_a_link_in_the_volume_is_no_way_out(source: Path, engine: LocalEngine, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b c.png").write_text("mine")
    engine.data.mkdir(parents=True)
    (engine.data / "sub").symlink_to(outside)

    with pytest.raises(Unfit, match="behind a link"):
        sync(engine, source)
    with pytest.raises(Unfit, match="behind a link"):
        engine.remove(["sub/b c.png"], Quiet())
    engine.remove(["sub"], Quiet())
    assert (outside / "b c.png").read_text() == "mine" and not (engine.data / "sub").is_symlink()


@pytest.mark.parametrize("what", ["no such", "sub/none"])
def test_an_unknown_path_is_a_sentence(source: Path, engine: LocalEngine, what: str) -> None:
    sync(engine, source)
    for deed in (engine.remove, engine.clear):
        with pytest.raises(Failed, match=f"there is no {what}"):
            deed([what], Quiet())


@pytest.mark.parametrize("delete, left", [(False, ["a.png", "mine", "sub/x"]), (True, ["sub/x"])])
def test_what_the_source_has_not_goes_only_when_asked_to(
    tmp_path: Path, engine: LocalEngine, delete: bool, left: list[str]
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, names in ((first, ("a.png", "sub/x")), (second, ("sub/x",))):
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("x")
    sync(engine, first)
    (engine.data / "mine").write_text("beside")
    assert sync(engine, second, delete_dst=delete).deleted == (2 if delete else 0)
    assert listed(engine.data) == left


def test_what_is_left_out_is_not_deleted_either(source: Path, engine: LocalEngine) -> None:
    sync(engine, source)
    assert sync(engine, source, exclude="^sub/", delete_dst=True).deleted == 0
    assert listed(engine.data) == sorted(NAMES)


def test_a_file_that_neither_side_has_any_more_is_forgotten(source: Path, engine: LocalEngine) -> None:
    sync(engine, source)
    (source / "a.png").unlink()
    (engine.data / "a.png").unlink()
    sync(engine, source)
    assert engine.holding().total_files == 2 == engine.holding().cached_files


def test_files_of_two_sources_come_back_each_from_its_own(
    source: Path, engine: LocalEngine, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "x").write_text("x")
    sync(engine, source)
    sync(engine, other, destination="more")
    engine.clear([], Quiet())
    sync(engine, source)
    assert engine.holding().total_files == 4, "what the other source has is not forgotten"
    engine.clear([], Quiet())
    assert engine.warm(None, 2, Quiet()).copied == 4
    assert (engine.data / "more" / "x").read_text() == "x" and engine.holding().cached_files == 4


def test_a_source_that_moved_is_the_one_that_files_come_back_from(source: Path, engine: LocalEngine) -> None:
    sync(engine, source)
    moved = source.rename(source.with_name("moved"))
    assert sync(engine, moved).copied == 0
    engine.clear([], Quiet())
    assert engine.warm(None, 2, Quiet()).copied == 3


def test_delete_src_empties_the_source_after_the_copy(source: Path, engine: LocalEngine) -> None:
    sync(engine, source, delete_src=True)
    assert listed(source) == [] and listed(engine.data) == sorted(NAMES)
    with pytest.raises(Unfit, match="their copy is the only one"):
        engine.clear([], Quiet())
    (engine.data / "a.png").unlink()
    with pytest.raises(Failed, match=r"a\.png is missing"):
        engine.verify(Quiet())
    with pytest.raises(Failed, match="no source to come back from"):
        engine.warm(None, 2, Quiet())


def test_dry_copies_nothing_and_tells_what_it_would(source: Path, engine: LocalEngine) -> None:
    assert sync(engine, source, dry=True) == Outcome(3, SIZE, 3, 0)
    assert listed(engine.data) == [] and engine.holding().total_files == 0


def test_a_destination_is_a_folder_below_the_root(source: Path, engine: LocalEngine) -> None:
    sync(engine, source, destination="train/one")
    assert listed(engine.data) == [f"train/one/{name}" for name in sorted(NAMES)]
    engine.clear([], Quiet())
    assert engine.warm(None, 2, Quiet()).copied == 3


def test_permissions_and_empty_folders_come_when_asked_for(source: Path, engine: LocalEngine) -> None:
    (source / "a.png").chmod(0o751)
    (source / "empty").mkdir()
    sync(engine, source, perms=True, dirs=True)
    assert stat.S_IMODE((engine.data / "a.png").stat().st_mode) == 0o751
    assert (engine.data / "empty").is_dir()


def test_parts_of_a_sync_that_was_cut_off_go_and_what_was_whole_stays(
    source: Path, engine: LocalEngine
) -> None:
    class Stopping(Quiet):
        def report(self, amount: Amount) -> None:
            if amount.files == 2:
                raise Cancelled("enough")

    with pytest.raises(Cancelled):
        engine.sync(SyncWish(source.as_uri(), threads=1), Stopping())
    whole = listed(engine.data)
    assert engine.holding().revision == "" and len(whole) in (1, 2)
    before = {name: (engine.data / name).stat().st_ino for name in whole}
    sync(engine, source)
    assert {name: (engine.data / name).stat().st_ino for name in whole} == before
    assert not (engine.own / "parts").exists()


@pytest.mark.parametrize(
    "uri, kind, sentence",
    [
        ("file:///no/such/folder", Failed, "does not exist"),
        ("none://bucket/prefix", Unfit, "none:// is no kind of source"),
        ("relative/path", Unfit, "is no kind of source"),
        ("file://elsewhere/data", Unfit, "names no folder"),
        ("s3://key:secret@127.0.0.1:1/bucket", Unfit, "has a password in its address"),
    ],
)
def test_a_source_that_cannot_be_read_is_a_sentence(
    engine: LocalEngine, uri: str, kind: type[Failed], sentence: str
) -> None:
    with pytest.raises(Failed, match=sentence) as raised:
        engine.sync(SyncWish(uri), Quiet())
    assert type(raised.value) is kind and "secret" not in raised.value.message


def test_an_empty_source_is_refused_and_nothing_is_deleted(
    tmp_path: Path, source: Path, engine: LocalEngine
) -> None:
    sync(engine, source)
    (tmp_path / "empty").mkdir()
    with pytest.raises(Failed, match="has no files"):
        sync(engine, tmp_path / "empty", delete_dst=True)
    with pytest.raises(Failed, match="no files that are asked for"):
        sync(engine, source, include="nothing", delete_dst=True)
    assert engine.holding().cached_files == 3


@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_link_out_of_the_source_is_refused(
    source: Path, engine: LocalEngine, tmp_path: Path, target: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    (source / "link").symlink_to(outside if target == "folder" else outside / "secret")

    with pytest.raises(Unfit, match="link"):
        sync(engine, source)
    assert not (engine.data / "link").exists()


def test_a_link_inside_the_source_becomes_a_file(source: Path, engine: LocalEngine) -> None:
    (source / "link.png").symlink_to("a.png")
    sync(engine, source)

    assert not (engine.data / "link.png").is_symlink()
    assert (engine.data / "link.png").read_bytes() == (source / "a.png").read_bytes()


def test_a_volume_in_its_own_source_is_refused(source: Path) -> None:
    with pytest.raises(Unfit, match="own source"):
        sync(LocalEngine(source / "volume", source / "index"), source)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_a_sentence_and_nothing_is_lost(
    source: Path, engine: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(engine, source)
    (source / "new.bin").write_bytes(bytes(5000))
    full, real = os.open("/dev/full", os.O_WRONLY), os.write
    monkeypatch.setattr(os, "write", lambda number, data: real(full if len(data) == 5000 else number, data))
    try:
        with pytest.raises(Failed, match="No space left on device") as raised:
            sync(engine, source)
        assert "free space" in raised.value.next_step
    finally:
        monkeypatch.undo()
        os.close(full)
    assert engine.holding().cached_files == 3
    assert sync(engine, source).copied == 1


def test_a_disk_that_is_too_small_is_told_before_anything_is_copied(
    source: Path, engine: LocalEngine
) -> None:
    with (source / "huge").open("wb") as file:
        file.truncate(1 << 43)
    with pytest.raises(Failed, match=r"need 8\.0 TiB more"):
        sync(engine, source)
    assert listed(engine.data) == []

import os
from pathlib import Path

import pytest

from paddlecloud.cache import index
from paddlecloud.cache.engine import Amount, File, Unfit, revision
from paddlecloud.cache.local import LocalEngine
from paddlecloud.errors import Failed

NAMES = ("a.png", "sub/b c.png", "sub/ü\n.txt")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    for number, name in enumerate(NAMES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes([number]) * (1000 + number))
    return folder


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    (tmp_path / "volume").mkdir()
    return tmp_path / "volume"


def nobody(_: Amount) -> None:
    pass


def sync(source: Path, volume: Path) -> str:
    return LocalEngine(volume).sync(source.as_uri(), nobody).revision


def inodes(volume: Path) -> dict[str, int]:
    return {name: (volume / name).stat().st_ino for name in NAMES}


def test_every_file_arrives_and_is_recorded(source: Path, volume: Path) -> None:
    seen: list[Amount] = []
    contents = LocalEngine(volume).sync(source.as_uri(), seen.append)

    assert {n: (volume / n).read_bytes() for n in NAMES} == {n: (source / n).read_bytes() for n in NAMES}
    assert seen[0] == Amount(0, 0, 3, 3003) and seen[-1] == Amount(3, 3003, 3, 3003)
    recorded = index.read(volume)
    assert recorded is not None and recorded.contents.revision == contents.revision
    assert sorted(os.listdir(volume / ".paddlecloud")) == ["index.json"]


def test_what_is_there_is_not_copied_again(source: Path, volume: Path) -> None:
    first = sync(source, volume)
    before = inodes(volume)

    assert sync(source, volume) == first
    assert inodes(volume) == before


def test_only_the_changed_file_is_copied(source: Path, volume: Path) -> None:
    first = sync(source, volume)
    before = inodes(volume)
    (source / "a.png").write_bytes(b"new")

    assert sync(source, volume) != first
    changed = {name for name, inode in inodes(volume).items() if inode != before[name]}
    assert changed == {"a.png"}


def test_a_file_damaged_behind_its_time_is_replaced(source: Path, volume: Path) -> None:
    first = sync(source, volume)
    damage(volume / "a.png")

    assert sync(source, volume) == first
    assert (volume / "a.png").read_bytes() == (source / "a.png").read_bytes()


def test_nothing_is_removed(source: Path, volume: Path) -> None:
    (volume / "mine.txt").write_text("kept")
    sync(source, volume)
    (source / "a.png").unlink()
    sync(source, volume)

    assert (volume / "mine.txt").exists() and (volume / "a.png").exists()


def test_parts_of_a_sync_that_was_cut_off_go(source: Path, volume: Path) -> None:
    stale = volume / ".paddlecloud" / "parts" / "half"
    stale.parent.mkdir(parents=True)
    stale.write_text("half")
    sync(source, volume)

    assert not stale.exists()


def test_an_error_of_the_report_ends_the_sync_without_a_record(source: Path, volume: Path) -> None:
    def stop(amount: Amount) -> None:
        if amount.files == 1:
            raise InterruptedError

    with pytest.raises((InterruptedError, Failed)):
        LocalEngine(volume).sync(source.as_uri(), stop)
    assert index.read(volume) is None


@pytest.mark.parametrize(
    "harm, sentence",
    [
        (lambda v: (v / "a.png").unlink(), "a.png is missing"),
        (lambda v: damage(v / "a.png"), "a.png is not what was synced"),
    ],
)
def test_verifying_names_the_file_that_is_wrong(
    source: Path, volume: Path, harm: object, sentence: str
) -> None:
    sync(source, volume)
    harm(volume)  # type: ignore[operator]

    with pytest.raises(Failed, match=sentence):
        LocalEngine(volume).verify(nobody)


def test_files_beside_the_recorded_ones_do_not_change_the_revision(source: Path, volume: Path) -> None:
    first = sync(source, volume)
    (volume / "beside.txt").write_text("mine")

    assert LocalEngine(volume).verify(nobody).revision == first


@pytest.mark.parametrize(
    "uri, kind, sentence",
    [
        ("file:///no/such/folder", Failed, "does not exist"),
        ("s3://bucket/prefix", Unfit, "cannot read a source of the form s3://"),
        ("relative/path", Unfit, "cannot read a source of the form path://"),
        ("file://elsewhere/data", Unfit, "cannot read"),
    ],
)
def test_a_source_that_cannot_be_read_is_a_sentence(
    volume: Path, uri: str, kind: type[Failed], sentence: str
) -> None:
    with pytest.raises(Failed, match=sentence) as raised:
        LocalEngine(volume).sync(uri, nobody)
    assert type(raised.value) is kind


def test_an_empty_source_is_refused(tmp_path: Path, volume: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Failed, match="has no files"):
        sync(tmp_path / "empty", volume)


@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_link_out_of_the_source_is_refused(source: Path, volume: Path, tmp_path: Path, target: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    (source / "link").symlink_to(outside if target == "folder" else outside / "secret")

    with pytest.raises(Unfit, match="link"):
        sync(source, volume)
    assert not (volume / "link").exists()


def test_a_link_inside_the_source_becomes_a_file(source: Path, volume: Path) -> None:
    (source / "link.png").symlink_to("a.png")
    sync(source, volume)

    assert not (volume / "link.png").is_symlink()
    assert (volume / "link.png").read_bytes() == (source / "a.png").read_bytes()


def test_a_volume_in_its_own_source_is_refused(source: Path) -> None:
    volume = source / "volume"
    volume.mkdir()
    with pytest.raises(Unfit, match="own source"):
        sync(source, volume)


def test_the_revision_does_not_depend_on_the_order_but_on_every_detail() -> None:
    a, b = File("a", 1, "1" * 64), File("b", 2, "2" * 64)
    assert revision([a, b]) == revision([b, a])
    others = [[a], [a, b._replace(path="c")], [a, b._replace(size=3)], [a, b._replace(sha256="3" * 64)]]
    assert len({revision([a, b]), *map(revision, others)}) == 5


def damage(file: Path) -> None:
    """Other bytes, same size, same time: only the sum can tell."""
    status = file.stat()
    file.write_bytes(b"\xff" * status.st_size)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

"""What a sync does with each file, which files it takes, how fast, and what an archive may hold."""

import io
import itertools
import stat
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddlecloud.cache.engine import Cancelled, SyncWish, Unfit
from paddlecloud.cache.local.choosing import Deed, Lying, deed, refuse_clashes, selection
from paddlecloud.cache.local.index import UNTRUSTED, Row
from paddlecloud.cache.local.readahead import read_ahead
from paddlecloud.cache.local.throttle import Throttle
from paddlecloud.cache.sources.archives import unpack
from paddlecloud.cache.sources.source import Entry
from paddlecloud.errors import Failed

ENTRY = Entry("a", 10, 5, "v1")
ROW = Row("a", 10, "sum", 77, 5, "v1", 1)
THERE = Lying(10, 77)
PLAIN, UPDATE, FORCE = SyncWish("x"), SyncWish("x", update=True), SyncWish("x", force_update=True)


@pytest.mark.parametrize(
    "entry, row, there, wish, expected",
    [
        (ENTRY, ROW, THERE, PLAIN, Deed.KEEP),
        (ENTRY, ROW, None, PLAIN, Deed.COPY),
        (ENTRY, None, None, PLAIN, Deed.COPY),
        (ENTRY._replace(size=11), ROW, THERE, PLAIN, Deed.COPY),
        (ENTRY._replace(time_ns=4), ROW, THERE, PLAIN, Deed.COPY),
        (ENTRY._replace(mark="v2"), ROW, THERE, PLAIN, Deed.COPY),
        (ENTRY, ROW, Lying(10, 78), PLAIN, Deed.COPY),
        (ENTRY, ROW, Lying(9, 77), PLAIN, Deed.COPY),
        (ENTRY, ROW._replace(copy_ns=UNTRUSTED), THERE, PLAIN, Deed.COPY),
        (ENTRY, None, Lying(10, 5), PLAIN, Deed.CHECK),
        (ENTRY, None, Lying(10, 6), PLAIN, Deed.COPY),
        (ENTRY._replace(time_ns=0), None, Lying(10, 0), PLAIN, Deed.COPY),
        (Entry("a", 10), ROW._replace(time_ns=0, mark=""), THERE, PLAIN, Deed.COPY),
        (ENTRY._replace(size=11, time_ns=4), ROW, THERE, UPDATE, Deed.KEEP),
        (ENTRY._replace(time_ns=6), ROW, THERE, UPDATE, Deed.COPY),
        (ENTRY, ROW, None, UPDATE, Deed.COPY),
        (ENTRY, ROW, THERE, FORCE, Deed.COPY),
    ],
)
def test_what_becomes_of_a_file(
    entry: Entry, row: Row | None, there: Lying | None, wish: SyncWish, expected: Deed
) -> None:
    assert deed(entry, row, there, wish) is expected


@pytest.mark.parametrize(
    "wish, expected",
    [
        ({}, ["a/1.jpg", "a/2.png", "b/1.jpg", "c"]),
        ({"start": "a/2.png", "end": "b/1.jpg"}, ["a/2.png", "b/1.jpg"]),
        ({"include": r"\.jpg$"}, ["a/1.jpg", "b/1.jpg"]),
        ({"exclude": "^a/"}, ["b/1.jpg", "c"]),
        ({"include": "jpg", "exclude": "^b"}, ["a/1.jpg"]),
        ({"include": "[[:digit:]][.]png"}, ["a/2.png"]),
    ],
)
def test_which_files_are_asked_for(wish: dict[str, str], expected: list[str]) -> None:
    asked = selection(SyncWish("x", **wish))  # type: ignore[arg-type]
    assert [path for path in ("a/1.jpg", "a/2.png", "b/1.jpg", "c") if asked(path)] == expected


@pytest.mark.parametrize("name", ["include", "exclude"])
def test_a_pattern_that_is_none_never_works(name: str) -> None:
    with pytest.raises(Unfit, match=f"`{name}` is no regular expression"):
        selection(SyncWish("x", **{name: "(("}))  # type: ignore[arg-type]


@pytest.mark.parametrize("paths", [["a", "a/b"], ["a/b/c", "a"], ["x", "a", "a"]])
def test_a_file_cannot_be_a_folder_too(paths: list[str]) -> None:
    refuse_clashes(["a", "ab", "b/c", "b/d"])
    with pytest.raises(Unfit):
        refuse_clashes(paths)


def test_a_limit_holds_back_and_can_be_ended() -> None:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    throttle = Throttle(8, clock=lambda: now[0], sleep=sleep)
    for _ in range(4):
        throttle.take(500_000, lambda: None)
    assert now[0] == pytest.approx(1.5)

    def end() -> None:
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        throttle.take(1, end)
    Throttle(0, sleep=end_of_patience).take(10**12, end)


def test_what_is_read_ahead_comes_in_order_and_fails_where_it_failed() -> None:
    def broken() -> Iterator[bytes]:
        yield b"a"
        raise Failed("broke off")

    pieces = [bytes([number]) for number in range(200)]
    assert list(read_ahead(iter(pieces))) == pieces
    before = threading.active_count()
    taken = read_ahead(broken())
    assert next(taken) == b"a"
    with pytest.raises(Failed, match="broke off"):
        next(taken)
    endless = read_ahead(itertools.repeat(b"x"))
    assert next(endless) == b"x"
    endless.close()
    assert threading.active_count() == before


def end_of_patience(_: float) -> None:
    raise AssertionError("waited without a limit")


def tar_of(file: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(file, "w") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return file


def member(name: str, kind: bytes = tarfile.REGTYPE, to: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, to
    return made


@pytest.mark.parametrize(
    "wrong",
    [
        member("../out"),
        member("a/../../out"),
        member("link", tarfile.SYMTYPE, "/etc/passwd"),
        member("link", tarfile.SYMTYPE, "../../out"),
        member("link", tarfile.LNKTYPE, "../out"),
        member("device", tarfile.CHRTYPE),
        member("pipe", tarfile.FIFOTYPE),
    ],
    ids=lambda m: f"{m.name}-{m.type.decode()}-{m.linkname}",
)
def test_a_tar_that_leads_out_is_refused(tmp_path: Path, wrong: tarfile.TarInfo) -> None:
    archive = tar_of(tmp_path / "x.tar", (member("good"), b"1"), (wrong, b""))
    with pytest.raises(Unfit, match=r"x\.tar is refused"):
        unpack(archive, tmp_path / "into", 1000, lambda: None)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["into", "x.tar"]


@pytest.mark.parametrize("name, mode", [("../out", 0), ("a/../../out", 0), ("link", stat.S_IFLNK | 0o777)])
def test_a_zip_that_leads_out_is_refused(tmp_path: Path, name: str, mode: int) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        packed.writestr(info, "/etc/passwd")
    with pytest.raises(Unfit):
        unpack(tmp_path / "x.zip", tmp_path / "into", 1000, lambda: None)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["into", "x.zip"]


@pytest.mark.parametrize("name", ["x.tar", "x.zip"])
def test_an_archive_that_is_too_large_or_none_is_a_sentence(tmp_path: Path, name: str) -> None:
    if name.endswith("zip"):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("zeros", bytes(1_000_000))
    else:
        tar_of(tmp_path / name, (member("zeros"), bytes(1_000_000)))
    with pytest.raises(Failed, match="unpacks to more than the 977 KiB"):
        unpack(tmp_path / name, tmp_path / "into", 999_999, lambda: None)
    (tmp_path / name).write_bytes(b"no archive at all" * 100)
    with pytest.raises(Failed, match="is damaged or none"):
        unpack(tmp_path / name, tmp_path / "again", 1000, lambda: None)

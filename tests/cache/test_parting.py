"""A large file that comes in parts: every byte in its place, summed in order, and every way it breaks."""

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cache.runs import Quiet, Recorded
from xxhash import xxh3_128

from paddlecloud.cache.engine import Amount, Cancelled, Unfit
from paddlecloud.cache.local.copying import Copier, Tally
from paddlecloud.cache.local.parting import Coming, streams
from paddlecloud.cache.local.summing import HUGE, LARGE, LARGE_PARTS, PARTS, FileSum, Kind, kind
from paddlecloud.cache.local.throttle import Throttle
from paddlecloud.cache.sources.source import Entry
from paddlecloud.errors import Failed

MIB = 1 << 20


class Memory:
    """A source of one file in memory; *spoil* may raise, or change the pieces of a part on their way."""

    def __init__(self, content: bytes, spoil: Callable[[int, bytes], bytes] = lambda _, piece: piece) -> None:
        self.content, self.spoil = content, spoil
        self.asked: list[int] = []
        self.whole = 0

    def entries(self) -> Iterator[Entry]:
        yield Entry("big.bin", len(self.content))

    def folders(self) -> Iterator[str]:
        return iter(())

    def chunks(self, entry: Entry) -> Iterator[bytes]:
        self.whole += 1
        yield self.content

    def part(self, entry: Entry, begin: int, end: int, room: memoryview) -> Iterator[memoryview]:
        self.asked.append(begin)
        for at in range(begin, end, 7):
            piece = self.spoil(begin, self.content[at : min(at + 7, end)])
            # All lie in the same place, one after the other.
            room[: len(piece)] = piece
            yield room[: len(piece)]

    def delete(self, entry: Entry) -> None:
        raise NotImplementedError


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    opened = os.open(tmp_path / "copy", os.O_RDWR | os.O_CREAT)
    yield opened
    os.close(opened)


CONTENT = bytes(range(251)) * 4
HUNDREDS = Kind("hundreds-", 100, hashlib.sha256)


def brought(
    source: Memory, file: int, count: Callable[[int], None] = lambda _: None
) -> tuple[list[bytes], str]:
    md5 = hashlib.md5(usedforsecurity=False)
    parts = Coming(source, Entry("big.bin", len(source.content)), file, count, HUNDREDS).bring([md5], 3)
    return parts, md5.hexdigest()


def test_all_parts_come_and_are_summed_in_their_order(file: int) -> None:
    source, counted = Memory(CONTENT), list[int]()

    sums = brought(source, file, counted.append)

    assert os.pread(file, 2000, 0) == CONTENT
    each = [hashlib.sha256(CONTENT[at : at + 100]).digest() for at in range(0, 1004, 100)]
    assert sums == (each, hashlib.md5(CONTENT).hexdigest())
    assert sorted(source.asked) == list(range(0, 1004, 100)) and sum(counted) == 1004


def test_parts_come_at_the_same_time(file: int) -> None:
    # Nobody goes on before three are on their way: one after the other would never end.
    gate = threading.Barrier(3, timeout=30)

    def meet(begin: int, piece: bytes) -> bytes:
        if begin < 300 and piece == CONTENT[begin : begin + 7]:
            gate.wait()
        return piece

    brought(Memory(CONTENT, meet), file)
    assert os.pread(file, 2000, 0) == CONTENT


def test_a_part_that_breaks_off_comes_again_alone(file: int) -> None:
    broken, counted = [300, 300], list[int]()

    def breaks(begin: int, piece: bytes) -> bytes:
        if begin in broken and piece == CONTENT[314:321]:
            broken.remove(begin)
            raise Failed("the link broke")
        return piece

    source = Memory(CONTENT, breaks)
    brought(source, file, counted.append)

    assert os.pread(file, 2000, 0) == CONTENT and sum(counted) == 1004
    assert source.asked.count(300) == 3 and len(source.asked) == 11 + 2


@pytest.mark.parametrize(
    "spoil, error, tries",
    [
        (lambda begin, piece: piece[:3] if begin == 500 else piece, Failed, 3),
        (lambda begin, piece: raised(Failed("no")) if begin == 500 else piece, Failed, 3),
        (lambda begin, piece: raised(Unfit("never")) if begin == 500 else piece, Unfit, 1),
        (lambda begin, piece: raised(OSError(28, "No space left")) if begin == 500 else piece, OSError, 1),
    ],
    ids=["too short each time", "fails each time", "is unfit", "the disk is full"],
)
def test_an_error_that_stays_ends_all(
    file: int, spoil: Callable[[int, bytes], bytes], error: type[Exception], tries: int
) -> None:
    source = Memory(CONTENT, spoil)
    with pytest.raises(error):
        brought(source, file)
    assert source.asked.count(500) == tries


def raised(error: Exception) -> bytes:
    raise error


def test_who_counts_may_end_it(file: int) -> None:
    def stop(_: int) -> None:
        raise Cancelled("enough")

    with pytest.raises(Cancelled, match="enough"):
        brought(Memory(CONTENT), file, stop)


@pytest.mark.parametrize(
    "sizes, threads, each",
    [
        ([], 10, 1),
        ([LARGE - 1] * 3, 10, 1),
        ([LARGE], 10, 8),
        ([LARGE, 5, 6, 7], 10, 8),
        ([LARGE] * 2, 10, 5),
        ([LARGE] * 4, 10, 2),
        ([LARGE] * 100, 10, 1),
        ([LARGE], 1, 1),
    ],
)
def test_all_files_together_have_no_more_connections_than_threads(
    sizes: list[int], threads: int, each: int
) -> None:
    assert streams(sizes, threads) == each


@pytest.fixture(scope="module")
def large() -> bytes:
    return os.urandom(MIB) * (LARGE // MIB) + b"and more"


@pytest.mark.parametrize("limit, each, whole", [(0, 4, 0), (0, 1, 1), (100_000, 4, 1)])
def test_a_limit_or_a_single_thread_means_one_connection(
    tmp_path: Path, large: bytes, limit: int, each: int, whole: int
) -> None:
    source = Large(large)
    done, _ = copied(tmp_path, source, limit, each)
    assert done == sum_of(large) and source.whole == whole
    assert (tmp_path / "big.bin").read_bytes() == large


def sum_of(content: bytes) -> str:
    parts = (xxh3_128(content[at : at + PARTS.part]).digest() for at in range(0, len(content), PARTS.part))
    return "xxh3-16m-" + xxh3_128(b"".join(parts)).hexdigest()


@pytest.mark.parametrize(
    "size, like, how",
    [
        (LARGE - 1, "", None),
        (LARGE, "", PARTS),
        (HUGE - 1, "", PARTS),
        (HUGE, "", LARGE_PARTS),
        (HUGE, "ab12", None),
        (5, "xxh3-64m-ab12", LARGE_PARTS),
        (HUGE, "xxh3-16m-ab12", PARTS),
    ],
)
def test_a_record_says_how_its_file_is_summed_else_the_size(size: int, like: str, how: Kind | None) -> None:
    assert kind(size, like) is how


def test_the_sum_is_the_same_however_the_bytes_come(large: bytes) -> None:
    for step in (256 << 10, PARTS.part - 1, PARTS.part, len(large)):
        in_order = FileSum(len(large))
        for at in range(0, len(large), step):
            in_order.update(large[at : at + step])
        assert in_order.text() == sum_of(large)


def test_small_files_and_old_records_have_a_plain_sum(large: bytes) -> None:
    for content, like in ((b"small", ""), (large, hashlib.sha256(large).hexdigest())):
        plain = FileSum(len(content), like)
        plain.update(content)
        assert plain.text() == hashlib.sha256(content).hexdigest()


def test_a_server_without_parts_is_asked_for_the_whole(tmp_path: Path, large: bytes) -> None:
    source = Large(large, lambda begin, piece: raised(Failed("answered 200")))
    done, amounts = copied(tmp_path, source, 0, 4)
    assert done == sum_of(large) and source.whole == 1
    assert amounts[-1] == Amount(1, len(large), 1, len(large))


class Large(Memory):
    """In pieces of a size that suits it."""

    def part(self, entry: Entry, begin: int, end: int, room: memoryview) -> Iterator[memoryview]:
        self.asked.append(begin)
        for at in range(begin, end, len(room)):
            piece = self.spoil(begin, self.content[at : min(at + len(room), end)])
            room[: len(piece)] = piece
            yield room[: len(piece)]


def copied(folder: Path, source: Large, limit: int, each: int) -> tuple[str, list[Amount]]:
    assert len(source.content) > 2 * PARTS.part
    (folder / "parts").mkdir()
    run = Recorded()
    tally = Tally(run, 1, len(source.content))
    copier = Copier(source, folder / "parts", tally, Throttle(limit), each)
    entry = Entry("big.bin", len(source.content))
    return copier.copy(entry, folder / "big.bin").sha256, run.amounts


def test_a_cancelled_copy_leaves_no_file(tmp_path: Path, large: bytes) -> None:
    class Ends(Quiet):
        def report(self, amount: Amount) -> None:
            if amount.bytes > PARTS.part:
                raise Cancelled("the user ended it")

    (tmp_path / "parts").mkdir()
    copier = Copier(Large(large), tmp_path / "parts", Tally(Ends(), 1, len(large)), Throttle(0), 4)
    with pytest.raises(Cancelled, match="the user"):
        copier.copy(Entry("big.bin", len(large)), tmp_path / "big.bin")
    assert not (tmp_path / "big.bin").exists()

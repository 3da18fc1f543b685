"""A disk that is full, a store that is locked or damaged, a home in an odd place: told, never half-done."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.contracts.objects import config_map, core
from tests.embedded.lone_api import Lone, lone_api, variables
from tests.embedded.stores import at, body, opened
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PDC, PdcHome, Said

from paddlecloud.embedded.store import Store, soundness
from paddlecloud.errors import Failed

SETTINGS = core("default", "configmaps")
UNSHARE = shutil.which("unshare")


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pdc-bad-") as made:
        yield Path(made)


def private_mounts() -> list[str]:
    """The words that give a command mounts of its own; empty where nobody may have them."""
    ways = [["--mount"], ["--user", "--map-root-user", "--mount"]]
    for words in ways:
        trial = [UNSHARE or "unshare", *words, "mount", "-t", "tmpfs", "none", "/tmp"]
        if UNSHARE and subprocess.run(trial, capture_output=True).returncode == 0:
            return [UNSHARE, *words]
    return []


def fill(api: Lone) -> tuple[list[str], int]:
    """Write until it is refused: what was acknowledged, and the status of the refusal."""
    kept: list[str] = []
    for i in range(60):
        answer = api.rest.post(SETTINGS, config_map(f"large-{i}", text="x" * 300_000))
        if answer.status != 201:
            message = answer.body["message"]
            assert "the store could not write" in message and "make room on the disk" in message
            return kept, answer.status
        kept.append(f"large-{i}")
    raise AssertionError("the disk was never full")


def names(api: Lone) -> set[str]:
    return {item["metadata"]["name"] for item in api.rest.get(SETTINGS).expect(200)["items"]}


def test_a_full_disk_refuses_writes_and_nothing_else(folder: Path) -> None:
    limited = ["prlimit", "--fsize=4000000:", "--"]
    with lone_api(folder / "h", before=limited) as api:
        before = names(api)
        kept, status = fill(api)
        assert kept and status == 507
        assert names(api) == before | set(kept)
        api.rest.get(f"{SETTINGS}/{kept[0]}").expect(200)
        check_unready(api)

        pid = api.process.popen.pid
        subprocess.run(["prlimit", f"--pid={pid}", "--fsize=unlimited:"], check=True)
        api.rest.post(SETTINGS, config_map("later")).expect(201)
        until(lambda: api.rest.get("/readyz").status == 200, what="a server that is ready again")
    with lone_api(folder / "h") as api:
        assert names(api) == before | set(kept) | {"later"}


def check_unready(api: Lone) -> None:
    """A server whose store takes nothing says which check failed, goes on living, and tells nobody why."""
    answer = api.rest.get("/readyz")
    lines = answer.text.splitlines()
    assert (answer.status, lines[-1]) == (500, "readyz check failed")
    assert [line for line in lines if not line.startswith("[+]")][:-1] == [
        "[-]etcd-readiness failed: reason withheld"
    ]
    single = api.rest.get("/readyz/etcd-readiness")
    assert single.status == 500 and single.text.startswith("internal server error: the store ")
    for path in ("/livez", "/readyz/etcd", "/readyz?exclude=etcd-readiness"):
        assert (api.rest.get(path).status, api.rest.get(path).text) == (200, "ok")


def test_a_disk_with_no_room_at_all_is_told_and_heals(folder: Path) -> None:
    ways = private_mounts()
    if not ways:
        pytest.skip("nobody here may mount a disk of his own")
    script = f'mount -t tmpfs -o size=2m none "{folder}" && exec "$@"'
    command = [*ways, "sh", "-c", script, "sh", sys.executable, "-m", "tests.embedded.full_disk", str(folder)]
    done = subprocess.run(command, env=variables(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_store_that_another_process_holds_is_told_after_a_while(folder: Path) -> None:
    with lone_api(folder / "h") as api, closing(sqlite3.connect(folder / "h" / "store.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        refused = api.rest.post(SETTINGS, config_map()).expect(503)
        assert "database is locked" in refused["message"]
        api.rest.get(SETTINGS).expect(200)
        check_unready(api)
        other.execute("ROLLBACK")
        api.rest.post(SETTINGS, config_map()).expect(201)


async def test_a_store_that_is_locked_is_not_opened(folder: Path) -> None:
    async with opened(folder / "store.db") as store:
        await store.put(at("a"), body(), 0)
    with closing(sqlite3.connect(folder / "store.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Failed, match="database is locked") as caught:
            soundness.examine(folder / "store.db")
        assert caught.value.next_step == "end the other program, then start again"


async def filled(path: Path, count: int = 300) -> None:
    async with opened(path) as store:
        for i in range(count):
            await store.put(at(f"n-{i}"), body(text="z" * 500), 0)


def damage_header(content: bytearray) -> None:
    content[:16] = b"\0" * 16


def damage_middle(content: bytearray) -> None:
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xa5" * 4096


def cut_off(content: bytearray) -> None:
    del content[len(content) // 2 :]


@pytest.mark.parametrize("damage", [damage_header, damage_middle, cut_off])
async def test_a_damaged_store_refuses_to_start_and_offers_a_restore(
    folder: Path, damage: Callable[[bytearray], None]
) -> None:
    home = PdcHome(folder / "h")
    home.home.make()
    await filled(home.home.store)
    content = bytearray(home.home.store.read_bytes())
    damage(content)
    home.home.store.write_bytes(content)

    said = home.pdc("up", limit=60)

    assert said.code == 1 and "Traceback" not in said.text
    assert f"the store {home.home.store} cannot be opened" in said.text
    assert "pdc restore" in said.text
    assert home.home.store.read_bytes() == content


async def crashed(path: Path, count: int = 20) -> Path:
    """The write-ahead log of a store whose process ended without closing it."""
    elsewhere = path.with_name("running.db")
    async with opened(elsewhere) as store:
        for i in range(count):
            await store.put(at(f"n-{i}"), body(text="z" * 500), 0)
        for end in ("", "-wal"):
            shutil.copy(f"{elsewhere}{end}", f"{path}{end}")
    return path.with_name(f"{path.name}-wal")


def frames(log: bytes | bytearray) -> int:
    return (len(log) - 32) // (24 + 4096)


def at_frame(number: int) -> int:
    return 32 + (number - 1) * (24 + 4096)


async def test_a_log_that_is_whole_is_read_again(folder: Path) -> None:
    await crashed(folder / "store.db")
    soundness.examine(folder / "store.db")
    async with opened(folder / "store.db") as store:
        assert store.revision == 20


@pytest.mark.parametrize("offset", [0, 24 + 100], ids=["its header", "its page"])
async def test_a_log_that_is_damaged_in_the_middle_is_told(folder: Path, offset: int) -> None:
    log = await crashed(folder / "store.db")
    content = bytearray(log.read_bytes())
    middle = frames(content) // 2
    content[at_frame(middle) + offset] ^= 0xFF
    log.write_bytes(content)

    with pytest.raises(
        Failed, match=rf"frame {middle} of its write-ahead log store\.db-wal is damaged"
    ) as told:
        soundness.examine(folder / "store.db")
    assert "pdc restore" in told.value.next_step
    with pytest.raises(Failed, match="is damaged"):
        Store(folder / "store.db")
    assert log.read_bytes() == content


async def test_a_log_whose_head_is_damaged_is_told(folder: Path) -> None:
    log = await crashed(folder / "store.db")
    content = bytearray(log.read_bytes())
    content[9] ^= 0xFF
    log.write_bytes(content)
    with pytest.raises(Failed, match="the header of its write-ahead log"):
        soundness.examine(folder / "store.db")


@pytest.mark.parametrize("lost", [1, 5000])
async def test_a_last_write_that_was_cut_off_by_a_crash_is_no_damage(folder: Path, lost: int) -> None:
    log = await crashed(folder / "store.db")
    content = log.read_bytes()
    log.write_bytes(content[: at_frame(frames(content) + 1) - lost])
    soundness.examine(folder / "store.db")
    async with opened(folder / "store.db") as store:
        assert 18 <= store.revision < 20


async def test_a_copy_put_back_makes_a_damaged_store_start_again(folder: Path) -> None:
    home = PdcHome(folder / "h")
    home.home.make()
    await filled(home.home.store, 5)
    home.ok("backup", str(folder / "copy"))
    home.home.store.write_bytes(b"x" * 10_000)

    assert home.pdc("up", limit=60).code == 1
    home.ok("restore", str(folder / "copy"))
    with lone_api(home.home.root) as api:
        api.rest.get("/api/v1/namespaces/ml/configmaps/n-4").expect(200)


def test_a_home_below_a_file_is_told(folder: Path) -> None:
    (folder / "file").write_text("in the way")
    check_unusable(folder / "file" / "h", PdcHome(folder / "file" / "h").pdc("up", limit=60))


def test_a_home_that_cannot_be_written_is_told(folder: Path) -> None:
    ways = private_mounts()
    if not ways:
        pytest.skip("nobody here may mount a disk of his own")
    script = f'mount -t tmpfs -o ro none "{folder}" && exec "$@"'
    home = PdcHome(folder / "h", program=[*ways, "sh", "-c", script, "sh", *PDC])
    check_unusable(folder / "h", home.pdc("up", limit=60))


def check_unusable(home: Path, said: Said) -> None:
    assert said.code == 1 and "Traceback" not in said.text
    assert f"the home {home} cannot be used" in said.text and "--home" in said.text


def test_a_folder_that_became_a_file_is_told(folder: Path) -> None:
    (folder / "store.db").mkdir()
    with pytest.raises(Failed, match="cannot be opened") as caught:
        soundness.examine(folder / "store.db")
    assert "writable" in caught.value.next_step


@pytest.mark.parametrize("name", ["a home with spaces", "heim-ä-你好-🏠", "quote'\"$(x)", "h" * 200])
def test_a_home_may_have_any_name(folder: Path, name: str) -> None:
    with lone_api(folder / name) as api:
        api.rest.post(SETTINGS, config_map()).expect(201)

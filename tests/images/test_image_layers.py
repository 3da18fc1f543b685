from __future__ import annotations

import gzip
import os
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.images.making import Member, device, fifo, file, folder, hardlink, link, member, sha, tar

from paddlecloud.images import compression, layout
from paddlecloud.images.failures import Damaged, NoSpace, Unsupported
from paddlecloud.images.layers import Limits, unpack
from paddlecloud.images.layout import Store
from paddlecloud.images.manifests import Descriptor

ROOT = os.geteuid() == 0


def laid(tmp_path: Path, content: bytes, *, limits: Limits | None = None, diff_id: str = "") -> Path:
    """The tree that a layer's tar becomes."""
    store = Store(tmp_path / "images")
    packed = gzip.compress(content, mtime=0)
    store.put(packed)
    layer = Descriptor(sha(packed), len(packed))
    return unpack(store, layer, diff_id or sha(content), limits=limits or Limits())


def names_below(tree: Path) -> set[str]:
    return {str(p.relative_to(tree)) for p in tree.rglob("*")}


def left_over(tmp_path: Path) -> list[Path]:
    images = tmp_path / "images"
    return [
        p for folder in ("tmp", "layers") if (images / folder).is_dir() for p in (images / folder).iterdir()
    ]


def test_files_folders_and_links_come_out_as_they_went_in(tmp_path: Path) -> None:
    tree = laid(
        tmp_path,
        tar([
            folder("usr"), folder("usr/bin", 0o700), file("usr/bin/tool", b"#!", 0o4755),
            link("bin", "usr/bin"), link("etc/mtab", "/proc/mounts"),
            hardlink("usr/bin/same", "usr/bin/tool"), fifo("run/pipe"), file("empty"),
        ]),
    )  # fmt: skip
    assert (tree / "usr/bin/tool").read_bytes() == b"#!"
    assert stat.S_IMODE((tree / "usr/bin/tool").stat().st_mode) == 0o4755
    assert stat.S_IMODE((tree / "usr/bin").stat().st_mode) == 0o700
    assert (tree / "usr/bin/tool").stat().st_mtime == 1_000_000
    assert os.readlink(tree / "bin") == "usr/bin"
    assert os.readlink(tree / "etc/mtab") == "/proc/mounts"
    assert (tree / "usr/bin/same").stat().st_ino == (tree / "usr/bin/tool").stat().st_ino
    assert stat.S_ISFIFO((tree / "run/pipe").stat().st_mode)
    assert (tree / "empty").stat().st_size == 0


@pytest.mark.parametrize(
    "members, inside",
    [
        ([file("/etc/passwd", b"x")], "etc/passwd"),
        ([file("././/etc//passwd", b"x")], "etc/passwd"),
        ([link("out", "/"), file("out/etc/passwd", b"x")], "etc/passwd"),
        ([link("out", "../../../.."), file("out/etc/passwd", b"x")], "etc/passwd"),
        ([folder("a"), link("a/up", ".."), file("a/up/etc/passwd", b"x")], "etc/passwd"),
        ([link("one", "/two"), link("two", "three"), folder("three"), file("one/f", b"x")], "three/f"),
    ],
    ids=["absolute", "untidy", "link to the root", "link upwards", "link up inside", "links in a row"],
)
def test_whatever_is_written_lands_inside(tmp_path: Path, members: list[Member], inside: str) -> None:
    outside = Path("/etc/passwd").stat()
    tree = laid(tmp_path, tar(members))
    assert (tree / inside).read_bytes() == b"x"
    assert Path("/etc/passwd").stat().st_mtime_ns == outside.st_mtime_ns


@pytest.mark.parametrize(
    "members, why",
    [
        ([file("../escaped", b"x")], "leads out"),
        ([file("a/../../escaped", b"x")], "leads out"),
        ([hardlink("shadow", "../../../../etc/shadow")], "leads out"),
        ([hardlink("shadow", "/etc/shadow")], "no file of this layer"),
        ([folder("d"), hardlink("copy", "d")], "no file of this layer"),
        ([link("a", "b"), link("b", "a"), file("a/x")], "circle"),
        ([file("a"), file("a/b")], "which is a file"),
        ([file("d/.wh...")], "marks nothing"),
        ([file("x", uid=2**32 - 1)], "there are none such"),
    ],
)
def test_what_cannot_be_meant_well_is_refused_and_nothing_stays(
    tmp_path: Path, members: list[Member], why: str
) -> None:
    with pytest.raises(Damaged, match=why):
        laid(tmp_path, tar(members))
    assert left_over(tmp_path) == []
    assert not list(tmp_path.rglob("escaped"))


def test_a_file_behind_a_link_to_a_file_outside_is_replaced_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    tree = laid(tmp_path, tar([link("conf", str(victim)), file("conf", b"mine")]))
    assert victim.read_text() == "untouched"
    assert not (tree / "conf").is_symlink() and (tree / "conf").read_bytes() == b"mine"


def test_devices_are_left_away_with_a_note(tmp_path: Path) -> None:
    tree = laid(tmp_path, tar([device("dev/null"), file("ok")]))
    assert names_below(tree) == {"dev", "ok"}
    notes = layout.note(tree.parent)["notes"]
    assert isinstance(notes, list) and "dev/null: device 1:3 left away" in notes


def test_later_entries_of_a_layer_replace_earlier_ones(tmp_path: Path) -> None:
    members = [
        folder("a"), file("a/old"), file("a", b"now a file"),
        file("b", b"1"), folder("b"), file("b/inside"),
        folder("c"), file("c/kept"), folder("c", 0o711),
    ]  # fmt: skip
    tree = laid(tmp_path, tar(members))
    assert (tree / "a").read_bytes() == b"now a file"
    assert (tree / "b/inside").exists() and (tree / "c/kept").exists()
    assert stat.S_IMODE((tree / "c").stat().st_mode) == 0o711


def test_a_folder_that_forbids_writing_is_filled_all_the_same(tmp_path: Path) -> None:
    tree = laid(tmp_path, tar([folder("closed", 0o500), file("closed/inside", b"x", 0o400)]))
    assert (tree / "closed/inside").read_bytes() == b"x"
    layout.remove_tree(tree.parent)
    assert not tree.exists()


def test_deletions_are_listed_and_marked_for_the_overlay(tmp_path: Path) -> None:
    members = [
        file("etc/.wh.gone"), folder("opt"), file("opt/.wh..wh..opq"), file("opt/new"),
        file(".wh.anew"), folder("anew"), file("over", b"x"), file(".wh.over"), file(".wh..wh.plnk"),
    ]  # fmt: skip
    tree = laid(tmp_path, tar(members))
    said = layout.note(tree.parent)
    assert said["whiteouts"] == ["etc/gone"]
    assert said["opaque"] == ["opt", "anew"]
    assert (tree / "over").read_bytes() == b"x"
    if not said["notes"]:
        found = (tree / "etc/gone").lstat()
        assert stat.S_ISCHR(found.st_mode) and found.st_rdev == 0


LOOK = """
import os, sys
at = sys.argv[1]
print(sorted(os.path.join(d, f)[len(at):] for d, _, fs in os.walk(at) for f in fs))
"""


@pytest.mark.skipif(not ROOT, reason="mounts an overlay, which takes root")
def test_the_kernel_sees_the_deletions_of_a_layer(tmp_path: Path) -> None:
    low = laid(tmp_path, tar([file("etc/gone"), file("etc/stays"), file("opt/old"), file("anew/old")]))
    high = laid(tmp_path, tar([file("etc/.wh.gone"), file("opt/.wh..wh..opq"), file("opt/new"),
                               file(".wh.anew"), file("anew/new")]))  # fmt: skip
    at = tmp_path / "seen"
    at.mkdir()
    mount = f"mount -t overlay o -o lowerdir={high}:{low} {at}"
    script = f"{mount} && exec {sys.executable} -c '{LOOK}' {at}"
    seen = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False, timeout=30
    )
    if "mount" in seen.stderr or "unshare" in seen.stderr:
        pytest.skip(f"no overlay here: {seen.stderr.strip()}")
    assert seen.stdout.strip() == "['/anew/new', '/etc/stays', '/opt/new']", seen.stderr


@pytest.mark.skipif(not ROOT, reason="only root can give files away")
def test_root_keeps_owners_also_of_links(tmp_path: Path) -> None:
    owned = [(i, c) for i, c in (folder("d"), file("d/f", b"x", 0o4750), link("l", "d/f"))]
    for info, _ in owned:
        info.uid, info.gid = 1234, 4321
    tree = laid(tmp_path, tar(owned))
    if layout.note(tree.parent)["notes"]:
        assert layout.note(tree.parent)["notes"] == ["owners are not kept: only root can give files away"]
        pytest.skip("this root may not give files away")
    assert {(p.lstat().st_uid, p.lstat().st_gid) for p in (tree / "d", tree / "d/f", tree / "l")} == {
        (1234, 4321)
    }
    # A change of owner takes the set-user-id bit away; it has to be set after it.
    assert stat.S_IMODE((tree / "d/f").stat().st_mode) == 0o4750


def test_attributes_are_kept_but_none_that_lead_elsewhere(tmp_path: Path) -> None:
    kept, _ = file("tool", b"x")
    kept.pax_headers = {
        "SCHILY.xattr.user.color": "blue",
        "SCHILY.xattr.trusted.overlay.redirect": "/etc",
        "SCHILY.xattr.user.overlay.redirect": "/etc",
    }
    tree = laid(tmp_path, tar([(kept, b"x")]))
    notes = layout.note(tree.parent)["notes"]
    assert isinstance(notes, list)
    refused = {n.split()[2] for n in notes if "left away" in n}
    assert refused == {"trusted.overlay.redirect", "user.overlay.redirect"}
    attributes = os.listxattr(tree / "tool")
    assert attributes == ["user.color"] or any("could not be set" in n for n in notes)


def test_a_layer_is_unpacked_once_for_all_its_compressions(tmp_path: Path) -> None:
    content = tar([file("a", b"x")])
    first = laid(tmp_path, content)
    inode = (first / "a").stat().st_ino
    store = Store(tmp_path / "images")
    store.put(content)
    second = unpack(store, Descriptor(sha(content), len(content)), sha(content))
    assert second == first and (second / "a").stat().st_ino == inode


@pytest.mark.parametrize(
    "limits",
    [Limits(size=1 << 20), Limits(entries=2)],
    ids=["bytes", "files"],
)
def test_a_layer_that_grows_beyond_all_measure_is_stopped(tmp_path: Path, limits: Limits) -> None:
    members: Iterable[Member] = [file("a"), file("b"), file("zeros", b"\0" * (2 << 20))]
    with pytest.raises(NoSpace, match="unpacks to more than fits"):
        laid(tmp_path, tar(members), limits=limits)
    assert left_over(tmp_path) == []


def test_a_sparse_file_counts_with_its_full_size(tmp_path: Path) -> None:
    info = member("huge", tarfile.REGTYPE, size=0)
    info.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": str(1 << 50),
                        "GNU.sparse.map": "0,0", "GNU.sparse.name": "huge"}  # fmt: skip
    with pytest.raises((NoSpace, Damaged)):
        laid(tmp_path, tar([(info, b"")]), limits=Limits(size=1 << 20))
    assert left_over(tmp_path) == []


def test_a_header_that_claims_gigabytes_for_itself_is_refused(tmp_path: Path) -> None:
    header = member("././@PaxHeader", tarfile.XHDTYPE, size=8 << 30).tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(Damaged, match="claims"):
        laid(tmp_path, header + b"\0" * (1 << 20))


@pytest.mark.parametrize(
    "change, why",
    [
        (lambda c: b"", "no sound tar"),
        (lambda c: b"hello " * 200, "no sound tar"),
        (lambda c: c[:700], "no sound tar|breaks off"),
        (lambda c: c[: 512 * 3] + b"\x01" * 512 + c[512 * 4 :], "breaks off"),
        (lambda c: c[: 512 * 2 + 100], "breaks off|no sound tar"),
    ],
    ids=["empty", "no tar", "cut in a file", "broken header", "cut in a header"],
)
def test_a_broken_tar_is_refused(tmp_path: Path, change: object, why: str) -> None:
    content = tar([file("a", b"x" * 600), file("b", b"y")])
    assert callable(change)
    with pytest.raises(Damaged, match=why):
        laid(tmp_path, change(content))
    assert left_over(tmp_path) == []


def test_a_cut_off_compression_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "images")
    content = tar([file("a", os.urandom(100_000))])
    packed = gzip.compress(content)[:50_000]
    store.put(packed)
    with pytest.raises(Damaged, match="cut off or damaged"):
        unpack(store, Descriptor(sha(packed), len(packed)), sha(content))
    assert left_over(tmp_path) == []


def test_another_content_than_the_configuration_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="names another content"):
        laid(tmp_path, tar([file("a")]), diff_id=sha(b"something else"))
    assert left_over(tmp_path) == []


@pytest.mark.parametrize(
    "magic, why",
    [(b"BZh91AY", "bzip2"), (b"\xfd7zXZ\x00\x00", "xz")],
)
def test_compressions_that_images_may_not_have_are_named(tmp_path: Path, magic: bytes, why: str) -> None:
    store = Store(tmp_path)
    store.put(magic)
    with pytest.raises(Unsupported, match=why):
        unpack(store, Descriptor(sha(magic), len(magic)), sha(b""))


@pytest.mark.skipif(
    any(compression.available(m) for m in ("compression.zstd", "backports.zstd", "zstandard")),
    reason="this Python can read zstd",
)
def test_zstd_is_refused_with_what_would_help(tmp_path: Path) -> None:
    store = Store(tmp_path)
    content = compression.ZSTD + b"rest"
    store.put(content)
    with pytest.raises(Unsupported, match="zstd") as caught:
        unpack(store, Descriptor(sha(content), len(content)), sha(b""))
    assert "zstandard" in caught.value.next_step


def test_a_disk_that_is_full_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    """A file system with room for 50 files, in a namespace of its own."""
    if not ROOT:
        pytest.skip("mounts a small file system, which takes root")
    program = f"{sys.executable} -m tests.images.full_disk"
    script = f"mount -t tmpfs -o size=2m,nr_inodes=50 t {tmp_path} && exec {program} {tmp_path}"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr.strip()}")
    assert done.stdout.splitlines() == ["NoSpace", "left: []"], done.stderr

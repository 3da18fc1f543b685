"""What an archive of somebody else's can put where."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from pathlib import Path

import pytest

from paddlecloud.untarring import Refused, extract

FILE, LINK, HARD, FOLDER = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE


def member(name: str, kind: bytes = FILE, to: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode, made.uid, made.gid = kind, to, mode, 4711, 4711
    return made


def unpacked(into: Path, *members: tarfile.TarInfo) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for each in members:
            tar.addfile(each)
    packed.seek(0)
    with tarfile.open(fileobj=packed) as tar:
        for each in tar:
            extract(tar, each, into)


@pytest.mark.parametrize(
    "wrong",
    [
        [member("../out")],
        [member("a/../../out")],
        [member("link", LINK, "/etc/passwd")],
        [member("link", LINK, "../out")],
        [member("deep/link", LINK, "../../out")],
        [member("link", HARD, "../out")],
        [member("link", HARD, "/etc/passwd")],
        [member("device", tarfile.CHRTYPE)],
        [member("pipe", tarfile.FIFOTYPE)],
        # Each alone stays inside, one behind the other does not.
        [member("a", FOLDER), member("a/up", LINK, ".."), member("up", LINK, "a/up/.."), member("up/out")],
    ],
    ids=lambda members: members[-1].name + members[-1].type.decode(),
)
def test_what_leads_out_is_refused(tmp_path: Path, wrong: list[tarfile.TarInfo]) -> None:
    (tmp_path / "into").mkdir()
    with pytest.raises(Refused):
        unpacked(tmp_path / "into", *wrong)
    assert os.listdir(tmp_path) == ["into"]


def test_what_stays_inside_is_there_without_owners_and_rights_of_others(tmp_path: Path) -> None:
    unpacked(
        tmp_path,
        member("folder", FOLDER, mode=0o000),
        member("/folder/plain", mode=0o666),
        member("folder/program", mode=0o6777),
        member("folder/closed", mode=0o000),
        member("link", LINK, "folder/plain"),
        member("folder/up", LINK, "../link"),
        member("again", HARD, "folder/plain"),
    )
    found = {str(path.relative_to(tmp_path)): path.lstat() for path in tmp_path.rglob("*")}
    modes = {name: stat.S_IMODE(looks.st_mode) for name, looks in found.items() if "link" not in name}
    del modes["folder/up"]
    assert modes == {
        "folder": 0o755,
        "folder/plain": 0o644,
        "folder/program": 0o755,
        "folder/closed": 0o600,
        "again": 0o644,
    }
    assert {looks.st_uid for looks in found.values()} == {os.geteuid()}
    assert os.readlink(tmp_path / "folder" / "up") == "../link" and (tmp_path / "again").samefile(
        tmp_path / "folder" / "plain"
    )

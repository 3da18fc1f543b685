"""What the builds promise: one place a version, and a sentence where it cannot be done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.kubernetes import build_extras, build_go
from tests.kubernetes.build import KUBERNETES
from tests.kubernetes.build_extras import COREDNS, JUICEFS_CSI, KUBECTLS, VOLCANO
from tests.kubernetes.build_go import CannotBuild, GoProgram

PROGRAMS = (KUBERNETES, *KUBECTLS, COREDNS, VOLCANO, JUICEFS_CSI)


@pytest.mark.parametrize(
    "program, place",
    [
        (KUBERNETES, "kubernetes/v1.33.13"),
        (KUBECTLS[0], "kubectl/v1.32.13"),
        (KUBECTLS[1], "kubectl/v1.34.13"),
        (COREDNS, "coredns/v1.12.3"),
        (VOLCANO, "volcano/v1.10.0"),
        (JUICEFS_CSI, "juicefs-csi/v0.31.4"),
    ],
)
def test_the_cache_is_kept_by_version_in_the_users_cache_folder(
    tmp_path: Path, program: GoProgram, place: str
) -> None:
    assert program.folder({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "paddlecloud" / place


def test_without_go_the_sentence_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotBuild, match=r"Go is not installed, so Kubernetes v1\.33\.13"):
        KUBERNETES.find_go()


def test_a_go_that_is_too_old_is_named_with_the_one_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "go"
    old.write_text("#!/bin/sh\necho go1.21.3\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotBuild, match=r"is Go 1\.21\.3; Kubernetes v1\.33\.13 needs 1\.24"):
        KUBERNETES.find_go()


def test_a_full_disk_is_found_before_the_build(tmp_path: Path) -> None:
    with pytest.raises(CannotBuild, match="a first build of kubectl v9 needs about 1048576 GB"):
        build_go.check_disk([tmp_path / "not" / "there" / "yet"], 1 << 50, "kubectl v9")
    build_go.check_disk([tmp_path], 1, "kubectl v9")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.version)
def test_an_unfinished_build_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: GoProgram
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = program.folder()
    folder.mkdir(parents=True)
    assert program.built() is None
    (folder / "source").write_text("another source")
    assert program.built() is None
    (folder / "source").write_text(program.digest())
    assert program.built() == folder / program.binary


def test_every_source_file_counts(tmp_path: Path) -> None:
    for name in ("main.go", "more.go", "go.mod", "go.sum"):
        (tmp_path / name).write_text((KUBERNETES.source / "go.mod").read_text())
    program = replace(KUBERNETES, source=tmp_path)
    before = program.digest()
    (tmp_path / "more.go").write_text("package main\n")
    assert program.digest() != before


@dataclass
class Row:
    name: str
    there: bool = False
    version: str = "v1.2.3"
    needed: int = 3 << 30
    possible: bool = True

    def built(self) -> Path | None:
        return Path("/cache") / self.name / "program" if self.there else None

    def build(self) -> Path:
        if not self.possible:
            raise CannotBuild(f"{self.name} cannot be built here", next_step="wait")
        self.there = True
        return Path("/cache") / self.name / "program"


def test_what_is_left_out_is_told_in_one_line() -> None:
    assert build_extras.left_out([Row("a", there=True)]) == ""
    assert build_extras.left_out([Row("a"), Row("b", there=True), Row("c", needed=5 << 30)]) == (
        "left out, because not built: a v1.2.3, c v1.2.3 (FULL=1 builds them, with up to 5 GB of disk each)"
    )


def test_what_cannot_be_built_is_told_and_does_not_stop_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Row("a", possible=False), Row("b")]
    build_extras.build(rows)
    out, err = capsys.readouterr()
    assert "a cannot be built here" in err and out == "b v1.2.3 is ready in /cache/b\n"
    assert build_extras.left_out(rows).startswith("left out, because not built: a v1.2.3 (")

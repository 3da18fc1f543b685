"""What the build promises: one place a version, and a sentence where it cannot be done."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kubernetes import build


def test_the_cache_is_kept_by_version_in_the_users_cache_folder(tmp_path: Path) -> None:
    folder = build.cache_folder({"XDG_CACHE_HOME": str(tmp_path)})
    assert folder == tmp_path / "paddlecloud" / "kubernetes" / "v1.33.13"


def test_without_go_the_sentence_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(build.CannotBuild, match=r"Go is not installed, so Kubernetes v1\.33\.13"):
        build.find_go()


def test_a_go_that_is_too_old_is_named_with_the_one_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "go"
    old.write_text("#!/bin/sh\necho go1.21.3\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(build.CannotBuild, match=r"is Go 1\.21\.3; Kubernetes v1\.33\.13 needs 1\.24"):
        build.find_go()


def test_a_full_disk_is_found_before_the_build(tmp_path: Path) -> None:
    with pytest.raises(build.CannotBuild, match="needs about 1048576 GB"):
        build.check_disk([tmp_path / "not" / "there" / "yet"], needed=1 << 50)
    build.check_disk([tmp_path], needed=1)


def test_an_unfinished_build_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = build.cache_folder()
    (folder / "bin").mkdir(parents=True)
    assert build.built() is None
    (folder / "source").write_text("another source")
    assert build.built() is None
    (folder / "source").write_text(build.source_digest())
    assert build.built() == folder / "bin"

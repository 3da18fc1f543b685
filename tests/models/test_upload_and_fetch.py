import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from paddlecloud.errors import Failed, NotFound, WrongUse
from paddlecloud.models.fetch import fetch
from paddlecloud.models.folder import entries
from paddlecloud.models.folderstore import FolderStore
from paddlecloud.models.keys import manifest_key
from paddlecloud.models.opening import store_at
from paddlecloud.models.upload import Step, Upload, upload

REPORT = {"format": "onnx", "exact": True, "maxDifference": 0.0, "tolerance": 1e-4}


@pytest.fixture
def what(tmp_path: Path) -> Upload:
    source, converted = tmp_path / "exported", tmp_path / "converted"
    for folder in (source, converted):
        folder.mkdir()
    (source / "model.json").write_text("program")
    (source / "model.pdiparams").write_bytes(bytes(3_000_000))
    (source / "metrics.json").write_text('{"accuracy": 0.97}')
    (converted / "model.onnx").write_bytes(b"onnx")
    (converted / "conversion.json").write_text(json.dumps(REPORT))
    return Upload("shapes", "shapes-1", source, converted)


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "objects")


def nobody(_: Step) -> None:
    pass


def test_a_version_comes_back_as_it_was(what: Upload, store: FolderStore, tmp_path: Path) -> None:
    steps: list[Step] = []
    made = upload(what, store, steps.append)
    fetch(store, "shapes", "shapes-1", tmp_path / "out")

    names = ["conversion.json", "metrics.json", "model.json", "model.onnx", "model.pdiparams"]
    assert [f.path for f in made.files] == names
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [".paddlecloud", *names]
    assert (tmp_path / "out" / "model.pdiparams").read_bytes() == bytes(3_000_000)
    assert made.metrics == {"accuracy": 0.97} and made.conversions[0].exact
    assert (steps[-1].files, steps[-1].bytes) == (5, steps[-1].total_bytes) == (5, made.size)
    assert list((store.root / "tmp").iterdir()) == []


def test_the_manifest_is_the_last_write(what: Upload, store: FolderStore) -> None:
    def stop(step: Step) -> None:
        if step.files == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upload(what, store, stop)
    with pytest.raises(NotFound):
        store.read(manifest_key("shapes", "shapes-1"))

    upload(what, store, nobody)
    assert store.read(manifest_key("shapes", "shapes-1"))


def test_uploading_again_copies_nothing(what: Upload, store: FolderStore) -> None:
    first = upload(what, store, nobody)
    before = {p: p.stat().st_ino for p in (store.root / "blobs").rglob("*")}

    assert upload(what, store, nobody) == first
    assert {p: p.stat().st_ino for p in (store.root / "blobs").rglob("*")} == before


def test_the_same_content_is_kept_once(what: Upload, store: FolderStore) -> None:
    (what.source / "copy.bin").write_bytes(bytes(3_000_000))
    made = upload(what, store, nobody)
    blobs = [p for p in (store.root / "blobs").rglob("*") if p.is_file()]
    assert len(blobs) == len(made.files) - 1


def test_a_version_never_changes(what: Upload, store: FolderStore) -> None:
    first = upload(what, store, nobody).encoded()
    (what.source / "model.json").write_text("other")

    with pytest.raises(Failed, match="other files"):
        upload(what, store, nobody)
    assert store.read(manifest_key("shapes", "shapes-1")) == first


def test_a_damaged_blob_is_found_by_the_fetch_and_healed_by_an_upload(
    what: Upload, store: FolderStore, tmp_path: Path
) -> None:
    made = upload(what, store, nobody)
    blob = store.blob(next(f.sha256 for f in made.files if f.path == "model.json"))
    blob.chmod(0o644)
    blob.write_text("damage!")

    with pytest.raises(Failed, match="damaged in the store"):
        fetch(store, "shapes", "shapes-1", tmp_path / "out")
    assert not (tmp_path / "out" / "model.json").exists()
    assert not (tmp_path / "out" / ".paddlecloud").exists()

    upload(what, store, nobody)
    fetch(store, "shapes", "shapes-1", tmp_path / "out")
    assert (tmp_path / "out" / "model.json").read_text() == "program"


def test_fetching_again_brings_only_what_is_missing_or_damaged(
    what: Upload, store: FolderStore, tmp_path: Path
) -> None:
    upload(what, store, nobody)
    out = tmp_path / "out"
    fetch(store, "shapes", "shapes-1", out)
    # Replaced, not written into: the file may be a link to the store's own.
    (out / "model.json").unlink()
    (out / "model.json").write_text("wrong")
    (out / "model.onnx").unlink()
    kept = (out / "model.pdiparams").stat().st_ino, (out / "model.pdiparams").stat().st_ctime_ns

    fetch(store, "shapes", "shapes-1", out)
    assert (out / "model.json").read_text() == "program" and (out / "model.onnx").read_text() == "onnx"
    assert ((out / "model.pdiparams").stat().st_ino, (out / "model.pdiparams").stat().st_ctime_ns) == kept


@pytest.mark.parametrize("kind", ["file", "folder", "pipe"])
def test_what_is_no_plain_file_of_the_folder_is_refused(
    what: Upload, store: FolderStore, tmp_path: Path, kind: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    if kind == "pipe":
        os.mkfifo(what.source / "odd")
    else:
        (what.source / "odd").symlink_to(outside if kind == "folder" else outside / "secret")

    with pytest.raises(WrongUse, match="odd"):
        upload(what, store, nobody)


@pytest.mark.parametrize(
    "uri", ["bos://bucket/models", "s3:///models", "objects", "file://elsewhere/x", "file:relative"]
)
def test_a_store_that_nobody_serves_is_a_sentence(uri: str) -> None:
    with pytest.raises(WrongUse, match="no model store"):
        store_at(uri)


def test_the_programs_upload_report_and_fetch(what: Upload, tmp_path: Path) -> None:
    store = (tmp_path / "my objects").as_uri()
    version = ["--store", store, "--model", what.model, "--version", what.version]
    sent = program("pipelines.components.upload", "--source", str(what.source), "--converted",
                   str(what.converted), "--report", str(tmp_path / "report.json"), *version)  # fmt: skip
    assert sent.returncode == 0, sent.stderr
    assert "uploaded 3000" in sent.stdout and "5/5 files" in sent.stdout
    assert json.loads((tmp_path / "report.json").read_text())["conversions"][0]["exact"] is True

    got = program("models.fetch", "--to", str(tmp_path / "out"), *version)
    assert got.returncode == 0 and (tmp_path / "out" / "model.onnx").read_bytes() == b"onnx"

    lost = program("models.fetch", "--to", str(tmp_path / "out"), *version[:-1], "nope")
    assert lost.returncode == 1 and "has no version nope" in lost.stderr and "Traceback" not in lost.stderr


def program(module: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", f"paddlecloud.{module}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_what_is_hidden_or_compiled_is_no_part_of_a_model(tmp_path: Path) -> None:
    for name in (
        "model.onnx",
        ".part",
        ".git/config",
        "__pycache__/processor.pyc",
        "below/__pycache__/a.pyc",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_bytes(b"x")

    assert [entry.path for entry in entries(tmp_path)] == ["model.onnx"]

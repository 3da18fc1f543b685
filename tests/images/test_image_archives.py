from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.images.making import Made, archive, directory, docker_files, file, image, oci_files, tar

from paddlecloud.errors import PaddleCloudError, WrongUse
from paddlecloud.images import names
from paddlecloud.images.archives import load
from paddlecloud.images.failures import Damaged
from paddlecloud.images.layers import unpack
from paddlecloud.images.layout import Store


@pytest.fixture
def app() -> Made:
    return image([file("a", b"1")], [file("b", b"2")], run={"Entrypoint": ["/b"]})


@pytest.mark.parametrize("form", ["oci tar", "oci tar.gz", "oci folder", "docker tar", "docker tar.gz"])
def test_every_form_of_an_image_is_taken_in(tmp_path: Path, app: Made, form: str) -> None:
    family, _, container = form.partition(" ")
    files = oci_files(app, "team/app:1") if family == "oci" else docker_files(app, "team/app:1")
    path = tmp_path / "file"
    if container == "folder":
        directory(path, files)
    else:
        archive(path, files, packed=container == "tar.gz")
    store = Store(tmp_path / "images")
    assert [i.name for i in load(store, path)] == ["docker.io/team/app:1"]
    entry = store.find(names.parse("team/app:1"))
    assert entry is not None and entry.source == "imported"
    manifest = store.manifest(entry.manifest.digest)
    config = store.config(manifest)
    assert config.entrypoint == ("/b",) and list(config.diff_ids) == app.diff_ids
    trees = [unpack(store, layer, d) for layer, d in zip(manifest.layers, config.diff_ids, strict=True)]
    assert (trees[0] / "a").read_bytes() == b"1" and (trees[1] / "b").read_bytes() == b"2"
    assert list((store.root / "tmp").iterdir()) == []


def test_a_layer_that_docker_saved_as_a_link_to_another_is_found(tmp_path: Path, app: Made) -> None:
    files = docker_files(app, "app:1")
    listed = json.loads(files["manifest.json"])
    listed[0]["Layers"] = ["0/layer.tar", "linked/layer.tar"]
    content = files.pop("1/layer.tar")
    files |= {"manifest.json": json.dumps(listed).encode(), "real/layer.tar": content}
    link, _ = file("linked/layer.tar")
    link.type, link.linkname = b"2", "../real/layer.tar"
    path = tmp_path / "x.tar"
    path.write_bytes(tar([*(file(n, c) for n, c in files.items()), (link, b"")]))
    assert load(Store(tmp_path / "images"), path)


def test_a_name_can_be_given_and_is_needed_where_there_is_none(tmp_path: Path, app: Made) -> None:
    path = archive(tmp_path / "x.tar", oci_files(app))
    store = Store(tmp_path / "images")
    with pytest.raises(WrongUse, match="has no name"):
        load(store, path)
    assert store.entries() == ()
    assert load(store, path, names.parse("mine:2"))[0].name == "docker.io/library/mine:2"


def test_a_tag_alone_is_completed_by_the_name_of_the_file(tmp_path: Path, app: Made) -> None:
    path = archive(tmp_path / "App.v2.tar", oci_files(app, "latest"))
    assert load(Store(tmp_path / "images"), path)[0].name == "docker.io/library/app:latest"


@pytest.mark.parametrize(
    "content, why",
    [
        (b"", "it is empty"),
        (b"this is not an archive\n" * 100, "no sound tar"),
        (tar([file("readme")]), "neither index.json"),
        (b"\x1f\x8b" + b"x" * 50, "damaged|cut off"),
        (tar([file("index.json", b"{")]), "is no JSON"),
        (tar([file("index.json", b'{"manifests": []}')]), "lists no image"),
        (tar([file("manifest.json", b"{}")]), "no list of images"),
        (tar([file("manifest.json", b'[{"Config": "c"}]')]), "has no c"),
    ],
)
def test_what_is_no_image_is_refused_with_the_reason(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(content)
    store = Store(tmp_path / "images")
    with pytest.raises(PaddleCloudError, match=why):
        load(store, path)
    assert store.entries() == ()


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("packed", [False, True])
def test_a_cut_off_archive_is_refused_and_leaves_no_name(
    tmp_path: Path, app: Made, kept: float, packed: bool
) -> None:
    path = archive(tmp_path / "x.tar", oci_files(app, "app:1"), packed=packed)
    # The zeros at the end of a tar are no loss.
    content = path.read_bytes().rstrip(b"\0")
    path.write_bytes(content[: int(len(content) * kept)])
    store = Store(tmp_path / "images")
    with pytest.raises(PaddleCloudError):
        load(store, path)
    assert store.entries() == ()


@pytest.mark.parametrize("which", ["layer", "config", "manifest"])
def test_content_with_another_digest_is_refused(tmp_path: Path, app: Made, which: str) -> None:
    digest = {"layer": app.layers[0].digest, "config": app.config, "manifest": app.manifest.digest}[which]
    files = oci_files(app, "app:1")
    name = "blobs/" + digest.replace(":", "/")
    files[name] = bytes(reversed(files[name]))
    store = Store(tmp_path / "images")
    with pytest.raises(Damaged, match="digest"):
        load(store, archive(tmp_path / "x.tar", files))
    assert store.entries() == () and not store.has(digest)


def test_a_link_in_a_folder_cannot_hand_out_other_files(tmp_path: Path, app: Made) -> None:
    secret = tmp_path / "secret"
    secret.write_text("{}")
    folder = directory(tmp_path / "image", oci_files(app, "app:1"))
    (folder / "index.json").unlink()
    (folder / "index.json").symlink_to(secret)
    with pytest.raises(Damaged, match="not complete"):
        load(Store(tmp_path / "images"), folder)


def test_a_missing_archive_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="cannot be read: No such file"):
        load(Store(tmp_path / "images"), tmp_path / "none.tar")

"""The writable layer of a container, and links instead of mounts: plain folders, no rights needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddlecloud.embedded.node.sandbox.links import Claim, Links
from paddlecloud.embedded.node.sandbox.tree import Layer

MARK = "user.overlay.opaque"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    root = tmp_path / "machine"
    for folder in ("etc", "usr/bin", "run/secret", "home/me"):
        (root / folder).mkdir(parents=True)
    (root / "var").mkdir()
    (root / "var" / "run").symlink_to("/run")
    (root / "bin").symlink_to("usr/bin")
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to("../../../../etc")
    (root / "etc" / "hosts").write_text("h")
    (root / "etc" / "resolv.conf").symlink_to("../run/stub")
    (root / "usr").chmod(0o711)
    return root


@pytest.fixture
def layer(machine: Path, tmp_path: Path) -> Layer:
    (tmp_path / "upper").mkdir()
    return Layer(str(tmp_path / "upper"), [], str(machine), MARK)


@pytest.mark.parametrize(
    "path, place",
    [
        ("/mnt/data", "/mnt/data"),
        ("/var/run/x", "/run/x"),
        ("/bin/tools", "/usr/bin/tools"),
        ("/up/deep", "/etc/deep"),
        ("/usr/../../mnt", "/mnt"),
    ],
)
def test_a_mount_point_is_made_where_the_containers_links_lead(
    layer: Layer, tmp_path: Path, machine: Path, path: str, place: str
) -> None:
    before = sorted(str(p) for p in machine.rglob("*"))
    assert layer.point(path, folder=True) == place
    assert (tmp_path / "upper" / place[1:]).is_dir()
    assert sorted(str(p) for p in machine.rglob("*")) == before


@pytest.mark.parametrize(
    "path, place, lasting",
    [
        ("/data", "/data", {}),
        ("/data/deep", "/elsewhere/deep", {"data": "/elsewhere"}),
        ("/loop", "/loop", {}),
        ("/up", "/up", {}),
        ("/var/run", "/run", {"var/run": "/run"}),
        ("/var/run/x", "/run/x", {"var/run": "/run"}),
    ],
)
def test_a_link_of_the_machine_is_replaced_by_a_volume_and_kept_on_the_way_to_one(
    layer: Layer, tmp_path: Path, machine: Path, path: str, place: str, lasting: dict[str, str]
) -> None:
    (machine / "data").symlink_to("/elsewhere")
    upper = tmp_path / "upper"
    assert layer.point(path, folder=True) == place and (upper / place[1:]).is_dir()
    kept = {str(p.relative_to(upper)): str(p.readlink()) for p in upper.rglob("*") if p.is_symlink()}
    assert kept == lasting


def test_a_link_of_an_image_is_followed_as_on_kubernetes(machine: Path, tmp_path: Path) -> None:
    (tmp_path / "image").mkdir()
    (tmp_path / "image" / "data").symlink_to("/srv/x")
    (tmp_path / "upper").mkdir()
    layer = Layer(str(tmp_path / "upper"), [str(tmp_path / "image")], None, MARK)
    assert layer.point("/data", folder=True) == "/srv/x"
    assert not os.path.lexists(tmp_path / "upper" / "data")


def test_what_a_link_leads_to_is_hidden_and_not_the_link(layer: Layer, tmp_path: Path, machine: Path) -> None:
    (machine / "people").symlink_to("/home/me")
    layer.hide("/people")
    assert os.getxattr(tmp_path / "upper" / "home" / "me", MARK) == b"y"


def test_folders_on_the_way_look_as_they_did(layer: Layer, tmp_path: Path) -> None:
    layer.point("/usr/bin/x", folder=True)
    assert (tmp_path / "upper" / "usr").stat().st_mode & 0o777 == 0o711


def test_a_file_is_mounted_over_a_link_and_not_where_it_leads(layer: Layer, tmp_path: Path) -> None:
    assert layer.point("/etc/resolv.conf", folder=False) == "/etc/resolv.conf"
    assert (tmp_path / "upper" / "etc" / "resolv.conf").read_text() == ""
    assert layer.point("/etc/hosts", folder=False) == "/etc/hosts"
    assert not (tmp_path / "upper" / "etc" / "hosts").exists()


@pytest.mark.parametrize(
    "path, folder, error",
    [
        ("/etc/hosts", True, NotADirectoryError),
        ("/etc/hosts/below", False, NotADirectoryError),
        ("/etc", False, IsADirectoryError),
        ("/loop/x", True, OSError),
    ],
)
def test_what_cannot_be_a_mount_point(layer: Layer, path: str, folder: bool, error: type[OSError]) -> None:
    with pytest.raises(error):
        layer.point(path, folder)


def test_a_hidden_folder_is_marked_and_nothing_below_it_is_followed(layer: Layer, tmp_path: Path) -> None:
    layer.hide("/run")
    upper = tmp_path / "upper"
    assert os.getxattr(upper / "run", MARK) == b"y"
    assert layer.point("/run/secret/x", folder=True) == "/run/secret/x"
    assert (upper / "run" / "secret").stat().st_mode & 0o777 == 0o755


@pytest.fixture
def links(tmp_path: Path) -> Links:
    return Links(tmp_path / "links.json")


def test_a_link_is_shared_by_pods_that_mean_the_same_and_goes_with_the_last(
    links: Links, tmp_path: Path
) -> None:
    path, target = tmp_path / "data", tmp_path / "volume"
    assert [links.claim(uid, str(path), target) for uid in ("a", "b", "a")] == [Claim.LINKED] * 3
    links.release("a")
    assert path.readlink() == target
    links.release("b")
    assert not path.is_symlink()


def test_a_pod_that_means_another_folder_is_refused(links: Links, tmp_path: Path) -> None:
    path = str(tmp_path / "data")
    assert links.claim("a", path, tmp_path / "one") == Claim.LINKED
    assert links.claim("b", path, tmp_path / "two") == Claim.TAKEN
    links.release("b")
    assert os.readlink(path) == str(tmp_path / "one")


def test_what_the_machine_has_at_a_path_is_left_alone(links: Links, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "other").symlink_to("/etc")
    for name in ("data", "other", "no/parent"):
        assert links.claim("a", str(tmp_path / name), tmp_path / "one") == Claim.CLOSED
    links.release("a")
    assert (tmp_path / "data").is_dir() and (tmp_path / "other").is_symlink()


def test_a_crash_leaves_no_link_that_nobody_knows(links: Links, tmp_path: Path) -> None:
    path = tmp_path / "data"
    links.claim("a", str(path), tmp_path / "one")
    path.unlink()
    again = Links(tmp_path / "links.json")
    assert again.claim("b", str(path), tmp_path / "one") == Claim.LINKED
    Links(tmp_path / "links.json").keep({"b"})
    assert path.is_symlink()
    Links(tmp_path / "links.json").keep(())
    assert not path.is_symlink()


def test_a_link_that_somebody_replaced_is_not_removed(links: Links, tmp_path: Path) -> None:
    path = tmp_path / "data"
    links.claim("a", str(path), tmp_path / "one")
    path.unlink()
    path.symlink_to("/etc")
    links.release("a")
    assert path.is_symlink()

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.images.making import Made, archive, directory, file, image, oci_files

from paddlecloud.cli.main import pdc
from paddlecloud.images import names
from paddlecloud.images.archives import load
from paddlecloud.images.elf import closure, wishes
from paddlecloud.images.layers import unpack
from paddlecloud.images.layout import Store
from paddlecloud.images.minimalroot import python_name, system_folders

CODE = "import json, ssl, sqlite3, sys; print(json.dumps({'ok': sys.version_info[:2]}))"


def run(home: Path, *arguments: object, ok: bool = True) -> Result:
    result = CliRunner().invoke(pdc, ["--home", str(home), "image", *map(str, arguments)])
    assert (result.exception is None) is ok, result.output
    return result


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own") / "hello"
    directory(folder, {"code/hello.py": CODE.encode(), "code/__pycache__/x.pyc": b"changes"})
    (folder / "suite.yaml").write_text(
        "name: hello\nimages: [team/hello]\npython: self\ncode: code\nat: /app\n"
        "entrypoint: [python, hello.py]\ncmd: [--loud]\nenv: {COLOR: blue}\n"
    )
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, suite: Path) -> Path:
    """Made once: most of the time goes into compressing the standard library."""
    folder = tmp_path_factory.mktemp("built")
    run(folder / "home", "build", suite, "-o", folder / "hello.tar")
    assert {p.name for p in folder.iterdir()} == {"home", "hello.tar"}
    return folder / "hello.tar"


def test_the_same_suite_makes_the_same_bytes(tmp_path: Path, suite: Path, built: Path) -> None:
    os.utime(suite / "code/hello.py", (1, 1))
    (suite / "code/__pycache__/x.pyc").write_bytes(b"changed")
    run(tmp_path / "home", "build", suite, "-o", tmp_path / "again.tar")
    assert (tmp_path / "again.tar").read_bytes() == built.read_bytes()
    with tarfile.open(built) as tar:
        assert {(m.mtime, m.uid, m.uname) for m in tar} == {(0, 0, "")}


def test_an_image_we_built_is_one_we_can_take_in(tmp_path: Path, built: Path) -> None:
    home = tmp_path / "home"
    run(home, "import", built)
    said = json.loads(run(home, "show", "team/hello", "-o", "json").output)
    assert said["entrypoint"] == ["python", "hello.py"] and said["cmd"] == ["--loud"]
    assert said["workdir"] == "/app"
    assert "COLOR=blue" in said["env"] and len(said["layers"]) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="changes the root, which takes root")
def test_the_minimal_root_runs_the_suite_with_nothing_of_this_machine(tmp_path: Path, built: Path) -> None:
    store = Store(tmp_path / "images")
    load(store, built)
    entry = store.find(names.parse("team/hello"))
    assert entry is not None
    manifest = store.manifest(entry.manifest.digest)
    config = store.config(manifest)
    root = tmp_path / "root"
    for layer, diff_id in zip(manifest.layers, config.diff_ids, strict=True):
        shutil.copytree(unpack(store, layer, diff_id), root, symlinks=True, dirs_exist_ok=True)
    command = f"cd {config.working_dir} && exec {' '.join(config.entrypoint)}"
    done = subprocess.run(
        ["chroot", root, "/bin/sh", "-c", command], env=dict(config.env), capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    if "cannot change root" in done.stderr:
        pytest.skip(done.stderr)
    assert "ok" in done.stdout, done.stderr


def base(python: bool) -> Made:
    files = [file(f"usr/local/bin/{python_name()}", b"#!")] if python else [file("bin/sh")]
    return image(files, run={"Env": ["PATH=/base/bin", "BASE=1"], "User": "1000"})


def test_a_given_base_is_kept_layer_by_layer(tmp_path: Path, suite: Path) -> None:
    made = base(python=True)
    path = archive(tmp_path / "base.tar", oci_files(made, "base:1"))
    run(
        tmp_path / "home",
        "build",
        suite,
        "-o",
        tmp_path / "x.tar",
        "--base",
        path,
        "--name",
        "team/on-base:1",
    )
    home = tmp_path / "other"
    run(home, "import", tmp_path / "x.tar")
    said = json.loads(run(home, "show", "team/on-base:1", "-o", "json").output)
    assert said["layers"][0].split()[0] == made.layers[0].digest
    assert "PATH=/opt/paddlecloud/bin:/base/bin" in said["env"] and "BASE=1" in said["env"]
    assert said["user"] == "1000"


def test_a_base_without_the_same_python_is_refused(tmp_path: Path, suite: Path) -> None:
    path = archive(tmp_path / "base.tar", oci_files(base(python=False), "base:1"))
    result = run(tmp_path / "home", "build", suite, "-o", tmp_path / "x.tar", "--base", path, ok=False)
    assert f"has no {python_name()}" in str(result.exception)
    assert not (tmp_path / "x.tar").exists()


@pytest.mark.parametrize(
    "arguments, why",
    [
        (["build", "nothing", "-o", "x.tar"], "there is no suite nothing"),
        (["build", "core", "-o", "/no/such/folder/x.tar"], "there is no folder"),
        (["build", "core", "-o", "x.tar", "--base", "absent:1"], "neither a file nor an image"),
        (["import", "/no/such/file"], "there is no /no/such/file"),
        (["rm", "absent:1"], "no image absent:1 is here"),
        (["show", "absent:1"], "no image absent:1 is here"),
        (["show", "UPPER"], "must be lowercase"),
    ],
)
def test_wrong_use_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert why in str(run(tmp_path / "home", *arguments, ok=False).exception)


def test_images_are_listed_removed_and_pruned(tmp_path: Path) -> None:
    home = tmp_path / "home"
    path = archive(tmp_path / "a.tar", oci_files(image([file("a")]), "team/a:1"))
    run(home, "import", path, "--name", "mine:1")
    rows = {r["image"]: r for r in json.loads(run(home, "ls", "-o", "json").output)}
    assert rows["nginx"]["answers"] == "nginx" and rows["mine:1"]["from"] == "imported"
    assert "mine:1" in run(home, "ls").output
    assert "0 B would be freed" in run(home, "prune", "--dry-run").output
    assert "would remove mine:1" in run(home, "prune", "--all", "--dry-run").output
    assert "removed mine:1" in run(home, "rm", "mine:1").output
    assert "mine:1" not in run(home, "ls").output


def test_what_a_program_asks_the_loader_for_is_read_from_it() -> None:
    shell = Path(os.path.realpath("/bin/sh"))
    asked = wishes(shell)
    assert "libc.so.6" in asked.libraries and asked.loader
    assert "libc.so.6" in {p.name for p in closure([shell], system_folders())}
    assert wishes(Path(__file__)).libraries == ()


needs = {
    tool: pytest.mark.skipif(not shutil.which(tool), reason=f"{tool} is not here")
    for tool in ("skopeo", "umoci")
}


@needs["skopeo"]
def test_skopeo_reads_what_we_build(built: Path) -> None:
    done = subprocess.run(
        ["skopeo", "inspect", f"oci-archive:{built}"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "COLOR=blue" in json.loads(done.stdout)["Env"]


@needs["skopeo"]
@pytest.mark.parametrize(
    "form", ["docker-archive:{}/x.tar:team/hello:2", "oci-archive:{}/x.tar:team/hello:2", "dir"]
)
def test_what_skopeo_writes_we_take_in(tmp_path: Path, built: Path, form: str) -> None:
    target = "oci:{}/folder:team/hello:2" if form == "dir" else form
    subprocess.run(
        ["skopeo", "copy", "-q", f"oci-archive:{built}", target.format(tmp_path)], check=True, timeout=120
    )
    taken = load(Store(tmp_path / "images"), tmp_path / ("folder" if form == "dir" else "x.tar"))
    assert [i.name for i in taken] == ["docker.io/team/hello:2"]


@needs["umoci"]
@pytest.mark.skipif(os.geteuid() != 0, reason="umoci keeps owners as root only")
def test_umoci_unpacks_to_the_same_files_as_we(tmp_path: Path, built: Path) -> None:
    folder = tmp_path / "layout"
    with tarfile.open(built) as tar:
        tar.extractall(folder, filter="data")
    index = json.loads((folder / "index.json").read_text())
    index["manifests"][0]["annotations"] = {"org.opencontainers.image.ref.name": "it"}
    (folder / "index.json").write_text(json.dumps(index))
    subprocess.run(
        ["umoci", "unpack", "--image", f"{folder}:it", tmp_path / "bundle"], check=True, timeout=120,
        capture_output=True,
    )  # fmt: skip
    store = Store(tmp_path / "images")
    load(store, built)
    entry = store.find(names.parse("team/hello"))
    assert entry is not None
    manifest = store.manifest(entry.manifest.digest)
    ours: dict[str, tuple[int, int]] = {}
    for layer, diff_id in zip(manifest.layers, store.config(manifest).diff_ids, strict=True):
        ours |= facts(unpack(store, layer, diff_id))
    assert ours == facts(tmp_path / "bundle/rootfs")


def facts(root: Path) -> dict[str, tuple[int, int]]:
    """Mode and size of all that is below; the size of a folder means nothing."""
    found = {str(p.relative_to(root)): p.lstat() for p in root.rglob("*")}
    return {n: (s.st_mode, s.st_size if not os.path.isdir(root / n) else 0) for n, s in found.items()}

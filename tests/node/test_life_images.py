"""Pods from images that are no suites: pulled from a registry on this machine, run on files of their own."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.images import making, registries
from tests.node.isolation_levels import SANDBOXED, levels_or_skip
from tests.node.pod_yard import Yard

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node import pulls
from paddlecloud.images.manifests import Config
from paddlecloud.images.minimalroot import libraries
from paddlecloud.images.obtaining import Image
from paddlecloud.settings import shipped


def shell(run: Mapping[str, Any]) -> making.Made:
    """The shell of this machine with the libraries it needs, and nothing else."""
    program = Path(os.path.realpath("/bin/sh"))
    files = {"bin/sh": program} | {
        path: item.source for path, item in libraries([program]).items() if item.source
    }
    passwd = making.file("etc/passwd", b"root:x:0:0::/:/bin/sh\ncook:x:1234:99::/:/bin/sh\n")
    below = [making.file(path, source.read_bytes(), 0o755) for path, source in sorted(files.items())]
    return making.image([*below, passwd], [making.file("srv/word", b"from the image\n")], run=run)


@pytest.fixture
async def registry() -> AsyncIterator[registries.Registry]:
    run = {
        "Entrypoint": ["/bin/sh", "-c"],
        "Cmd": ["read word < word; echo $word as $WHO in $PWD on $PATH"],
        "Env": ["WHO=cook", "PATH=/bin"],
        "WorkingDir": "/srv",
        "StopSignal": "SIGUSR1",
    }
    made = shell(run)
    async with registries.serving(registries.Registry(blobs=dict(made.blobs))) as it:
        it.manifests["small@1"] = (made.manifest.media_type, made.blobs[made.manifest.digest])
        it.manifests[f"small@{made.manifest.digest}"] = it.manifests["small@1"]
        yield it


@pytest.fixture(params=SANDBOXED)
async def yard(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Yard]:
    it = Yard(tmp_path, levels_or_skip(request.param))
    yield it
    await it.close()


async def test_an_image_is_pulled_once_and_runs_as_it_says(yard: Yard, registry: registries.Registry) -> None:
    name = f"127.0.0.1:{registry.port}/small:1"
    yard.run(container={"image": name, "imagePullPolicy": "IfNotPresent"})
    pod = await yard.finished()
    assert yard.log().startswith("from the image as cook in /srv on ") and pod.phase == "Succeeded"
    assert "sha256:" in pod.status["containerStatuses"][0]["imageID"]
    assert yard.reasons()[:2] == ["Pulling", "Pulled"]
    asked = registry.asked.total()
    yard.run(name="again", container={"image": name, "imagePullPolicy": "IfNotPresent"})
    await yard.finished("again")
    assert registry.asked.total() == asked


async def test_an_image_sees_nothing_of_the_machine(yard: Yard, registry: registries.Registry) -> None:
    name = f"127.0.0.1:{registry.port}/small:1"
    yard.run("/bin/sh", "-c", "for f in /bin/*; do echo $f; done", container={"image": name})
    await yard.finished()
    assert yard.log() == "/bin/sh\n"


async def test_an_image_says_by_which_signal_it_is_stopped(yard: Yard, registry: registries.Registry) -> None:
    name = f"127.0.0.1:{registry.port}/small:1"
    script = "trap 'exit 7' USR1; echo up; while :; do :; done"
    yard.run("/bin/sh", "-c", script, activeDeadlineSeconds=3, container={"image": name})
    pod = await yard.finished()
    assert pod.status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 7


async def test_plain_processes_cannot_have_files_of_an_image(
    tmp_path: Path, registry: registries.Registry
) -> None:
    yard = Yard(tmp_path)
    try:
        yard.run(container={"image": f"127.0.0.1:{registry.port}/small:1"})
        await yard.until(lambda: "brings files of its own" in str(yard.now().status))
        assert "or use a suite" in str(yard.now().status)
    finally:
        await yard.close()


POD = Pod.read({"metadata": {"name": "p"}, "spec": {"containers": []}})


@pytest.mark.parametrize(
    "container, args",
    [
        ({}, ["c"]),
        ({"args": ["a"]}, ["a"]),
        ({"command": ["b"]}, None),
        ({"command": ["b"], "args": ["a"]}, ["a"]),
    ],
)
def test_the_arguments_of_an_image_are_for_its_own_command(
    container: dict[str, Any], args: list[str] | None
) -> None:
    config = Config(entrypoint=("e",), cmd=("c",))
    for image in (Image("i", config, "sha256:0"), Image("i", config, suite="s")):
        assert pulls.shaped(POD, container, image).get("args") == args


async def test_arguments_alone_replace_what_a_suite_does_by_itself(tmp_path: Path) -> None:
    it = Yard(tmp_path)
    it.suites = shipped("suites")
    await it.restart()
    try:
        it.run(container={"image": "busybox", "args": ["echo", "hi"]})
        assert (await it.finished()).phase == "Succeeded" and it.log() == "hi\n"
    finally:
        await it.close()


@pytest.mark.parametrize(
    "said, ids",
    [
        ("1", (1, None)),
        ("1:2", (1, 2)),
        ("cook", (1234, 99)),
        ("cook:3", (1234, 3)),
        ("cook:kitchen", (1234, 55)),
    ],
)
def test_the_user_of_an_image_is_a_number_or_a_name_of_its_own_files(
    tmp_path: Path, said: str, ids: tuple[int, int | None]
) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").write_text("cook:x:1234:99::/:/bin/sh\n")
    (tmp_path / "etc" / "group").write_text("kitchen:x:55:\n")
    assert pulls.user_of(said, [tmp_path]) == ids

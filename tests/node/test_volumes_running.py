"""Volumes of running pods: what changes reaches them, what grows too big ends them, nothing of them stays."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.node.isolation_levels import LEVELS, SANDBOXED, levels_or_skip
from tests.node.pod_yard import NODE, Yard
from tests.node.volume_shelf import a_pod

from paddlecloud.api.core import ConfigMap, Secret
from paddlecloud.api.meta import Key
from paddlecloud.embedded.node.commands import Wish, started
from paddlecloud.embedded.node.volumes.refreshing import Reference, Refreshing, references
from paddlecloud.embedded.node.workshop import place_of

# Prints whenever the file is another, without keeping it open.
SHOW = 'old=; while :; do new=$(cat "$0"); [ "$new" = "$old" ] || echo "$new"; old=$new; sleep 0.02; done'


@pytest.fixture(params=LEVELS)
async def yard(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Yard]:
    it = Yard(tmp_path, levels_or_skip(request.param))
    yield it
    await it.close()


@pytest.fixture(params=SANDBOXED)
async def sandboxed(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Yard]:
    it = Yard(tmp_path, levels_or_skip(request.param))
    yield it
    await it.close()


@asynccontextmanager
async def refreshed(yard: Yard) -> AsyncIterator[Refreshing]:
    it = Refreshing(
        yard.roster.every,
        lambda pod: place_of(pod, yard.shop),
        yard.shelf,
        yard.shop.recorder,
        yard.roster.evict,
    )
    task = asyncio.create_task(it.run())
    try:
        yield it
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def put(yard: Yard, kind: type[ConfigMap] | type[Secret], value: str) -> None:
    text = base64.b64encode(value.encode()).decode() if kind is Secret else value
    body = {"metadata": {"name": "x", "namespace": "d"}, "data": {"key": text}}
    yard.shelf.others[kind, "x"] = kind.read(body)


@pytest.mark.parametrize(
    "kind, volume",
    [
        (ConfigMap, {"configMap": {"name": "x"}}),
        (Secret, {"secret": {"secretName": "x"}}),
        (Secret, {"projected": {"sources": [{"secret": {"name": "x"}}]}}),
    ],
    ids=["configMap", "secret", "projected"],
)
async def test_a_change_reaches_a_running_pod(
    yard: Yard, kind: type[ConfigMap] | type[Secret], volume: dict[str, Any]
) -> None:
    put(yard, kind, "first")
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/shown"}]}
    yard.run("sh", "-c", SHOW, "/shown/key", volumes=[{"name": "v", **volume}], container=mount)
    await yard.until(lambda: yard.log() == "first\n")
    async with refreshed(yard) as refreshing:
        put(yard, kind, "second")
        refreshing.changed(kind.kind, Key("d", "x"))
        await yard.until(lambda: yard.log() == "first\nsecond\n")


async def test_labels_that_change_reach_a_running_pod(yard: Yard) -> None:
    item = {"path": "key", "fieldRef": {"fieldPath": "metadata.labels"}}
    volume = {"name": "v", "downwardAPI": {"items": [item]}}
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/shown"}]}
    yard.run("sh", "-c", SHOW, "/shown/key", volumes=[volume], container=mount)
    await yard.until(lambda: yard.now().phase == "Running")
    before = yard.now()
    yard.shelf.put(before.but(metadata=before.metadata.but(labels={"a": "b"})))
    await yard.until(lambda: yard.log() == 'a="b"\n')


async def test_a_label_that_came_while_nobody_kept_the_pod_is_shown(yard: Yard) -> None:
    item = {"path": "key", "fieldRef": {"fieldPath": "metadata.labels"}}
    volume = {"name": "v", "downwardAPI": {"items": [item]}}
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/shown"}]}
    yard.run("sh", "-c", SHOW, "/shown/key", volumes=[volume], container=mount)
    await yard.until(lambda: yard.now().phase == "Running")
    await yard.roster.close()
    before = yard.now()
    yard.shelf.put(before.but(metadata=before.metadata.but(labels={"a": "b"})))
    await yard.restart()
    await yard.until(lambda: yard.log() == 'a="b"\n')


async def test_a_label_that_came_while_something_was_missing_is_shown(yard: Yard) -> None:
    item = {"path": "key", "fieldRef": {"fieldPath": "metadata.labels['go']"}}
    volumes = [
        {"name": "v", "downwardAPI": {"items": [item]}},
        {"name": "w", "configMap": {"name": "x"}},
    ]
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/shown"}, {"name": "w", "mountPath": "/late"}]}
    yard.run("cat", "/shown/key", volumes=volumes, container=mount)
    await yard.until(lambda: "FailedMount" in yard.reasons())
    before = yard.now()
    yard.shelf.put(before.but(metadata=before.metadata.but(labels={"go": "yes"})))
    put(yard, ConfigMap, "here")
    await yard.until(lambda: yard.log() == "yes")


async def test_a_file_mounted_by_itself_stays_as_it_was(sandboxed: Yard) -> None:
    put(sandboxed, ConfigMap, "first")
    mounts = [
        {"name": "v", "mountPath": "/whole"},
        {"name": "v", "mountPath": "/alone", "subPath": "key"},
    ]
    show = "until grep -q second /whole/key; do sleep 0.02; done; cat /alone"
    sandboxed.run(
        "sh",
        "-c",
        show,
        volumes=[{"name": "v", "configMap": {"name": "x"}}],
        container={"volumeMounts": mounts},
    )
    await sandboxed.until(lambda: sandboxed.now().phase == "Running")
    async with refreshed(sandboxed) as refreshing:
        put(sandboxed, ConfigMap, "second")
        refreshing.changed("ConfigMap", Key("d", "x"))
        await sandboxed.finished()
    assert sandboxed.log() == "first"


async def test_what_is_taken_away_stays_and_is_told(yard: Yard) -> None:
    put(yard, ConfigMap, "first")
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/shown"}]}
    volume = {"name": "v", "configMap": {"name": "x"}}
    yard.run("sh", "-c", SHOW, "/shown/key", volumes=[volume], container=mount)
    await yard.until(lambda: yard.log() == "first\n")
    async with refreshed(yard) as refreshing:
        del yard.shelf.others[ConfigMap, "x"]
        refreshing.changed("ConfigMap", Key("d", "x"))
        await yard.until(lambda: "FailedMount" in yard.reasons())
    assert (place_of(yard.now(), yard.shop).folder / "v" / "key").read_text() == "first"


async def test_a_pod_whose_folder_grows_too_big_is_evicted(yard: Yard) -> None:
    volume = {"name": "v", "emptyDir": {"sizeLimit": "64Ki"}}
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    fill = "head -c 200000 /dev/zero > /v/big; echo full; sleep 600"
    yard.run("sh", "-c", fill, volumes=[volume], container=mount, terminationGracePeriodSeconds=0)
    await yard.until(lambda: yard.log() == "full\n")
    async with refreshed(yard) as refreshing:
        await refreshing.weigh(yard.now())
        pod = await yard.finished()
    why = 'Usage of EmptyDir volume "v" exceeds the limit "64Ki". '
    assert (pod.phase, pod.status["reason"], pod.status["message"]) == ("Failed", "Evicted", why)
    assert "Evicted" in yard.reasons()


async def test_memory_is_a_file_system_of_its_size_that_outlives_containers_and_node(
    sandboxed: Yard,
) -> None:
    script = (
        "grep -q ' /m tmpfs' /proc/mounts && echo memory >> /m/said; cat /m/said; "
        "head -c 2000000 /dev/zero > /m/big; ls -l /m/big | awk '{print $5}'; rm /m/big; "
        "while [ ! -e /m/go ]; do sleep 0.02; done; rm /m/go; exit 1"
    )
    both = {"image": "tried", "volumeMounts": [{"name": "m", "mountPath": "/m"}]}
    listens = "while [ ! -e /m/said ]; do sleep 0.02; done; cat /m/said; exec sleep 600"
    sandboxed.run(
        restartPolicy="Always",
        terminationGracePeriodSeconds=0,
        volumes=[{"name": "m", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}],
        containers=[
            {"name": "main", "command": ["sh", "-c", script], **both},
            {"name": "beside", "command": ["sh", "-c", listens], **both},
        ],
    )
    await sandboxed.until(lambda: "1048576" in sandboxed.log() or "1044480" in sandboxed.log())
    assert "No space left on device" in sandboxed.log()
    await sandboxed.until(lambda: sandboxed.log(container="beside") == "memory\n")
    await sandboxed.restart()
    folder = place_of(sandboxed.now(), sandboxed.shop).folder / "m"
    assert folder.is_dir() and not any(folder.iterdir())
    found = sandboxed.roster.find("d", "p")
    assert found is not None
    async with refreshed(sandboxed) as refreshing:
        await refreshing.weigh(sandboxed.now())
    wish = Wish(("sh", "-c", "touch /m/go"))
    async with started(sandboxed.shop.launcher, found.run_folder("beside", 0), wish) as command:
        await command.over.wait()
    await sandboxed.until(lambda: sandboxed.log(number=1).startswith("memory\nmemory\n"))
    assert "Evicted" not in sandboxed.reasons()


async def test_nothing_of_a_pod_stays_in_memory_or_in_its_folder(yard: Yard, tmp_path: Path) -> None:
    yard.memory = tmp_path / "memory"
    yard.memory.mkdir(mode=0o700)
    await yard.restart()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    put(yard, Secret, "hidden")
    volumes = [
        {"name": "s", "secret": {"secretName": "x"}},
        {"name": "m", "emptyDir": {"medium": "Memory"}},
        {"name": "e", "emptyDir": {}},
    ]
    mounts = [{"name": v["name"], "mountPath": f"/{v['name']}"} for v in volumes]
    work = f"cat /s/key; ln -s {outside} /e/way-out; ln -s {outside} /m/way-out; echo x > /m/file"
    yard.run("sh", "-c", work, volumes=volumes, container={"volumeMounts": mounts})
    pod = await yard.finished()
    assert yard.log() == "hidden"
    yard.shelf.delete(pod)
    folder = yard.home.pods(NODE) / pod.uid
    await yard.until(lambda: not folder.exists())
    assert list(yard.memory.iterdir()) == []
    assert (outside / "kept").exists()


def test_what_the_volumes_of_a_pod_refer_to() -> None:
    pod = a_pod(
        {"name": "a", "configMap": {"name": "m"}},
        {"name": "b", "secret": {"secretName": "s"}},
        {"name": "c", "projected": {"sources": [{"secret": {"name": "t"}}, {"configMap": {"name": "n"}}]}},
        {"name": "d", "emptyDir": {}},
    )
    assert references(pod) == {
        Reference("ConfigMap", "d", "m"),
        Reference("Secret", "d", "s"),
        Reference("Secret", "d", "t"),
        Reference("ConfigMap", "d", "n"),
    }

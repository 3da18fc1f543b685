"""Logs that a controller keeps where nobody else does: a real API, and a node that only has logs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.decisions.builders import a_role

from paddlecloud.api.core import ConfigMap, Node, Pod
from paddlecloud.api.meta import Metadata
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.controllers import paddlejob
from paddlecloud.controllers.contract import Controller
from paddlecloud.controllers.health import Health
from paddlecloud.controllers.joblogs import kept_name, restored
from paddlecloud.controllers.runtime import Options, Runtime
from paddlecloud.embedded.identity import establish
from paddlecloud.embedded.server.serve import serving
from paddlecloud.sdk.client import Client as SyncClient
from paddlecloud.sdk.joblines import LogWish, lines_of
from paddlecloud.settings import Home

STAMP = "2024-06-01T12:00:00.000000000Z"


class Stage:
    """An API, a client of its owner, and a node that only has logs."""

    def __init__(self, home: Home, owner: Client) -> None:
        self.home, self.owner = home, owner
        self.silent_for = 0
        self.asked = 0

    async def log(self, request: web.Request) -> web.Response:
        self.asked += 1
        if self.asked <= self.silent_for:
            raise web.HTTPInternalServerError(text="busy")
        return web.Response(text=f"{STAMP} words of {request.match_info['pod']}\n{STAMP} the end\n")

    async def end(self, name: str) -> None:
        """Its pods run and succeed."""
        for phase, state in (("Running", {"running": {}}), ("Succeeded", {"terminated": {"exitCode": 0}})):
            await self.until(lambda: self.pods(name, 2))
            for number, pod in enumerate(await self.pods(name, 2)):
                container = {"name": "main", "image": "x", "imageID": "", "ready": True, "restartCount": 0}
                status = {"phase": phase, "podIP": f"10.0.0.{number + 1}",
                          "containerStatuses": [{**container, "state": state}]}  # fmt: skip
                await self.owner.patch_status(Pod, pod.key, status)
            wanted = "Completed" if phase == "Succeeded" else "Running"
            await self.until(lambda wanted=wanted: self.reached(name, wanted))

    async def reached(self, name: str, phase: str) -> bool:
        return (await self.owner.get(PaddleJob, "default", name)).status.phase == phase

    async def pods(self, name: str, count: int) -> list[Pod]:
        """All of them once there are so many."""
        found = [p for p in (await self.owner.list(Pod, "default")).items if p.name.startswith(name)]
        return found if len(found) == count else []

    async def until(self, condition: Any) -> None:
        async with asyncio.timeout(30):
            while not await condition():
                await asyncio.sleep(0.02)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    home = Home(tmp_path / "h")
    async with serving(home, establish(home)), Client(from_kubeconfig(home.kubeconfig)) as owner:
        made = Stage(home, owner)
        app = web.Application()
        app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", made.log)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.UnixSite(runner, str(home.run / "node.sock")).start()
        await owner.create(Node(metadata=Metadata(name="node-0")))
        try:
            yield made
        finally:
            await runner.cleanup()


@pytest.mark.parametrize("silent_for", [0, 3])
async def test_the_logs_are_there_when_the_pods_are_gone(stage: Stage, silent_for: int) -> None:
    stage.silent_for = silent_for
    spec = {"cleanPodPolicy": "Always", "worker": a_role(2, nodeName="node-0")}
    job = PaddleJob.read({"metadata": {"name": "j", "namespace": "default"}, "spec": spec})
    await stage.owner.create(job)
    controllers: tuple[Controller, ...] = (paddlejob.CONTROLLER,)
    runtime = Runtime(controllers, stage.owner, Options(), Health())
    task = asyncio.create_task(runtime.run())
    try:
        await stage.end("j")

        async def gone() -> bool:
            pods = [p for p in (await stage.owner.list(Pod, "default")).items if p.name.startswith("j-")]
            return all(pod.metadata.deletion_timestamp for pod in pods)

        await stage.until(gone)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    log = await stage.owner.get(ConfigMap, "default", kept_name("j-worker-1"))
    assert restored(log)[:1] == [f"{STAMP} words of j-worker-1".encode()]
    held = [c for c in runtime.informers[ConfigMap].all() if c.name == log.name]
    assert held and not held[0].binary_data, "the controller does not hold it in memory"
    for pod in (await stage.owner.list(Pod, "default")).items:
        await stage.owner.delete(Pod, pod.key, grace=0)

    said = await asyncio.to_thread(read_again, stage.home)
    assert said == [
        f"[{who}] {text}" for who in ("worker-0", "worker-1") for text in (f"words of j-{who}", "the end")
    ]


def read_again(home: Home) -> list[str]:
    with SyncClient(from_kubeconfig(home.kubeconfig)) as client:
        job = client.get(PaddleJob, "default", "j")
        return [f"[{line.speaker}] {line.text}" for line in lines_of(client, job, LogWish())]

"""How long a change takes to reach a hundred watchers."""

from __future__ import annotations

import asyncio
import json
import ssl
import time

from benchmarks.wire import Measured, Target, connect


async def fan_out(target: Target, namespace: str, *, watchers: int, events: int) -> Measured:
    """Create objects one by one; every watcher notes when it heard of each."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    measured = Measured()
    sent: dict[str, float] = {}
    ready, finished = asyncio.Semaphore(0), asyncio.Semaphore(0)

    async def watch() -> None:
        context = ssl.create_default_context(cadata=target.ca)
        reader, writer = await asyncio.open_connection(target.host, target.port, ssl=context, limit=2**24)
        writer.write(target.request("GET", f"{path}?watch=true&labelSelector=fan%3Dout&timeoutSeconds=600"))
        await reader.readuntil(b"\r\n\r\n")
        ready.release()
        heard = 0
        while heard < events:
            line = await reader.readline()
            if not line.startswith(b"{"):
                continue
            name = json.loads(line)["object"]["metadata"]["name"]
            measured.times.append((time.perf_counter() - sent[name]) * 1000)
            heard += 1
        finished.release()
        writer.close()

    tasks = [asyncio.create_task(watch()) for _ in range(watchers)]
    for _ in range(watchers):
        await ready.acquire()
    connection = await connect(target)
    began = time.perf_counter()
    for i in range(events):
        body = {"metadata": {"name": f"fan-{i}", "labels": {"fan": "out"}}, "data": {"key": "value"}}
        sent[f"fan-{i}"] = time.perf_counter()
        status, _ = await connection.ask(target.request("POST", path, body))
        assert status == 201, connection.last
    for _ in range(watchers):
        await finished.acquire()
    measured.seconds = time.perf_counter() - began
    connection.close()
    await asyncio.gather(*tasks)
    return measured

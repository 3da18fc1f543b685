"""The model server on one core, beside the engine alone and beside other servers with the same engine.

    python -m benchmarks.serving [--seconds 5] [--clients 16] [--peers fastapi,kserve,bentoml]

Servers run on the first core, the clients on the last; each server is started for its turn and ended after
it. The others come from the package registry into environments of their own below the user's cache; one that
cannot be had is named and left out. On a busy machine the wall clock says little, so what is compared is the
requests answered in a second of the server's own processor time, all its processes together. Of several
rounds the better one counts: noise only slows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from struct import pack
from tempfile import TemporaryDirectory

import uv
import uvloop
from tests.suites.environments import python, variables

HERE = Path(__file__).parent / "servingpeers"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paddlecloud" / "serving-peers"
ENGINE = ["onnxruntime==1.31.1", "numpy==2.3.5", "orjson"]
PACKAGES = {
    "fastapi": ["fastapi", "uvicorn[standard]", *ENGINE],
    "kserve": ["kserve", "onnxruntime==1.31.1"],
    "bentoml": ["bentoml", "onnxruntime==1.31.1"],
}
SHAPES = {"mlp": [64], "cnn": [3, 224, 224]}
PATIENCE = 60.0
TARGETS = {"fastapi": 1.3, "kserve": 2.0, "bentoml": 2.0}
TARGET_RAW = 0.8
SPLIT = "Inference-Header-Content-Length"
# Asked once: a client stays on its core, and what it starts later would be told of that one alone.
CORES = sorted(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Measured:
    rate: float
    work: float
    """Answers in a second of processor time."""
    median: float
    slow: float

    def __str__(self) -> str:
        times = f"p50 {self.median * 1e3:7.2f} ms   p99 {self.slow * 1e3:7.2f} ms"
        return f"{self.rate:9.1f} /s   {self.work:9.1f} a cpu second   {times}"


@dataclass(frozen=True)
class Server:
    name: str
    command: Callable[[Path, int], list[str]]
    environ: Callable[[Path], dict[str, str]]
    request: Callable[[str], bytes]
    """What to send for a model."""
    health: str


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peers", default="fastapi,kserve,bentoml")
    parser.add_argument("--models", default="mlp,cnn")
    options = parser.parse_args()
    servers = [ours(), *(peer for name in options.peers.split(",") if name and (peer := had(name)))]
    with TemporaryDirectory() as folder:
        models = Path(folder)
        subprocess.run([python("shapes"), str(HERE / "models.py"), folder], check=True)
        cases = [("mlp", 1), ("mlp", options.clients), ("cnn", 1), ("cnn", 4)]
        for model, clients in [c for c in cases if c[0] in options.models.split(",")]:
            print(f"{model}, {clients} clients")
            compare(model, clients, servers, models, options)


def compare(
    model: str, clients: int, servers: list[Server], models: Path, options: argparse.Namespace
) -> None:
    best: dict[str, Measured] = {}
    for _ in range(options.rounds):
        results = {"raw": raw(models / model / "model.onnx", options.seconds, SHAPES[model])}
        for server in servers:
            with running(server, models / model / "model.onnx") as (port, process):
                asked = Load(port, process, server.request(model), clients, options.seconds)
                results[server.name] = uvloop.run(asked.run())
        for name, measured in results.items():
            best[name] = max(best.get(name, measured), measured, key=lambda m: m.work)
    for name, measured in best.items():
        share = best["ours"].work / measured.work
        wanted = TARGETS.get(name) if (model, clients) == ("mlp", options.clients) else None
        if name == "raw" and model == "cnn":
            wanted = TARGET_RAW
        verdict = f"   wanted {wanted:g}: {'met' if share >= wanted else 'MISSED'}" if wanted else ""
        print(f"  {name:8} {measured}   ours is {share:5.2f} x{verdict}", flush=True)


def raw(model: Path, seconds: float, shape: list[int]) -> Measured:
    command = [python("serving"), str(HERE / "raw.py"), str(model), str(seconds), *map(str, shape)]
    done = subprocess.run([*pinned(), *command], env=variables("serving"), capture_output=True, check=True)
    told = json.loads(done.stdout)
    return measured(told["times"], seconds, told["processor"])


def measured(times: list[float], seconds: float, processor: float) -> Measured:
    cuts = statistics.quantiles(times, n=100)
    return Measured(len(times) / seconds, len(times) / processor, cuts[49], cuts[98])


def ours() -> Server:
    def command(model: Path, port: int) -> list[str]:
        module = ["-m", "paddlecloud.serving.server", "--model", f"model={model.parent}"]
        return [python("serving"), *module, "--port", str(port)]

    def request(model: str) -> bytes:
        if model == "cnn":
            return binary("/v2/models/model/infer", SHAPES[model])
        body = json.dumps({"feed": {"x": numbers(model)}, "fetch": ["y"]})
        return posted("/model/prediction", body.encode())

    return Server("ours", command, lambda _: variables("serving"), request, "/readyz")


def had(name: str) -> Server | None:
    """A peer whose environment is there or could be made."""
    folder = CACHE / name
    try:
        if not (folder / "complete").exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            tool = [uv.find_uv_bin(), "--quiet"]
            subprocess.run([*tool, "venv", "--clear", "--python", sys.executable, str(folder)], check=True)
            into = ["--python", str(folder / "bin" / "python")]
            subprocess.run([*tool, "pip", "install", *into, *PACKAGES[name]], check=True)
            (folder / "complete").touch()
    except subprocess.CalledProcessError as error:
        print(f"{name} cannot be had: {error}", file=sys.stderr)
        return None
    return peer(name, folder / "bin")


def peer(name: str, programs: Path) -> Server:
    environ = {"PATH": f"{programs}:/usr/bin:/bin", "OMP_NUM_THREADS": "1", "HOME": str(CACHE)}

    def request(model: str) -> bytes:
        if name == "fastapi":
            if model == "cnn":
                return posted("/predict", sample(model), "application/octet-stream")
            return posted("/predict", json.dumps({"x": numbers(model)}).encode())
        if name == "bentoml":
            return posted("/predict", json.dumps({"x": [nested(numbers(model), SHAPES[model])]}).encode())
        if model == "cnn":
            return binary("/v2/models/model/infer", SHAPES[model])
        one = {"name": "x", "datatype": "FP32", "shape": [1, *SHAPES[model]], "data": numbers(model)}
        return posted("/v2/models/model/infer", json.dumps({"inputs": [one]}).encode())

    def command(model: Path, port: int) -> list[str]:
        if name == "bentoml":
            tool = [str(programs / "bentoml"), "serve", "bentoml_service:Predictor", "--host", "127.0.0.1"]
            return [*tool, "--port", str(port), "--working-dir", str(HERE)]
        return [str(programs / "python"), str(HERE / f"{name}_server.py"), str(model), str(port)]

    more = {"BENTOML_DO_NOT_TRACK": "True", "BENTOML_HOME": str(CACHE / "bento")}
    health = {"fastapi": "/docs", "bentoml": "/readyz", "kserve": "/v2/health/ready"}[name]
    return Server(name, command, lambda model: {**environ, **more, "MODEL": str(model)}, request, health)


def numbers(model: str) -> list[float]:
    random = Random(0)
    count = 1
    for size in SHAPES[model]:
        count *= size
    return [round(random.random(), 6) for _ in range(count)]


def nested(flat: list[float], shape: list[int]) -> list[object]:
    if len(shape) == 1:
        return list(flat)
    step = len(flat) // shape[0]
    return [nested(flat[i : i + step], shape[1:]) for i in range(0, len(flat), step)]


def sample(model: str) -> bytes:
    values = numbers(model)
    return pack(f"<{len(values)}f", *values)


def binary(path: str, shape: list[int]) -> bytes:
    data = sample("cnn")
    one = {"name": "x", "datatype": "FP32", "shape": [1, *shape]}
    one["parameters"] = {"binary_data_size": len(data)}  # type: ignore[assignment]
    head = json.dumps({"inputs": [one]}).encode()
    return posted(path, head + data, "application/octet-stream", f"{SPLIT}: {len(head)}\r\n")


def posted(path: str, body: bytes, kind: str = "application/json", more: str = "") -> bytes:
    about = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}"
    return f"POST {path} HTTP/1.1\r\nHost: x\r\n{about}\r\n".encode() + body


def pinned() -> list[str]:
    return ["taskset", "-c", str(CORES[0])]


@contextmanager
def running(server: Server, model: Path) -> Iterator[tuple[int, int]]:
    """The port and the process of a server that is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [*pinned(), *server.command(model, port)]
    process = subprocess.Popen(
        command, env=server.environ(model), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        ready(port, server, process)
        yield port, process.pid
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def ready(port: int, server: Server, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as to:
                to.sendall(f"GET {server.health} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
                if b" 200 " in to.recv(64):
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise RuntimeError(f"{server.name} did not become ready")


@dataclass(frozen=True)
class Load:
    """Every client sends its next request when the last was answered; the first second does not count."""

    port: int
    process: int
    request: bytes
    clients: int
    seconds: float

    async def run(self) -> Measured:
        os.sched_setaffinity(0, {CORES[-1]})
        begin = time.perf_counter() + 1.0
        work = [client(self.port, self.request, begin, begin + self.seconds) for _ in range(self.clients)]
        spent, done = await asyncio.gather(self.spent(), asyncio.gather(*work))
        return measured([one for times in done for one in times], self.seconds, spent)

    async def spent(self) -> float:
        """Processor time of the server while the requests count."""
        await asyncio.sleep(1.0)
        before = processor_time(self.process)
        await asyncio.sleep(self.seconds)
        return processor_time(self.process) - before


def processor_time(process: int) -> float:
    """Seconds that a process and those below it have used."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0.0
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(processor_time(int(child)) for child in children)


async def client(port: int, request: bytes, begin: float, until: float) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times = []
    try:
        while (asked := time.perf_counter()) < until:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if b" 200 " not in head[:16]:
                raise RuntimeError(f"answered {head!r} {await reader.read(500)!r}")
            lines = head.lower().split(b"\r\n")
            length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
            await reader.readexactly(length)
            if asked >= begin:
                times.append(time.perf_counter() - asked)
    finally:
        writer.close()
    return times


if __name__ == "__main__":
    main()

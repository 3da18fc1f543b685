"""Collective training with two workers: as a PaddleJob, and as the same two processes started by hand.

    .venv/bin/python -m benchmarks.training [--rounds 3] [--steps 400]

Both sides run the same script with the same Python, Paddle and variables, in turns; what is compared is what
the script itself measures between its first and its last step, so that starting up counts on neither side.
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import statistics
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.nodes import cluster
from paddlecloud.api.meta import Key
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.sdk.client import Client
from paddlecloud.sdk.submitting import submit
from paddlecloud.sdk.training import Training
from paddlecloud.sdk.waiting import wait_for

WANTED = 0.97
RATE = re.compile(r"steps/s ([\d.]+)")
PYTHON = re.compile(r"python (\S+)")
SCRIPT = """
import os, sys, time
os.environ["OMP_NUM_THREADS"] = "1"
import paddle
import paddle.distributed as dist

print("python", sys.executable, flush=True)
dist.init_parallel_env()
paddle.seed(1)
net = paddle.nn.Sequential(paddle.nn.Linear(256, 512), paddle.nn.ReLU(), paddle.nn.Linear(512, 10))
model = paddle.DataParallel(net)
optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())
images, labels = paddle.randn([64, 256]), paddle.randint(0, 10, [64])
steps, warm = int(os.environ["STEPS"]), 50
for step in range(warm + steps):
    if step == warm:
        begin = time.perf_counter()
    loss = paddle.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
float(loss)
print(f"steps/s {steps / (time.perf_counter() - begin):.2f}", flush=True)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    ours, by_hand = [], []
    with (
        tempfile.TemporaryDirectory(prefix="pdc-bench-") as folder,
        cluster(Path(folder) / "h", "root") as home,
        Client(from_kubeconfig(home.kubeconfig)) as client,
    ):
        for number in range(options.rounds):
            rate, python = as_a_job(client, f"round-{number}", options.steps)
            ours.append(rate)
            by_hand.append(as_processes(python, options.steps))
    table = Table(title=f"two workers, {options.steps} steps, {options.rounds} rounds in turns, medians")
    for column in ("steps/s as a PaddleJob", "steps/s by hand", "ratio", "wanted"):
        table.add_column(column, justify="right")
    a, b = statistics.median(ours), statistics.median(by_hand)
    table.add_row(f"{a:.1f}", f"{b:.1f}", f"{a / b:.3f}", f"≥ {WANTED}")
    console = Console()
    console.print(table)
    console.print(f"rounds: {[round(x / y, 3) for x, y in zip(ours, by_hand, strict=True)]}")


def as_a_job(client: Client, name: str, steps: int) -> tuple[float, str]:
    """Steps a second, and the Python they ran with."""
    training = Training(name, "bench.py", {"bench.py": SCRIPT}, workers=2, env={"STEPS": str(steps)})
    code, job = training.objects()
    submit(client, job, code)
    wait_for(client, PaddleJob, Key("default", name), lambda job: job.status.phase.final, timeout=600)
    text = client.logs("default", f"{name}-worker-0", container="paddle")
    rate, python = RATE.search(text), PYTHON.search(text)
    if rate is None or python is None:
        raise SystemExit(f"the job did not come to its end:\n{text}")
    return float(rate[1]), python[1]


def as_processes(python: str, steps: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bench.py"
        script.write_text(SCRIPT)
        ports = [free_port() for _ in range(2)]
        endpoints = [f"127.0.0.1:{port}" for port in ports]
        workers = [
            subprocess.Popen(
                [python, str(script)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env={
                    "PATH": os.environ["PATH"],
                    "HOME": folder,
                    "STEPS": str(steps),
                    "OMP_NUM_THREADS": "1",
                    "PADDLE_DISTRI_BACKEND": "gloo",
                    "PADDLE_TRAINER_ID": str(rank),
                    "PADDLE_TRAINERS_NUM": "2",
                    "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
                    "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
                },
            )
            for rank in range(2)
        ]
        said = [worker.communicate(timeout=600)[0] for worker in workers]
    found = RATE.search(said[0])
    if found is None:
        raise SystemExit(f"the processes did not come to their end:\n{said[0]}")
    return float(found[1])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()

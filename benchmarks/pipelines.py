"""Steps of pipelines beside the SDK's own runner, chains and fan-outs that grow, and 500 runs at once.

    .venv/bin/python -m benchmarks.pipelines [--only steps|growth|runs] [--runs 500]

The same lightweight component runs as a step of ours and in `kfp.local`, in turns, with the pip that it
brings by default and without. A step is everything from ready to seen as finished: a chain of them, divided.
Packages come through the pipelines service, caching as the compiler left it, each run its own value.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from rich.console import Console
from rich.table import Table
from tests.pipelines.environment import binaries
from tests.suites.environments import ROOT

from benchmarks.footprint import memory, platform, processor
from paddlecloud.api.workflowrun import WorkflowRun
from paddlecloud.cli import clusters
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.controllers.workflowrun import ID_LABEL
from paddlecloud.embedded.identity import known
from paddlecloud.pipelines.service.shelf import NAMESPACE
from paddlecloud.sdk.client import Client
from paddlecloud.sdk.waiting import wait_for
from paddlecloud.settings import Home

PROGRAM = Path(__file__).parent / "localpipelines.py"
STEPS, ROUNDS = 10, 3
CHAINS, FANS = (25, 50, 100), (50, 100, 200)
SERVED = ("controllers", "gateway")
"""The controllers walk through the runs, the gateway's process has the service in it."""


class Row(NamedTuple):
    what: str
    seen: str
    wanted: str = ""


class Service:
    """The pipelines service of a home, as a client of kfp speaks to it."""

    def __init__(self, home: Home, packages: Path) -> None:
        identity = known(home)
        assert identity is not None
        self.home, self._packages = home, packages
        self._address = f"{identity.pipelines}/apis/v2beta1"
        self._values = iter(range(0, 10**9, 1000))

    def begin(self, package: str) -> str:
        """Start a run; its id."""
        spec = yaml.safe_load((self._packages / f"{package}.yaml").read_text())
        body = {
            "display_name": package,
            "pipeline_spec": spec,
            "runtime_config": {"parameters": {"start": next(self._values)}},
        }
        return str(self._ask("/runs", body)["run_id"])

    def timed(self, package: str) -> float:
        """Seconds until a run was seen as succeeded."""
        began = time.perf_counter()
        id = self.begin(package)
        with Client(from_kubeconfig(self.home.kubeconfig)) as client:
            [run] = client.list(WorkflowRun, NAMESPACE, labels={ID_LABEL: id}).items
            # Watched: a client that asks all the time would be what is measured.
            ended = wait_for(client, WorkflowRun, run.key, lambda r: r.status.phase.final, 600)
        assert ended.status.phase == "Succeeded", f"the run of {package} ended as {ended.status}"
        return time.perf_counter() - began

    def ended(self) -> dict[str, int]:
        """How many runs are in which state."""
        counts: dict[str, int] = {}
        token = ""
        while True:
            page = self._ask(f"/runs?page_size=200&page_token={token}")
            for run in page.get("runs") or ():
                counts[run["state"]] = counts.get(run["state"], 0) + 1
            token = page.get("next_page_token") or ""
            if not token:
                return counts

    def _ask(self, path: str, body: Any = None) -> Any:
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._address + path, content, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def pids(self, *roles: str) -> list[int]:
        found = platform(self.home).roles
        return [found[role] for role in roles or found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS, help="one part of it")
    parser.add_argument("--runs", type=int, default=500, help="how many at once")
    options = parser.parse_args()
    console = Console(width=110)
    console.print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="pdc-bench-") as folder:
        sdk("packages", folder)
        for name, part in PARTS.items():
            if options.only in (None, name):
                with cluster(Path(folder)) as service:
                    rows = part(service, options)
                console.print(table(name, rows))


def sdk(*arguments: str) -> str:
    """What the program with the SDK prints last."""
    folder = binaries(2)
    environ = {"PATH": f"{folder}:{os.defpath}", "HOME": tempfile.gettempdir(), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [folder / "python", "-W", "ignore", PROGRAM, *arguments],
        env=environ, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip().rpartition("\n")[2]


@contextmanager
def cluster(folder: Path) -> Iterator[Service]:
    with tempfile.TemporaryDirectory(prefix="home-", dir=folder) as home:
        place = Home(Path(home))
        os.environ["PADDLECLOUD_ENVIRONMENTS"] = str(ROOT)
        clusters.start(place, [])
        try:
            yield Service(place, folder)
        finally:
            clusters.stop(place)


def steps(service: Service, _: argparse.Namespace) -> list[Row]:
    """Ours and the SDK's runner in turns; the middle of the rounds counts."""
    service.timed("python-5")
    mine, theirs = [], []
    for _ in range(ROUNDS):
        mine.append(service.timed(f"python-{STEPS}") / STEPS)
        theirs.append(json.loads(sdk("time", str(STEPS))))
    ours = statistics.median(mine)
    pip, bare = (statistics.median(t[how] for t in theirs) for how in ("pip", "bare"))
    return [
        Row("a step of ours", f"{ours * 1000:.0f} ms"),
        Row("kfp.local with its pip", f"{pip * 1000:.0f} ms = {pip / ours:.1f} × ours", "at least 5 ×"),
        Row("kfp.local without it", f"{bare * 1000:.0f} ms; ours is {ours / bare:.2f} ×", "at most 1.5 ×"),
    ]


def growth(service: Service, _: argparse.Namespace) -> list[Row]:
    service.timed("relay-5")
    rows = []
    for words, sizes in (("relay", CHAINS), ("fan", FANS)):
        costs = {}
        for size in sizes:
            before = processor(service.pids("controllers"))
            wall = service.timed(f"{words}-{size}")
            used = processor(service.pids("controllers")) - before
            costs[size] = wall / size, used / size
            rows.append(
                Row(
                    f"{'chain' if words == 'relay' else 'fan-out'} of {size}",
                    f"{wall:.1f} s, {wall / size * 1000:.0f} ms a step; controllers {used:.2f} s, "
                    f"{used / size * 1000:.1f} ms a step",
                )
            )
        first, last = costs[sizes[0]], costs[sizes[-1]]
        ratios = f"wall {last[0] / first[0]:.2f} ×, controllers {last[1] / first[1]:.2f} ×"
        rows.append(Row(f"a step of {sizes[-1]} against one of {sizes[0]}", ratios, "linear: about 1"))
    return rows


def runs(service: Service, options: argparse.Namespace) -> list[Row]:
    service.timed("eight")
    idle = memory(service.pids())
    peak = Peak(service)
    before = processor(service.pids("controllers"))
    began = time.perf_counter()
    with peak:
        for _ in range(options.runs):
            service.begin("eight")
        submitted = time.perf_counter() - began
        while (states := service.ended()).get("SUCCEEDED", 0) < options.runs + 1:
            assert not states.get("FAILED"), f"runs failed: {states}"
            time.sleep(2)
    wall = time.perf_counter() - began
    used = processor(service.pids("controllers")) - before
    count = options.runs * 8
    return [
        Row("submitted", f"{options.runs} runs in {submitted:.1f} s"),
        Row("all done", f"{wall:.0f} s, {count / wall:.1f} steps/s, none failed", "no error"),
        Row("controllers", f"{used:.0f} s of a processor, {used / count * 1000:.1f} ms a step"),
        Row("memory, controllers and service", f"{peak.served:.0f} MB at most", "at most 300 MB"),
        Row("memory, all of the platform", f"{peak.whole:.0f} MB at most, {idle:.0f} before"),
        Row("at most", ", ".join(f"{role} {mb:.0f}" for role, mb in peak.roles.items())),
    ]


class Peak:
    """The most memory that was seen, asked every two seconds."""

    def __init__(self, service: Service) -> None:
        self._service, self._over = service, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.served = self.whole = 0.0
        self.roles: dict[str, float] = {}

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(2):
            now = {role: memory([pid]) for role, pid in platform(self._service.home).roles.items()}
            self.served = max(self.served, sum(now[role] for role in SERVED))
            self.whole = max(self.whole, sum(now.values()))
            self.roles = {role: max(mb, self.roles.get(role, 0)) for role, mb in now.items()}


PARTS = {"steps": steps, "growth": growth, "runs": runs}


def table(name: str, rows: list[Row]) -> Table:
    drawn = Table(title=f"pipelines, {name}; load at the end {os.getloadavg()[0]:.1f}", title_justify="left")
    for column in ("what", "seen", "wanted"):
        drawn.add_column(column)
    for row in rows:
        drawn.add_row(*row)
    return drawn


if __name__ == "__main__":
    main()

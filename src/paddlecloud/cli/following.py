"""Following a run on the terminal: one line a step, a live bar while it trains, plain lines elsewhere.

The bar is made from the log of rank 0 by the same parser the controllers use; the cluster is not asked
to write progress more often because somebody watches.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from ..api.meta import Key
from ..api.meta import Progress as Told
from ..api.paddlejob import PaddleJob
from ..api.workflowrun import StepPhase, StepStatus, WorkflowRun
from ..controllers.jobpods import pod_name
from ..errors import NotFound, PaddleCloudError
from ..sdk.client import Client
from ..sdk.waiting import states
from .live import Live, words

LONGEST = 24 * 3600.0
PLAIN_EVERY = 3.0  # seconds between two lines where there is no terminal
POLL = 0.3


def follow(client: Client, run: WorkflowRun, console: Console) -> None:
    """Show the run until it has ended; Ctrl-C leaves the run alone."""
    view = View(console)
    with view:
        for state in states(client, WorkflowRun, run.key, time.monotonic() + LONGEST):
            for name, node in state.status.nodes.items():
                view.step(name, node)
            training = state.status.nodes.get("training")
            if training and training.phase is StepPhase.RUNNING:
                follow_job(client, Key(run.namespace, str(training.inputs.get("name") or "")), view)
            if state.status.phase.final:
                return


def follow_job(client: Client, key: Key, view: View) -> None:
    """Show the training of a run until the job ends, from what rank 0 prints."""
    job = wait_until_running(client, key, view)
    if job is None:
        return
    live = Live(time.monotonic)
    for line in log_lines(client, job):
        if told := live.feed(line):
            view.training(told)


def wait_until_running(
    client: Client, key: Key, view: View, deadline: float | None = None
) -> PaddleJob | None:
    """The job once it runs or has ended; None when that does not come in time."""
    end = time.monotonic() + LONGEST if deadline is None else deadline
    while time.monotonic() < end:
        job = client.find(PaddleJob, *key)
        if job is not None:
            waits = next((c for c in job.status.conditions if c.status == "False" and c.message), None)
            view.note("training", waits.message if waits else f"PaddleJob {job.name} is {job.status.phase}")
            if job.status.phase.final or job.status.phase == "Running":
                return job
        time.sleep(POLL)
    return None


def log_lines(client: Client, job: PaddleJob) -> Iterator[str]:
    role = "worker" if job.spec.worker else "ps"
    try:
        yield from client.follow_logs(job.namespace, pod_name(job, role, 0))
    except (NotFound, PaddleCloudError):
        return  # cleaned up meanwhile: the run tells the rest


class View:
    """Bars on a terminal; on anything else a line when something changed, and now and then in between."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._seen: dict[str, StepPhase] = {}
        self._last = 0.0
        self._noted = ""

    def __enter__(self) -> View:
        if self._console.is_terminal:
            self._bars = Progress(
                TextColumn("[bold]{task.fields[step]:<9}[/bold]"),
                BarColumn(24, table_column=Column(min_width=10)),
                TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis")),
                TimeElapsedColumn(table_column=Column(min_width=7)),
                console=self._console,
            )
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars:
            self._bars.stop()

    def step(self, name: str, node: StepStatus) -> None:
        if self._seen.get(name) is node.phase or node.phase is StepPhase.WAITING:
            return
        self._seen[name] = node.phase
        if self._bars is None:
            self._console.print(f"{name:<9} {node.phase.value.lower()}")
            return
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task("starting", step=name, total=None)
        if node.phase.final:
            self._bars.update(self._tasks[name], total=1, completed=1, description=node.phase.value.lower())

    def note(self, name: str, text: str) -> None:
        if text == self._noted:
            return
        self._noted = text
        if self._bars is None:
            self._console.print(f"{name:<9} {text}")
        elif name in self._tasks:
            self._bars.update(self._tasks[name], description=text)

    def training(self, told: Told) -> None:
        whole = told.total or None
        if self._bars is not None and "training" in self._tasks:
            self._bars.update(
                self._tasks["training"], total=whole, completed=told.done, description=words(told)
            )
        elif self._bars is None and (told.done == whole or time.monotonic() - self._last >= PLAIN_EVERY):
            self._last = time.monotonic()
            share = f"{100 * told.done / whole:3.0f}%" if whole else " " * 4
            self._console.print(f"training  {share}  {words(told)}")

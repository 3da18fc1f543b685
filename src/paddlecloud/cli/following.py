"""Following a run on the terminal: a bar a step, from what the step says; plain lines elsewhere.

While it trains, the bar is made from the log of rank 0 by the same parser the controllers use. Nothing is
asked to tell its progress more often because somebody watches.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.markup import escape
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
WIDEST = 15  # characters of the longest name of a step of the walk
PLAIN_EVERY = 3.0  # seconds between two lines where there is no terminal
POLL = 0.3
PARTS = re.compile(r"(\d+)/(\d+) \w+")
"""How far a step is, as it says it: `1200/2004 files`."""


def follow(client: Client, run: WorkflowRun, console: Console) -> None:
    """Show the run until it has ended; Ctrl-C leaves the run alone."""
    view, heard = View(console), set[str]()
    with view:
        for state in states(client, WorkflowRun, run.key, time.monotonic() + LONGEST):
            for name, node in state.status.nodes.items():
                view.step(name, node)
            if state.status.phase.final:
                return
            # Where several run at a time, what the first one says is shown until it ends.
            for name, node in state.status.nodes.items():
                if node.phase is StepPhase.RUNNING and node.pod and node.pod not in heard:
                    heard.add(node.pod)
                    follow_step(client, Key(run.namespace, run.name), name, node, view)
                    break


def follow_step(client: Client, run: Key, name: str, node: StepStatus, view: View) -> None:
    def over() -> bool:
        found = client.get(WorkflowRun, *run).status.nodes.get(name)
        return found is None or found.phase is not StepPhase.RUNNING or found.pod != node.pod

    if name == "training":
        follow_job(client, Key(run.namespace, str(node.inputs.get("name") or "")), view, over)
        return
    for line in lines_of_step(client, Key(run.namespace, node.pod), over):
        if not line.startswith("output "):
            view.part(name, line)


def lines_of_step(client: Client, pod: Key, over: Callable[[], bool]) -> Iterator[str]:
    """What the program of a step says, from its begin to its end; before there is nothing to read."""
    while not over():
        try:
            yield from client.follow_logs(*pod)
            return
        except PaddleCloudError:
            time.sleep(POLL)


def follow_job(client: Client, key: Key, view: View, over: Callable[[], bool]) -> None:
    """Show the training of a run until the job ends, from what rank 0 prints."""
    job = wait_until_running(client, key, view, over=over)
    if job is None:
        return
    live = Live(time.monotonic)
    for line in log_lines(client, job):
        if told := live.feed(line):
            view.training(told)


def wait_until_running(
    client: Client,
    key: Key,
    view: View,
    deadline: float | None = None,
    over: Callable[[], bool] = lambda: False,
) -> PaddleJob | None:
    """The job once it runs or has ended; None when it does not come in time, or its maker is *over*."""
    end = time.monotonic() + LONGEST if deadline is None else deadline
    while time.monotonic() < end and not over():
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
                TextColumn(f"[bold]{{task.fields[step]:<{WIDEST}}}[/bold]"),
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
            self._console.print(f"{name:<{WIDEST}} {node.phase.value.lower()}")
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
            self._console.print(f"{name:<{WIDEST}} {text}", markup=False, soft_wrap=True)
        elif name in self._tasks:
            self._bars.update(self._tasks[name], description=escape(text))

    def part(self, name: str, line: str) -> None:
        """A line that a step said; where it tells how far the step is, the bar shows it."""
        far = PARTS.search(line)
        if self._bars is None:
            ends = far is None or far[1] == far[2]
            if ends or time.monotonic() - self._last >= PLAIN_EVERY:
                self._last = time.monotonic()
                self.note(name, line)
            return
        self.note(name, line)
        if far and name in self._tasks:
            self._bars.update(self._tasks[name], total=int(far[2]), completed=int(far[1]))

    def training(self, told: Told) -> None:
        whole = told.total or None
        if self._bars is not None and "training" in self._tasks:
            self._bars.update(
                self._tasks["training"], total=whole, completed=told.done, description=words(told)
            )
        elif self._bars is None and (told.done == whole or time.monotonic() - self._last >= PLAIN_EVERY):
            self._last = time.monotonic()
            share = f"{100 * told.done / whole:3.0f}%" if whole else " " * 4
            self._console.print(f"{'training':<{WIDEST}} {share}  {words(told)}", soft_wrap=True)

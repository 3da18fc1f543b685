"""What the pods of a PaddleJob say, each line with who said it: those that run, come later, or are gone.

Followed, every run of every pod is told once, from its beginning, in the order in which lines come; it ends
when the job has ended. A connection that breaks is taken up where it was.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..api.core import Pod
from ..api.meta import Key
from ..api.paddlejob import PaddleJob
from ..cluster.requests import Place, Request, path_of
from ..controllers.jobpods import ROLE
from ..errors import ApiError, BadRequest, NotFound, Unreachable
from .client import Client
from .keptlogs import Gone, gone_pods, kept_lines, last_pods
from .logfollowing import GONE, Look, Run, chosen, followed, look_at
from .loglines import Resumption, unstamped, whole_lines

TRIES, PAUSE = 60, 1.0
"""How often a connection that broke is taken up again, and seconds in between."""


@dataclass(frozen=True)
class LogWish:
    """Which lines are wanted."""

    role: str = ""
    """Of these pods only: ps, worker or heter."""
    container: str = ""
    every_container: bool = False
    query: Mapping[str, str] = field(default_factory=dict)
    """As Kubernetes calls them: tailLines, sinceSeconds, sinceTime, timestamps, previous, limitBytes."""


class Line(NamedTuple):
    speaker: str
    """`worker-0`, or `worker-0/side` where several containers were asked for."""
    text: str


class Speaker(NamedTuple):
    """A pod of the job; without *pod* it is gone."""

    name: str
    uid: str
    pod: Pod | None = None


def lines_of(client: Client, job: PaddleJob, wish: LogWish) -> Iterator[Line]:
    """What was said so far, pod after pod; one that cannot be read does not hide the others.

    Raises `NotFound` when there is nothing of any of them.
    """
    read = 0
    missing: ApiError | None = None
    for speaker in speakers(client, job, wish.role) or former_speakers(client, job, wish.role):
        for container in containers(speaker, wish):
            run = Run(speaker.name, container, speaker.uid, 0 if speaker.pod else GONE)
            try:
                for text in said(client, job.namespace, run, wish.query):
                    yield Line(label(job.name, run, wish), text.decode(errors="replace"))
                read += 1
            except (NotFound, BadRequest) as error:
                missing = error  # gone without a trace, or not begun
    if wish.role and wish.role not in job.spec.roles():
        raise NotFound(f"job {job.name} has no {wish.role}; it has: {', '.join(job.spec.roles())}")
    if not read:
        step = f"pdc why job/{job.name}"
        raise missing or NotFound(f"job {job.name} has no pod that could have said anything", next_step=step)


def follow_lines(
    connect: Callable[[], Client], key: Key, wish: LogWish, check: Callable[[], None] = lambda: None
) -> Generator[Line, None, None]:
    """What is said from now on, after what *wish* asks of the past, until the job has ended or is gone.

    *check* is called every second and may raise.
    """
    with connect() as client:

        def look() -> Look:
            check()
            job = client.find(PaddleJob, *key)
            if job is None:
                return Look((), False, over=True)
            there = speakers(client, job, wish.role)
            pods = [speaker.pod for speaker in there if speaker.pod]
            now = look_at(pods, wish.container, wish.every_container)
            over = job.status.phase.final
            gone = (Run(s.name, wish.container, s.uid, GONE) for s in there if over and not s.pod)
            running = {pod.uid for pod in pods if not pod.finished}
            lasting = frozenset(run for run in now.runs if run.uid in running)
            return Look(now.runs, True, over, tuple(gone), lasting)

        def read(run: Run, first: bool) -> Iterator[bytes]:
            with connect() as own:
                yield from resumed(own, key.namespace, run, wish.query if first else {})

        stamped = bool(wish.query.get("timestamps"))
        for run, line in followed(look, read, time.monotonic):
            text = line if stamped else unstamped(line)
            yield Line(label(key.name, run, wish), text.decode(errors="replace"))


def resumed(client: Client, namespace: str, run: Run, query: Mapping[str, str]) -> Iterator[bytes]:
    """The stamped lines of a run until it is over, each once, however often the connection breaks."""
    known = Resumption()
    for _ in range(TRIES):
        asked = {**query} if not known.since else {"sinceTime": known.since}
        asked |= {"timestamps": "true", "follow": "true"}
        try:
            # Meanwhile another pod may have the name, and what that one says is told apart.
            there = not known.since or is_there(client, namespace, run)
            yield from known.fresh(said(client, namespace, run if there else run.of_the_past(), asked))
            if run.number == GONE or not goes_on(client, namespace, run):
                return
        except NotFound:
            return
        except Unreachable:
            pass  # it may be back in a moment
        time.sleep(PAUSE)


def is_there(client: Client, namespace: str, run: Run) -> bool:
    pod = client.find(Pod, namespace, run.pod)
    return pod is not None and pod.uid == run.uid


def goes_on(client: Client, namespace: str, run: Run) -> bool:
    pod = client.find(Pod, namespace, run.pod)
    runs = look_at([pod], run.container, False).runs if pod else ()
    return pod is not None and not pod.finished and run in runs


def said(client: Client, namespace: str, run: Run, query: Mapping[str, str]) -> Iterator[bytes]:
    """The lines of a run, from its pod or from where they were kept; raises `NotFound`."""
    named = {**query, **({"container": run.container} if run.container else {})}
    gone = Gone(namespace, run.pod, run.uid)
    if run.number == GONE:
        yield from kept_lines(client, gone, named)
        return
    begun = False
    path = path_of(Place("v1", "pods"), Key(namespace, run.pod), "log")
    try:
        for line in whole_lines(client.text(Request("GET", path, tuple(named.items()), {"Accept": "*/*"}))):
            begun = True
            yield line
    except NotFound:
        if begun:
            raise
        yield from kept_lines(client, gone, named)
        return
    if not begun:
        # Its files may have gone while they were looked for: then they are kept by now.
        with contextlib.suppress(NotFound):
            yield from kept_lines(client, gone, named)


def speakers(client: Client, job: PaddleJob, role: str) -> list[Speaker]:
    """The pods of the job that are there, and those its status tells of that are gone; servers first."""
    listed = client.list(Pod, job.namespace, labels=ROLE).items
    there = {pod.name: pod for pod in listed if pod.controlled_by() == job.uid}
    found = []
    for name in (name for name in job.spec.roles() if role in ("", name)):
        mine = {p.name: Speaker(p.name, p.uid, p) for p in there.values() if p.metadata.labels[ROLE] == name}
        status = getattr(job.status, name)
        for ref in status.refs if status else ():
            mine.setdefault(str(ref["name"]), Speaker(str(ref["name"]), str(ref["uid"])))
        found += sorted(mine.values(), key=lambda speaker: number_of(speaker.name))
    return found


def former_speakers(client: Client, job: PaddleJob, role: str) -> list[Speaker]:
    """The pods that a job had before it was told to rest, or to begin again."""
    last = sorted(last_pods(client, job), key=lambda gone: (role_of(gone.name), number_of(gone.name)))
    return [Speaker(gone.name, gone.uid) for gone in last if role in ("", role_of(gone.name))]


def former_lines(client: Client, key: Key, wish: LogWish) -> Iterator[Line]:
    """What is kept of a job that is gone itself, the last pod of each name; raises `NotFound`."""
    kept = gone_pods(client, key.namespace, f"{PaddleJob.kind}/{key.name}")
    last = {gone.name: gone for gone in kept if gone.name != f"{key.name}-etcd"}
    named = {"container": wish.container} if wish.container else {}
    for gone in sorted(
        last.values(), key=lambda gone: (gone.name.rsplit("-", 2)[-2:-1], number_of(gone.name))
    ):
        run = Run(gone.name, wish.container, gone.uid, GONE)
        if wish.role in ("", gone.name.rsplit("-", 2)[-2]):
            for text in kept_lines(client, gone, {**wish.query, **named}):
                yield Line(label(key.name, run, wish), text.decode(errors="replace"))
    if not last:
        raise NotFound(f"there is no PaddleJob {key}, and no log of one is kept")


def role_of(pod: str) -> str:
    return pod.rpartition("-")[0].rpartition("-")[2]


def number_of(pod: str) -> int:
    last = pod.rpartition("-")[2]
    return int(last) if last.isdecimal() else 0


def containers(speaker: Speaker, wish: LogWish) -> list[str]:
    if speaker.pod is None:
        return [wish.container]
    return chosen(speaker.pod, wish.container, wish.every_container)


def label(job: str, run: Run, wish: LogWish) -> str:
    short = run.pod.removeprefix(f"{job}-")
    return f"{short}/{run.container}" if wish.every_container and run.container else short

"""The ports of a PaddleJob: twenty in a row, the same for all of its pods; pure.

Pods have addresses of their own, so jobs may share a number: it follows from the uid. With `intranet: Host`
they share the addresses of their nodes: there the number is drawn among those that no other such job holds,
and written down before there are pods; whoever writes second sees the first, and draws again. There each pod
also has a port of its own, and asks for it on its node, so that none is placed where it could not listen.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from ..api.paddlejob import Intranet, PaddleJob

PORTS_A_JOB = 20
# Below the kernel's range for outgoing connections and that of Services on nodes: none of those can sit on a
# port of ours.
FIRST_PORT, BLOCKS = 20_000, 500


def port_of(job: PaddleJob) -> int:
    """The first of the job's ports: the same at every look."""
    return job.status.port or block(preferred(job))


def own_port(job: PaddleJob, role: str, index: int) -> int:
    """Where one pod of the job listens."""
    if not is_drawn(job):
        return port_of(job)
    before = 0
    for name, group in job.spec.roles().items():
        if name == role:
            break
        before += group.replicas
    # The last two are for meeting at the first server.
    return port_of(job) + (before + index) % (PORTS_A_JOB - 2)


def is_drawn(job: PaddleJob) -> bool:
    """Whether the port has to be agreed upon with other jobs."""
    return job.spec.intranet is Intranet.HOST


def lacks_port(job: PaddleJob, others: Iterable[PaddleJob]) -> bool:
    """Whether it holds none yet, or one that somebody else holds."""
    return is_drawn(job) and (not job.status.port or job.status.port in held(job, others))


def draw(job: PaddleJob, others: Iterable[PaddleJob]) -> int | None:
    """A port that nobody holds; None when there is none."""
    taken, first = held(job, others), preferred(job)
    free = (block(first + i) for i in range(BLOCKS) if block(first + i) not in taken)
    return next(free, None)


def held(job: PaddleJob, others: Iterable[PaddleJob]) -> set[int]:
    return {
        other.status.port
        for other in others
        if other.uid != job.uid and is_drawn(other) and not other.status.phase.final
    }


def preferred(job: PaddleJob) -> int:
    """Where the search begins: elsewhere for every job, so that two seldom want the same."""
    return zlib.crc32(job.uid.encode())


def block(number: int) -> int:
    return FIRST_PORT + PORTS_A_JOB * (number % BLOCKS)

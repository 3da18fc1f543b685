"""What the server has counted, as the text that Prometheus reads; under the names of kube-apiserver.

Nothing is kept here: a text is made of the counts and of the store as they are when somebody asks.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..store import Store
from .usage import BOUNDS, Subject, Usage

FORM = "text/plain; version=0.0.4; charset=utf-8"
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def exposition(usage: Usage, store: Store) -> str:
    """Requests, watches, objects, revisions, and the process itself."""
    lines = [*requests(usage), *kept(store), *process()]
    return "\n".join([*lines, ""])


def requests(usage: Usage) -> Iterator[str]:
    told = [(labels(subject), tally) for subject, tally in sorted(usage.tallies.items())]
    yield "# HELP apiserver_request_total Requests that were answered, by subject and status."
    yield "# TYPE apiserver_request_total counter"
    for known, tally in told:
        for code, count in sorted(tally.codes.items()):
            yield line("apiserver_request_total", {"code": str(code), **known}, count)
    name = "apiserver_request_duration_seconds"
    yield f"# HELP {name} How long requests took to be answered."
    yield f"# TYPE {name} histogram"
    for known, tally in told:
        total = 0
        for bound, count in zip((*(f"{b:g}" for b in BOUNDS), "+Inf"), tally.within, strict=True):
            total += count
            yield line(f"{name}_bucket", {**known, "le": bound}, total)
        yield line(f"{name}_sum", known, tally.seconds)
        yield line(f"{name}_count", known, total)
    yield "# HELP apiserver_current_inflight_requests Requests that are being answered and do not last."
    yield "# TYPE apiserver_current_inflight_requests gauge"
    for kind, count in (("mutating", usage.writing), ("readOnly", usage.reading)):
        yield line("apiserver_current_inflight_requests", {"request_kind": kind}, count)
    yield "# HELP apiserver_longrunning_requests Requests that last: watches, logs, conversations."
    yield "# TYPE apiserver_longrunning_requests gauge"
    for subject, count in sorted(usage.lasting.items()):
        known = labels(subject)
        del known["dry_run"]
        yield line("apiserver_longrunning_requests", known, count)


def kept(store: Store) -> Iterator[str]:
    yield "# HELP apiserver_storage_objects Objects that are stored, by their resource."
    yield "# TYPE apiserver_storage_objects gauge"
    for name, table in sorted(store.objects.items()):
        group, _, plural = name.rpartition("/")
        known = {"resource": f"{plural}.{group}" if group else plural}
        yield line("apiserver_storage_objects", known, len(table))
    yield from single("apiserver_storage_size_bytes", "gauge", "Bytes of the store on disk.", size_of(store))
    yield from single("paddlecloud_store_revision", "gauge", "The newest revision.", store.revision)
    text = "The oldest revision that can be watched from."
    yield from single("paddlecloud_store_compacted_revision", "gauge", text, store.compacted)


def size_of(store: Store) -> int:
    """With its write-ahead log."""
    path = store.revisions.path
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def process() -> Iterator[str]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = used.ru_utime + used.ru_stime
    yield from single("process_cpu_seconds_total", "counter", "Processor time that was spent.", spent)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    yield from single("process_resident_memory_bytes", "gauge", "Memory that is resident.", pages * PAGE)
    yield from single("process_open_fds", "gauge", "Files that are open.", len(os.listdir("/proc/self/fd")))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield from single("process_max_fds", "gauge", "Files that may be open.", most)
    yield from single("process_start_time_seconds", "gauge", "When the process began.", started())


def started() -> float:
    """Of this process, in seconds since 1970."""
    # The name in the second field may hold anything, spaces and brackets too.
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + int(fields[19]) / TICKS


def single(name: str, kind: str, text: str, value: float) -> Iterable[str]:
    return (f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {shown(value)}")


def labels(subject: Subject) -> dict[str, str]:
    component = "apiserver" if subject.resource or subject.subresource in ("api", "apis") else ""
    return dict(sorted({**subject._asdict(), "component": component}.items()))


def line(name: str, known: Mapping[str, str], value: float) -> str:
    # No value needs escaping: they are names of resources, verbs and numbers.
    inside = ",".join(f'{key}="{text}"' for key, text in known.items())
    return f"{name}{{{inside}}} {shown(value)}"


def shown(value: float) -> str:
    return repr(value) if isinstance(value, float) else str(value)

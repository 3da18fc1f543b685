"""A real Volcano beside a control plane, for the time of a `with`: its kinds, its scheduler, its controllers.

It has no webhooks: what those would fill in is left open, which is the harder case for who depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from tests.contracts.definitions import DEFINITIONS, condition
from tests.kubernetes.build_extras import VOLCANO, VOLCANO_KINDS, VOLCANO_SETTINGS
from tests.kubernetes.processes import running
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.servers import Server

Body = dict[str, Any]
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
SETTINGS = Path(VOLCANO_SETTINGS).name


def groups(namespace: str, name: str = "") -> str:
    path = f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{namespace}/podgroups"
    return f"{path}/{name}" if name else path


@contextmanager
def volcano_kinds(rest: Rest, folder: Path) -> Iterator[None]:
    """Its definitions as its own chart has them; afterwards they are gone with all that was made of them."""
    bodies = [yaml.safe_load((folder / name).read_text(encoding="utf-8")) for name in VOLCANO_KINDS]
    try:
        for body in bodies:
            # Another test may have used the name, and its definition be on its way out.
            until(partial(posted, rest, body), what=f"room for {body['metadata']['name']}")
        for body in bodies:
            condition(rest, body, "Established")
        yield
    finally:
        for body in bodies:
            rest.delete(f"{DEFINITIONS}/{body['metadata']['name']}")


def posted(rest: Rest, body: Body) -> bool:
    return rest.post(DEFINITIONS, body).status == 201


@contextmanager
def volcano(server: Server, rest: Rest, program: Path, home: Path) -> Iterator[None]:
    """Volcano at work, its queue `default` open, with the settings that its chart installs."""
    shared = [f"--kubeconfig={server.kubeconfig}", "--leader-elect=false"]
    scheduling = [
        *shared,
        f"--scheduler-conf={program.with_name(SETTINGS)}",
        "--schedule-period=200ms",
        "--plugins-dir=",
        # It would write to /tmp on a signal.
        "--cache-dumper=false",
    ]
    with volcano_kinds(rest, program.parent), ExitStack() as stack:
        # The scheduler makes the queue that the controllers open.
        stack.enter_context(running(program.with_name("vc-scheduler"), scheduling, home / "scheduler"))
        stack.enter_context(running(program.with_name("vc-controller-manager"), shared, home / "controllers"))
        until(partial(is_open, rest, "default"), what="Volcano to open its queue")
        yield


def is_open(rest: Rest, queue: str) -> bool:
    answer = rest.get(f"{QUEUES}/{queue}")
    return answer.status == 200 and (answer.body.get("status") or {}).get("state") == "Open"


def built() -> Path | None:
    """The program, where `FULL=1 make test-kubernetes` has built it."""
    return VOLCANO.built()

"""A real Kubernetes with a real node for the time of a `with`: what the contracts of nodes are measured by.

All of it lives in namespaces of its own; one socket on this machine's loopback leads to its API. It needs
root. When the `with` ends, or its process, nothing is left.

    python -m tests.kubernetes.whole_cluster HOME [ARCHIVE…] [--juicefs CLIENT]     one to play with
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from tests.kubernetes import build, node_parts
from tests.kubernetes.build_extras import COREDNS, JUICEFS_CSI
from tests.kubernetes.build_go import CannotBuild
from tests.kubernetes.control_plane import control_plane, write_kubeconfig
from tests.kubernetes.enclosure import control_group, enclosed, hierarchies, name_host, share_mounts
from tests.kubernetes.node import NAME, NODES, Juicefs, Place, node, prepare_network
from tests.kubernetes.processes import running
from tests.kubernetes.relay import relay
from tests.kubernetes.waiting import until

ROOT = Path(__file__).parent.parent.parent
READY = "ready.kubeconfig"
LIMIT = 180.0


@contextmanager
def whole_cluster(home: Path, archives: Sequence[Path] = (), juicefs: Path | None = None) -> Iterator[Path]:
    """The kubeconfig of its owner, as soon as pods can run; raises `CannotBuild` where they never will.

    *archives*: images its node has beside the usual ones. *juicefs*: the client by which its node mounts
    JuiceFS, where the driver for that is built.
    """
    check_rights()
    build.build()
    node_parts.build()
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    arguments = ["-m", "tests.kubernetes.whole_cluster", str(home), *map(str, archives)]
    arguments += ["--juicefs", str(juicefs)] if juicefs else []
    with running(Path(sys.executable), arguments, home / "outside", environ) as process:

        def ready() -> bool:
            process.check()
            return (home / READY).exists()

        until(ready, what=f"a cluster with a node (log: {process.log})", limit=LIMIT + 120 * len(archives))
        yield home / READY


def check_rights() -> None:
    if os.geteuid() != 0:
        raise CannotBuild("a real node needs root", next_step="run the tests as root, on a machine of yours")
    tried = subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "true"],
        capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    if tried.returncode:
        raise CannotBuild(
            f"a real node needs namespaces of its own: {tried.stderr.strip()}",
            next_step="run the tests outside of a container, or in one with privilege",
        )
    closed = [str(place) for place in hierarchies() if not os.access(place, os.W_OK)]
    if closed or not hierarchies():
        raise CannotBuild(
            f"a real node needs control groups to write to; closed: {', '.join(closed) or 'none are there'}",
            next_step="mount them with the right to write",
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.kubernetes.whole_cluster")
    parser.add_argument("home", type=Path)
    parser.add_argument("archives", type=Path, nargs="*")
    parser.add_argument("--juicefs", type=Path)
    said = parser.parse_args(arguments)
    driver = JUICEFS_CSI.built()
    juicefs = Juicefs(driver, said.juicefs) if driver and said.juicefs else None
    with socket.create_server(("127.0.0.1", 0)) as listener, control_group() as group:
        parts, names = node_parts.build(), COREDNS.built()
        place = Place(said.home, build.build(), parts, names, group, tuple(said.archives), juicefs)
        return enclosed(partial(live, place, listener))


def live(place: Place, listener: socket.socket) -> int:
    """Be the cluster until somebody ends it."""
    share_mounts()
    name_host(NAME)
    prepare_network()
    with control_plane(place.home, place.kubernetes, nodes=NODES) as plane:
        relay(listener, "127.0.0.1", urlsplit(plane.rest.server).port or 0)
        with node(place, plane):
            outside = f"https://127.0.0.1:{listener.getsockname()[1]}"
            told = place.home / "outside.kubeconfig"
            write_kubeconfig(told, outside, plane.certificates, plane.tokens["admin"])
            told.rename(place.home / READY)
            signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

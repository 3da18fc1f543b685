"""A real kube-scheduler beside a control plane, for the time of a `with`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kubernetes.processes import Process, running


@contextmanager
def kube_scheduler(home: Path, binaries: Path, kubeconfig: Path) -> Iterator[Process]:
    """It places pods as the holder of *kubeconfig* and listens nowhere."""
    flags = [f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0"]
    with running(binaries / "kube-scheduler", flags, home / "kube-scheduler") as process:
        yield process

"""Which cluster, in one call."""

from __future__ import annotations

import os
from pathlib import Path

from ..cluster.kubeconfig import choose
from ..settings import Home
from .client import Client


def connect(
    *, home: str | Path | None = None, kubeconfig: str | Path | None = None, context: str | None = None
) -> Client:
    """A client of the named cluster, of the pod's own, or of the embedded one that runs in *home*.

    Raises `Unreachable` when there is none, with the way to start one.
    """
    return Client(choose(kubeconfig, context, Home(home), os.environ))

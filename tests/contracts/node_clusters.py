"""The clusters whose nodes are under test: ours at each level of isolation, or a real one with its kubelet.

A cluster is started when the first test asks for it, and once.
"""

from __future__ import annotations

import secrets
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.kubernetes.build_extras import COREDNS
from tests.kubernetes.build_go import CannotBuild
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.kubernetes.whole_cluster import whole_cluster
from tests.node.isolation_levels import LEVELS, levels_or_skip
from tests.scenarios.pdc_home import fresh_home, variables
from tests.servers import Server

REAL = "kubelet"
_WISHES = {"root": "auto", "user": "namespaces", "plain": "plain"}


def levels(real: bool) -> tuple[str, ...]:
    return (REAL,) if real else LEVELS


class Clusters:
    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._found: dict[str, Server | str] = {}

    def at(self, level: str) -> Server:
        """The cluster of this level; skips the test where this machine has none."""
        if level not in self._found:
            try:
                self._found[level] = self._real() if level == REAL else self._ours(level)
            except CannotBuild as error:
                self._found[level] = str(error)
        found = self._found[level]
        if isinstance(found, str):
            pytest.skip(f"no real node here: {found}")
        return found

    def _real(self) -> Server:
        # Not pytest's own folder: the names of sockets must stay below 108 characters.
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="pdc-real-"))
        return Server(self._stack.enter_context(whole_cluster(Path(folder))), controllers=True)

    def _ours(self, level: str) -> Server:
        levels_or_skip(level)
        wish = {"PADDLECLOUD_ISOLATION": _WISHES[level], "PADDLECLOUD_REGISTRIES": "local"}
        home = self._stack.enter_context(fresh_home(environ={**variables(), **wish}))
        home.ok("up", "--detach")
        return Server(home.home.kubeconfig, controllers=True)


def has_names(level: str) -> bool:
    """Whether pods can look up the names of services."""
    return level != REAL or COREDNS.built() is not None


def make_namespace(rest: Rest) -> str:
    """A namespace of its own, with the two objects that cases read."""
    name = f"test-{secrets.token_hex(4)}"
    rest.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect(201)
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    until(lambda: rest.get(account).status == 200, what=f"the default account of {name}")
    settings = {"metadata": {"name": "settings"}, "data": {"a": "1", "b": "2"}}
    rest.post(f"/api/v1/namespaces/{name}/configmaps", settings).expect(201)
    hidden = {"metadata": {"name": "hidden"}, "stringData": {"key": "value", "other": "more"}}
    rest.post(f"/api/v1/namespaces/{name}/secrets", hidden).expect(201)
    return name

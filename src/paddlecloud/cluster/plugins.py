"""Credentials from a program: the `exec` plug-ins of kubeconfigs, as cloud providers ship them.

A credential is asked for once and kept until shortly before it ends. What the program prints never
reaches a message; what it complains of on stderr does.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from ..errors import Failed, WrongUse

VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
EARLY = timedelta(seconds=30)
WITHIN = 60.0  # seconds


@dataclass(frozen=True)
class Plugin:
    api_version: str
    command: str
    arguments: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    hint: str = ""
    """How to install it, as its provider says."""


@dataclass(frozen=True)
class Credential:
    token: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    expires: datetime | None = None

    def fresh(self, now: datetime) -> bool:
        return self.expires is None or now < self.expires - EARLY


def plugin_of(entry: Mapping[str, Any]) -> Plugin:
    """The plug-in of a user's `exec` entry; raises `WrongUse` for a version we do not speak."""
    version = str(entry.get("apiVersion") or "")
    if version not in VERSIONS:
        raise WrongUse(
            f"credential plug-ins of {version or 'no version'} are not supported; {VERSIONS[0]} is"
        )
    if not entry.get("command"):
        raise WrongUse("the exec entry of the kubeconfig has no command")
    variables = {e["name"]: e["value"] for e in entry.get("env") or ()}
    arguments = tuple(str(a) for a in entry.get("args") or ())
    return Plugin(version, str(entry["command"]), arguments, variables, str(entry.get("installHint") or ""))


class Credentials:
    """The credential of a plug-in, asked for again when it is about to end."""

    def __init__(self, plugin: Plugin, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._plugin, self._now = plugin, now
        self._current: Credential | None = None

    def current(self) -> Credential:
        if self._current is None or not self._current.fresh(self._now()):
            self._current = ask(self._plugin)
        return self._current


def ask(plugin: Plugin) -> Credential:
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": {"interactive": False}}
    try:
        done = subprocess.run(
            [plugin.command, *plugin.arguments],
            env={**os.environ, **plugin.environ, "KUBERNETES_EXEC_INFO": json.dumps(info)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WITHIN,
        )
    except OSError as error:
        raise Failed(
            f"the credential plug-in {plugin.command} cannot be run: {error.strerror}",
            next_step=plugin.hint or "install it, or use a kubeconfig with a token",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise Failed(f"the credential plug-in {plugin.command} gave no answer in {WITHIN:.0f} s") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-500:]
        raise Failed(f"the credential plug-in {plugin.command} failed (exit code {done.returncode}): {said}")
    return read(plugin, done.stdout)


def read(plugin: Plugin, output: bytes) -> Credential:
    try:
        status = json.loads(output)["status"]
        expires = status.get("expirationTimestamp")
        return Credential(
            str(status.get("token") or ""),
            str(status.get("clientCertificateData") or ""),
            str(status.get("clientKeyData") or ""),
            datetime.fromisoformat(expires) if expires else None,
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Failed(f"the credential plug-in {plugin.command} printed no ExecCredential") from error

"""Which cluster, and with whose keys: everything needed to speak to one API server, as a value.

An `Access` is complete: whoever holds one needs no environment and no configuration file any more.
Secrets in it never show in a `repr`.
"""

from __future__ import annotations

import base64
import binascii
import fcntl
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ..errors import Unreachable, WrongUse
from ..settings import Home
from .plugins import Plugin, plugin_of

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


@dataclass(frozen=True)
class Access:
    """One API server, how to trust it and how to be known to it."""

    server: str
    name: str
    """The cluster, as messages call it."""
    namespace: str = "default"
    ca: str | None = None
    """PEM; None trusts the authorities of the machine."""
    token: str = field(default="", repr=False)
    token_file: Path | None = None
    """Read again when it changes; wins over `token`."""
    client_certificate: str = field(default="", repr=False)
    client_key: str = field(default="", repr=False)
    insecure: bool = False
    """Does not check who the server is."""
    plugin: Plugin | None = None
    """A program that gives the token or the certificate."""
    tls_name: str = ""
    """The name in the server's certificate, where it is not that of its address."""
    proxy: str = ""
    """An HTTP proxy on the way to the server."""
    socket: Path | None = None
    """A socket of this machine at which the server speaks without TLS: its folder says who may open it."""

    @property
    def base(self) -> str:
        """What the path of a request is put behind."""
        return self.server if self.socket is None else "http://localhost"


def choose(
    kubeconfig: str | Path | None, context: str | None, home: Home, environ: Mapping[str, str]
) -> Access:
    """The cluster that was named, else that of the pod we run in, else the embedded one of *home*.

    `$KUBECONFIG` alone names nothing: it only says where a context that was asked for is looked up.
    """
    if kubeconfig:
        return from_kubeconfig(kubeconfig, context)
    if context:
        return from_kubeconfig(file_with(context, environ), context)
    if "KUBERNETES_SERVICE_HOST" in environ:
        return in_pod(environ)
    if home.kubeconfig.is_file() and runs(home):
        return from_kubeconfig(home.kubeconfig)
    raise Unreachable(
        f"no cluster was named and none runs in {home}",
        next_step="start one with `pdc up`, or name one with --kubeconfig or --context",
    )


def in_pod(environ: Mapping[str, str]) -> Access:
    """The cluster of the pod we run in, as its ServiceAccount; the token is read again when it changes."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise Unreachable(
            "this process does not run in a pod: KUBERNETES_SERVICE_HOST is not set",
            next_step="name a cluster with --kubeconfig",
        )
    folder = Path(environ.get("KUBERNETES_SERVICEACCOUNT") or SERVICE_ACCOUNT)
    namespace = folder / "namespace"
    return Access(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        name="the cluster of this pod",
        namespace=read_file(namespace).strip() if namespace.is_file() else "default",
        ca=read_file(folder / "ca.crt"),
        token_file=folder / "token",
    )


def from_kubeconfig(path: str | Path, context: str | None = None) -> Access:
    """The access that a context of a kubeconfig stands for, its current one by default."""
    file = Path(path).expanduser()
    config = load(file)
    name = context or str(config.get("current-context") or "")
    if not name:
        raise WrongUse(f"{file} has no current context", next_step="name one with --context")
    chosen = named(config, "contexts", "context", name, file)
    cluster_name = str(chosen.get("cluster") or "")
    cluster = named(config, "clusters", "cluster", cluster_name, file)
    user = named(config, "users", "user", str(chosen["user"]), file) if chosen.get("user") else {}
    refuse_old_plugins(user, file)
    if not cluster.get("server"):
        raise WrongUse(f"the cluster {cluster_name} in {file} has no server")
    token_file = user.get("tokenFile")
    return Access(
        server=str(cluster["server"]).rstrip("/"),
        name=cluster_name,
        namespace=str(chosen.get("namespace") or "default"),
        ca=pem(cluster, "certificate-authority", file) or None,
        token=str(user.get("token") or ""),
        token_file=beside(file, token_file) if token_file else None,
        client_certificate=pem(user, "client-certificate", file),
        client_key=pem(user, "client-key", file),
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
        plugin=plugin_of(user["exec"]) if user.get("exec") else None,
        tls_name=str(cluster.get("tls-server-name") or ""),
        proxy=str(cluster.get("proxy-url") or ""),
    )


def file_with(context: str, environ: Mapping[str, str]) -> Path:
    """The kubeconfig that knows *context*: one of `$KUBECONFIG`, else the usual file of the user."""
    usual = Path(environ.get("HOME") or "~").expanduser() / ".kube" / "config"
    listed = [Path(p) for p in environ.get("KUBECONFIG", "").split(os.pathsep) if p] or [usual]
    for file in listed:
        if file.is_file() and any(c.get("name") == context for c in load(file).get("contexts") or ()):
            return file
    raise WrongUse(
        f"no context {context} in {', '.join(map(str, listed))}",
        next_step="name the file with --kubeconfig",
    )


def runs(home: Home) -> bool:
    """Whether a cluster has *home*: its lock says so, a pid in a file may be anybody's by now."""
    try:
        handle = os.open(home.lock, os.O_RDONLY)
    except PermissionError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def load(file: Path) -> dict[str, Any]:
    try:
        config = yaml.safe_load(read_file(file))
    except yaml.YAMLError as error:
        raise WrongUse(f"{file} is no YAML: {error}") from error
    if not isinstance(config, dict):
        raise WrongUse(f"{file} is no kubeconfig")
    return config


def named(config: dict[str, Any], group: str, inner: str, name: str, file: Path) -> dict[str, Any]:
    entries = config.get(group) or ()
    found = next((e for e in entries if e.get("name") == name), None)
    if found is None:
        known = ", ".join(str(e.get("name")) for e in entries) or "none"
        raise WrongUse(f"{file} has no {inner} {name}; it has: {known}")
    return found.get(inner) or {}


def refuse_old_plugins(user: dict[str, Any], file: Path) -> None:
    """Kubernetes itself has removed these; `exec` took their place."""
    if user.get("auth-provider"):
        raise WrongUse(
            f"the user in {file} takes its credentials from an auth-provider, which is not supported",
            next_step="write the kubeconfig anew: providers use exec plug-ins today",
        )


def pem(entry: dict[str, Any], name: str, file: Path) -> str:
    """The text given inline as `<name>-data`, or in the file `<name>` beside the kubeconfig."""
    if inline := entry.get(f"{name}-data"):
        try:
            return base64.b64decode(inline, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError) as error:
            raise WrongUse(f"{name}-data in {file} is no base64 text") from error
    return read_file(beside(file, entry[name])) if entry.get(name) else ""


def beside(file: Path, name: str) -> Path:
    """Names in a kubeconfig are relative to the folder it is in."""
    return file.parent / Path(name).expanduser()


def read_file(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from error

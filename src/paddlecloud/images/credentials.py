"""Who we are to a registry: the entries of `.dockerconfigjson` secrets, and which of them fit a name.

A key may name a host, a host with a path, or a pattern for the parts of a host; the longest fitting key is
tried first, as a kubelet does. Passwords never show up in the text form of anything here. Pure.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import WrongUse
from .names import DEFAULT_REGISTRY, Name


@dataclass(frozen=True)
class Credential:
    user: str
    password: str = field(repr=False, default="")
    token: str = field(repr=False, default="")
    """An identity token, handed to the token server in place of a password."""

    @property
    def basic(self) -> str:
        """The value of an `Authorization` header."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


@dataclass(frozen=True)
class Keyring:
    """Credentials by the places they are for."""

    entries: tuple[tuple[str, Credential], ...] = ()

    def fitting(self, name: Name) -> list[Credential]:
        """What may be shown to the registry of *name*, the most exact entry first."""
        found = [(key, credential) for key, credential in self.entries if fits(key, name)]
        unique: dict[Credential, None] = {}
        for _, credential in sorted(found, key=lambda entry: len(entry[0]), reverse=True):
            unique.setdefault(credential)
        return list(unique)


EMPTY = Keyring()


def keyring(secrets: Iterable[Mapping[str, bytes]]) -> Keyring:
    """The entries of image pull secrets, given their data; raises `WrongUse` for unreadable ones."""
    entries: list[tuple[str, Credential]] = []
    for data in secrets:
        if ".dockerconfigjson" in data:
            entries += read(data[".dockerconfigjson"])
        elif ".dockercfg" in data:
            entries += read(b'{"auths":' + data[".dockercfg"] + b"}")
    return Keyring(tuple(entries))


def read(text: bytes) -> list[tuple[str, Credential]]:
    try:
        auths = json.loads(text)["auths"]
        return [(place(key), credential(entry)) for key, entry in auths.items()]
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error):
        # Neither the text nor the parser's complaint may be shown: both hold the password.
        raise WrongUse(
            "an image pull secret is no Docker configuration with `auths`",
            next_step="make it with `kubectl create secret docker-registry`",
        ) from None


def credential(entry: Mapping[str, Any]) -> Credential:
    user, password = entry.get("username") or "", entry.get("password") or ""
    if entry.get("auth") and not user:
        # What people paste is often wrapped or ends in a newline.
        packed = "".join(str(entry["auth"]).split())
        user, _, password = base64.b64decode(packed, validate=True).decode().partition(":")
    return Credential(str(user), str(password).rstrip("\r\n\0"), str(entry.get("identitytoken") or ""))


def place(key: str) -> str:
    """`https://index.docker.io/v1/` and the like, reduced to host and path."""
    bare = key.partition("://")[2] or key
    host, _, path = bare.partition("/")
    path = path.strip("/")
    if path in ("v1", "v2") or path.startswith(("v1/", "v2/")):
        path = path[3:]
    if host in (f"index.{DEFAULT_REGISTRY}", f"registry-1.{DEFAULT_REGISTRY}"):
        host = DEFAULT_REGISTRY
    return f"{host}/{path}".rstrip("/")


def fits(key: str, name: Name) -> bool:
    host, _, path = key.partition("/")
    wanted, given = host.split("."), name.registry.split(".")
    if len(wanted) != len(given):
        return False
    # A star stands for one part of a host, never for a dot: `*.example.com` is not for `a.b.example.com`.
    if not all(fnmatch.fnmatchcase(g, w) for w, g in zip(wanted, given, strict=True)):
        return False
    return not path or name.repository == path or name.repository.startswith(path + "/")

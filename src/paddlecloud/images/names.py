"""Image names as everybody writes them, and the one full form behind each.

`nginx`, `docker.io/nginx` and `docker.io/library/nginx:latest` are one name. The first part is a registry
only if it has a dot, a colon or a capital letter, or is `localhost`; a digest wins over a tag. Pure.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from .failures import InvalidName

DEFAULT_REGISTRY = "docker.io"
DEFAULT_FOLDER = "library"
DEFAULT_TAG = "latest"
LONGEST = 255

HOST = re.compile(r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?")
PATH = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*")
TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
BARE_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, order=True)
class Name:
    registry: str
    repository: str
    tag: str = ""
    """Empty only beside a digest."""
    digest: str = ""

    def __str__(self) -> str:
        return self.place + (f":{self.tag}" if self.tag else "") + (f"@{self.digest}" if self.digest else "")

    @property
    def place(self) -> str:
        """Registry and repository, without tag and digest."""
        return f"{self.registry}/{self.repository}"

    @property
    def reference(self) -> str:
        """What a registry is asked for."""
        return self.digest or self.tag

    @property
    def short(self) -> str:
        """As people write it: without what is understood."""
        return self.short_place + str(self)[len(self.place) :]

    @property
    def short_place(self) -> str:
        """The same without tag and digest."""
        bare = self.place.removeprefix(f"{DEFAULT_REGISTRY}/")
        return bare if bare == self.place else bare.removeprefix(f"{DEFAULT_FOLDER}/")


def parse(text: str) -> Name:
    """The name that *text* stands for; raises `InvalidName` in the words of Kubernetes."""
    rest, at, digest = text.partition("@")
    if at and not DIGEST.fullmatch(digest):
        raise wrong(
            text, "invalid reference format" if "sha256:" not in digest else "invalid checksum digest"
        )
    registry, rest = split_registry(rest)
    path, _, tag = rest.partition(":")
    if ":" in rest and not TAG.fullmatch(tag):
        raise wrong(text, "invalid reference format")
    if registry == DEFAULT_REGISTRY and "/" not in path:
        if BARE_ID.fullmatch(path):
            raise wrong(text, f"invalid repository name ({path}), cannot specify 64-byte hexadecimal strings")
        path = f"{DEFAULT_FOLDER}/{path}"
    if not PATH.fullmatch(path) or not HOST.fullmatch(registry):
        if path != path.lower() and PATH.fullmatch(path.lower()):
            raise wrong(text, f"invalid reference format: repository name ({path}) must be lowercase")
        raise wrong(text, "invalid reference format")
    if len(registry) + 1 + len(path) > LONGEST:
        raise wrong(text, f"repository name must not be more than {LONGEST} total characters")
    return Name(registry, path, tag or ("" if digest else DEFAULT_TAG), digest)


def split_registry(text: str) -> tuple[str, str]:
    first, slash, rest = text.partition("/")
    named = slash and (set(".:") & set(first) or first == "localhost" or first != first.lower())
    if not named:
        return DEFAULT_REGISTRY, text
    # The name under which old clients keep the credentials of the default registry.
    return (DEFAULT_REGISTRY if first == f"index.{DEFAULT_REGISTRY}" else first), rest


def wrong(text: str, why: str) -> InvalidName:
    return InvalidName(
        f'Failed to apply default image tag "{text}": couldn\'t parse image name "{text}": {why}',
        next_step="write it as [REGISTRY/]NAME[:TAG][@sha256:DIGEST], the name in lower case",
    )


def local(registry: str) -> bool:
    """Whether the registry is on this machine: only then may it be spoken to without encryption."""
    host = registry.rpartition(":")[0] if re.search(r":[0-9]+$", registry) else registry
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False

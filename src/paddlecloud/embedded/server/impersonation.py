"""Acting as somebody else: what the headers ask for and what must be allowed for it; pure."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote

from ...errors import ServerError
from .rbac import Attributes
from .users import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User, account_groups, account_of

PREFIX = b"impersonate-"
EXTRA = "impersonate-extra-"
AUTHENTICATION = "authentication.k8s.io"


def asked(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """The headers that speak of another identity, their names in lower case."""
    return [
        (name.decode("latin-1").lower(), value.decode("utf-8", "surrogateescape"))
        for name, value in headers
        if name[:12].lower() == PREFIX
    ]


def impersonated(headers: list[tuple[str, str]]) -> tuple[User, list[Attributes]] | None:
    """Who the client wants to be, and everything it must be allowed to impersonate for that.

    Raises `ServerError`, as Kubernetes does, when only parts of an identity are given.
    """
    name, uid, groups = "", "", []
    extra: dict[str, list[str]] = {}
    for header, value in headers:
        if header == "impersonate-user":
            name = value
        elif header == "impersonate-uid":
            uid = value
        elif header == "impersonate-group":
            groups.append(value)
        elif header.startswith(EXTRA):
            extra.setdefault(unquote(header.removeprefix(EXTRA)), []).append(value)
    if not name:
        if uid or groups or extra:
            raise ServerError("requested parts of an identity without impersonating a user")
        return None
    account = account_of(name)
    needed = [
        Attributes("impersonate", "", "serviceaccounts", "", account[0], account[1])
        if account
        else Attributes("impersonate", "", "users", name=name)
    ]
    needed += [Attributes("impersonate", "", "groups", name=group) for group in groups]
    needed += [
        Attributes("impersonate", AUTHENTICATION, "userextras", key, name=value)
        for key, values in extra.items()
        for value in values
    ]
    if uid:
        needed.append(Attributes("impersonate", AUTHENTICATION, "uids", name=uid))
    return User(name, completed(name, groups), uid, tuple((k, tuple(v)) for k, v in extra.items())), needed


def completed(name: str, groups: list[str]) -> tuple[str, ...]:
    """The groups that come with being somebody."""
    account = account_of(name)
    found = tuple(groups) or (account_groups(account[0]) if account else ())
    if name == ANONYMOUS.name:
        return found if UNAUTHENTICATED in found else (*found, UNAUTHENTICATED)
    if AUTHENTICATED in found or UNAUTHENTICATED in found:
        return found
    return (*found, AUTHENTICATED)

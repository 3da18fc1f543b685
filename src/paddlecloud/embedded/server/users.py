"""Somebody who asks, as far as the server knows them; a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

AUTHENTICATED, UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class User:
    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def info(self) -> dict[str, Any]:
        """As reviews show it."""
        body: dict[str, Any] = {"username": self.name}
        if self.uid:
            body["uid"] = self.uid
        if self.groups:
            body["groups"] = list(self.groups)
        if self.extra:
            body["extra"] = {key: list(values) for key, values in self.extra}
        return body


ANONYMOUS = User("system:anonymous", (UNAUTHENTICATED,))


def account_groups(namespace: str) -> tuple[str, ...]:
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")


def account_of(name: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that a user name stands for."""
    if not name.startswith(ACCOUNT):
        return None
    namespace, _, account = name.removeprefix(ACCOUNT).partition(":")
    return (namespace, account) if namespace and account and ":" not in account else None

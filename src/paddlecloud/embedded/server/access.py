"""Who is asking: a client certificate, a static token of one of our processes, a token of a service account.

Whoever shows nothing is anonymous; whoever shows something wrong is refused. A certificate is believed
because TLS checked it against our authority when the connection began. What anybody may do is decided
elsewhere (`authorization`).
"""

from __future__ import annotations

import hashlib
import ssl
import time
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from ...errors import Unauthorized
from .. import websockets
from ..store import Store
from .accounts import INVALID, ISSUER, Accounts
from .authorization import Authorizer
from .impersonation import asked, impersonated
from .tokenkeys import TokenKey
from .users import ANONYMOUS, AUTHENTICATED, User
from .websockettokens import token_in

Body = dict[str, Any]


class Access:
    def __init__(self, pki: Path, store: Store) -> None:
        # Looked up by digest: how long that takes says nothing about a token.
        self._static = {
            digest(entry["token"]): User(entry["user"], tuple(entry["groups"]))
            for entry in orjson.loads((pki / "tokens.json").read_bytes()).values()
        }
        self.accounts = Accounts(TokenKey(pki / "tokens.key"), store)
        self.authorizer = Authorizer(store)
        self._certified: dict[tuple[Any, str], tuple[User, float]] = {}

    def user_of(self, request: web.Request) -> User:
        """Who the request acts as; raises `Unauthorized`, or `Forbidden` for a borrowed identity."""
        user = self._authenticated(request)
        if not (headers := asked(request.raw_headers)):
            return user
        borrowed = impersonated(headers)
        if borrowed is None:
            return user
        for needed in borrowed[1]:
            self.authorizer.demand(user, needed)
        return borrowed[0]

    def _authenticated(self, request: web.Request) -> User:
        transport = request.transport
        certificate = transport.get_extra_info("peercert") if transport is not None else None
        if certificate:
            return self._of_certificate(certificate)
        authorization = request.headers.get("Authorization")
        if authorization is None and websockets.wants_websocket(request):
            authorization = f"Bearer {token_in(websockets.offered(request))}"
        if authorization is None:
            return ANONYMOUS
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return ANONYMOUS
        try:
            return self.holder(token.strip())[0]
        except Unauthorized as error:
            # Why a token is not good is for its owner to find out (TokenReview).
            raise Unauthorized("Unauthorized") from error

    def holder(self, token: str, audiences: tuple[str, ...] = (ISSUER,)) -> tuple[User, tuple[str, ...]]:
        """Whose token it is, and for which of *audiences*; raises `Unauthorized` with the reason."""
        if not token.isascii():
            raise Unauthorized(INVALID)
        static = self._static.get(digest(token))
        if static is None:
            return self.accounts.user_of(token, audiences)
        if ISSUER not in audiences:
            raise Unauthorized(INVALID)
        return static, (ISSUER,)

    def _of_certificate(self, certificate: Body) -> User:
        key = (certificate["subject"], certificate["notAfter"])
        known = self._certified.get(key)
        if known is None:
            if len(self._certified) > 1024:
                self._certified.clear()
            known = (user_named(certificate["subject"]), ssl.cert_time_to_seconds(certificate["notAfter"]))
            self._certified[key] = known
        # TLS looks at the date once a connection, and connections last.
        if known[1] < time.time():
            raise Unauthorized("Unauthorized")
        return known[0]


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def user_named(subject: Any) -> User:
    """The user (CN) and the groups (O) that a certificate names."""
    fields = [pair for part in subject for pair in part]
    name = next((value for key, value in fields if key == "commonName"), "")
    if not name:
        raise Unauthorized("Unauthorized")
    groups = [value for key, value in fields if key == "organizationName"]
    return User(name, (*groups, AUTHENTICATED))

"""Who is asking: static tokens of the owner and of our processes, signed tokens of service accounts.

Nothing is open but health. What an identity may do is decided elsewhere.
"""

from __future__ import annotations

import hmac
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
import orjson
from cryptography.hazmat.primitives import serialization

from ...errors import Unauthorized
from ..store import Place, Store

ISSUER = "https://kubernetes.default.svc"
AUDIENCE = ISSUER
LONGEST = 365 * 24 * 3600  # a pod's token is not renewed while it runs
SHORTEST = 600


@dataclass(frozen=True)
class User:
    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""


class Access:
    def __init__(self, pki: Path, store: Store) -> None:
        self._static = {
            entry["token"]: User(entry["user"], tuple(entry["groups"]))
            for entry in orjson.loads((pki / "tokens.json").read_bytes()).values()
        }
        key = serialization.load_pem_private_key((pki / "tokens.key").read_bytes(), None)
        self._key: Any = key
        self._public: Any = key.public_key()
        self._store = store

    def user_of(self, authorization: str) -> User:
        """Raises `Unauthorized` for everything that is not a token of ours."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token or not token.isascii():
            raise Unauthorized("Unauthorized")
        for known, user in self._static.items():
            if hmac.compare_digest(known.encode(), token.encode()):
                return user
        return self._service_account(token)

    def _service_account(self, token: str) -> User:
        try:
            claims = jwt.decode(token, self._public, ["ES256"], audience=AUDIENCE, issuer=ISSUER)
            mine = claims["kubernetes.io"]
            namespace, account = mine["namespace"], mine["serviceaccount"]
        except (jwt.PyJWTError, KeyError) as error:
            raise Unauthorized("Unauthorized") from error
        entry = self._store.get(Place("/serviceaccounts", namespace, account["name"]))
        # A token dies with its account, also when another of the same name takes its place.
        if entry is None or entry.load()["metadata"]["uid"] != account["uid"]:
            raise Unauthorized("Unauthorized")
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        return User(claims["sub"], groups, account["uid"])

    def review(self, user: User) -> dict[str, Any]:
        """The answer to a SelfSubjectReview."""
        info: dict[str, Any] = {"username": user.name, "groups": list(user.groups)}
        return {
            "kind": "SelfSubjectReview",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {},
            "status": {"userInfo": info | ({"uid": user.uid} if user.uid else {})},
        }

    def issue(self, account: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a TokenRequest for a service account."""
        metadata, spec = account["metadata"], request.get("spec") or {}
        seconds = min(LONGEST, max(SHORTEST, int(spec.get("expirationSeconds") or 3600)))
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "aud": [AUDIENCE],
            "sub": f"system:serviceaccount:{metadata['namespace']}:{metadata['name']}",
            "iat": now,
            "nbf": now - 5,
            "exp": now + seconds,
            "kubernetes.io": {
                "namespace": metadata["namespace"],
                "serviceaccount": {"name": metadata["name"], "uid": metadata["uid"]},
            },
        }
        expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + seconds))
        return {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
            "spec": {"audiences": [AUDIENCE], "expirationSeconds": seconds},
            "status": {"token": jwt.encode(claims, self._key, "ES256"), "expirationTimestamp": expires},
        }

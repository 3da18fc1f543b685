"""Tokens of service accounts: signed texts that die with what they were made for.

A token is believed while it has not expired, its account is the very one it was made for and, when it is
bound to a pod, that pod is still there. The signature is checked once a token; the rest at every use.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...errors import BadRequest, Conflict, Invalid, NotFound, Unauthorized
from ..store import Entry, Place, Store
from .podaccess import SECONDS
from .tokenkeys import TokenKey
from .users import AUTHENTICATED, User, account_groups

ISSUER = "https://kubernetes.default.svc"
LONGEST = 365 * 24 * 3600
SHORTEST = 600
LEEWAY = 60  # seconds a clock may be behind
KNOWN = 4096  # tokens whose signature need not be checked again
BINDABLE = {("v1", "Pod"): "/pods", ("v1", "Secret"): "/secrets", ("v1", "Node"): "/nodes"}
INVALID = "invalid bearer token"
INVALIDATED = "service account token has been invalidated"
Body = dict[str, Any]


@dataclass
class Lifeline:
    """An object that must live, the very one with that uid, for a token to be good."""

    place: Place
    uid: str
    _seen: Entry | None = field(default=None, repr=False)

    def holds(self, store: Store) -> bool:
        entry = store.get(self.place)
        if entry is None:
            return False
        # An entry never changes: the same one needs no second look.
        if entry is not self._seen and entry.load()["metadata"]["uid"] != self.uid:
            return False
        self._seen = entry
        return True


@dataclass(frozen=True)
class Verified:
    user: User
    audiences: tuple[str, ...]
    begins: float
    expires: float
    lifelines: tuple[Lifeline, ...]


class Accounts:
    def __init__(self, key: TokenKey, store: Store, clock: Callable[[], float] = time.time) -> None:
        self.key = key
        self._store, self._clock = store, clock
        self._known: dict[str, Verified] = {}

    def user_of(self, token: str, audiences: tuple[str, ...] = (ISSUER,)) -> tuple[User, tuple[str, ...]]:
        """Whose token it is, and for which of *audiences*; raises `Unauthorized` with the reason."""
        verified = self._known.get(token) or self._verify(token)
        if not verified.begins - LEEWAY <= self._clock() < verified.expires:
            raise Unauthorized(INVALID)
        if not all(line.holds(self._store) for line in verified.lifelines):
            raise Unauthorized(f"[{INVALID}, {INVALIDATED}]")
        meant = tuple(a for a in audiences if a in verified.audiences)
        if not meant:
            have, want = (" ".join(f'"{a}"' for a in names) for names in (verified.audiences, audiences))
            raise Unauthorized(
                f"[{INVALID}, token audiences [{have}] is invalid for the target audiences [{want}]]"
            )
        return verified.user, meant

    def _verify(self, token: str) -> Verified:
        try:
            verified = read(self.key.claims(token, ISSUER))
        except (KeyError, TypeError, ValueError) as error:
            raise Unauthorized(INVALID) from error
        if len(self._known) >= KNOWN:
            self._known.clear()
        self._known[token] = verified
        return verified

    def issue(self, account: Body, request: Body) -> Body:
        """The answer to a TokenRequest for a service account."""
        metadata, spec = account["metadata"], request.get("spec") or {}
        check(request, metadata["name"])
        seconds = min(LONGEST, int(spec.get("expirationSeconds") or 3600))
        audiences = list(spec.get("audiences") or (ISSUER,))
        reference = spec.get("boundObjectRef")
        now = int(self._clock())
        life, warned = lifetime(seconds, audiences, reference)
        about: Body = {
            "namespace": metadata["namespace"],
            "serviceaccount": {"name": metadata["name"], "uid": metadata["uid"]},
            **(self._bound(reference, metadata) if reference else {}),
            **({"warnafter": now + seconds} if warned else {}),
        }
        claims = {
            "iss": ISSUER,
            "aud": audiences,
            "sub": f"system:serviceaccount:{metadata['namespace']}:{metadata['name']}",
            "iat": now,
            "nbf": now,
            "exp": now + life,
            "jti": str(uuid.uuid4()),
            "kubernetes.io": about,
        }
        token = self.key.signed(claims)
        return {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "creationTimestamp": stamp(now),
            },
            "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": reference},
            "status": {"token": token, "expirationTimestamp": stamp(now + seconds)},
        }

    def _bound(self, reference: Body, account: Body) -> Body:
        """The claims that tie a token to an object; raises where that object is not there."""
        version, kind, name = (str(reference.get(f) or "") for f in ("apiVersion", "kind", "name"))
        resource = BINDABLE.get((version, kind))
        if resource is None:
            group, _, number = version.rpartition("/")
            raise BadRequest(f"cannot bind token to object of type {group}/{number}, Kind={kind}")
        namespace = "" if resource == "/nodes" else account["namespace"]
        entry = self._store.get(Place(resource, namespace, name))
        plural = resource.removeprefix("/")
        if entry is None:
            raise NotFound(f'{plural} "{name}" not found', details={"name": name, "kind": plural})
        body = entry.load()
        uid = body["metadata"]["uid"]
        if reference.get("uid") not in (None, "", uid):
            raise Conflict(
                f'Operation cannot be fulfilled on {kind} "{name}": the UID in the bound object reference '
                f"({reference['uid']}) does not match the UID in record. The object might have been deleted "
                "and then recreated",
                details={"name": name, "kind": kind},
            )
        if resource != "/pods":
            return {kind.lower(): {"name": name, "uid": uid}}
        used = (body.get("spec") or {}).get("serviceAccountName") or "default"
        if used != account["name"]:
            raise BadRequest(
                "cannot bind token for serviceaccount "
                f'"{account["name"]}" to pod running with different serviceaccount name.'
            )
        claims = {"pod": {"name": name, "uid": uid}}
        node_name = (body.get("spec") or {}).get("nodeName")
        node = self._store.get(Place("/nodes", "", node_name)) if node_name else None
        if node is not None:
            claims["node"] = {"name": node_name, "uid": node.load()["metadata"]["uid"]}
        return claims


def discovery(server: str) -> Body:
    """The document of an OpenID issuer, as far as it is needed to find its keys."""
    return {
        "issuer": ISSUER,
        "jwks_uri": f"{server}/openid/v1/jwks",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    }


def read(claims: Body) -> Verified:
    mine = claims["kubernetes.io"]
    namespace, account = mine["namespace"], mine["serviceaccount"]
    lifelines = [Lifeline(Place("/serviceaccounts", namespace, account["name"]), account["uid"])]
    extra: list[tuple[str, tuple[str, ...]]] = []
    if claims.get("jti"):
        extra.append(("authentication.kubernetes.io/credential-id", (f"JTI={claims['jti']}",)))
    for kind in ("node", "pod"):
        if about := mine.get(kind):
            for part in ("name", "uid"):
                extra.append((f"authentication.kubernetes.io/{kind}-{part}", (about[part],)))
    # The node a pod runs on is told, but it is the pod that the token lives with.
    for kind, resource, place in (("pod", "/pods", namespace), ("secret", "/secrets", namespace)):
        if about := mine.get(kind):
            lifelines.append(Lifeline(Place(resource, place, about["name"]), about["uid"]))
    if (about := mine.get("node")) and "pod" not in mine:
        lifelines.append(Lifeline(Place("/nodes", "", about["name"]), about["uid"]))
    groups = (*account_groups(namespace), AUTHENTICATED)
    audiences = (claims["aud"],) if isinstance(claims["aud"], str) else tuple(claims["aud"])
    user = User(claims["sub"], groups, account["uid"], tuple(extra))
    begins = float(claims.get("nbf") or claims["iat"])
    return Verified(user, audiences, begins, float(claims["exp"]), tuple(lifelines))


def lifetime(seconds: int, audiences: list[str], reference: Body | None) -> tuple[int, bool]:
    """How long a token lasts, and whether it is old before its end.

    The one that every pod gets is replaced in time; programs that read it once, at their start, last longer.
    """
    ours = (reference or {}).get("kind") == "Pod" and audiences == [ISSUER]
    return (LONGEST, True) if ours and seconds == SECONDS else (seconds, False)


def check(request: Body, account: str) -> None:
    """Raises `Invalid` for a TokenRequest nobody can fulfil."""
    spec = request.get("spec") or {}
    named = (request.get("metadata") or {}).get("name")
    if named not in (None, "", account):
        problem = f'Invalid value: "{named}": must match the service account name if specified'
        raise invalid("metadata.name", problem, account)
    seconds = spec.get("expirationSeconds")
    if seconds is None:
        return
    if not isinstance(seconds, int) or isinstance(seconds, bool):
        raise BadRequest("spec.expirationSeconds must be a whole number")
    if seconds < SHORTEST:
        problem = f"Invalid value: {seconds}: may not specify a duration less than 10 minutes"
        raise invalid("spec.expirationSeconds", problem)
    if seconds > 1 << 32:
        problem = f"Invalid value: {seconds}: may not specify a duration larger than 2^32 seconds"
        raise invalid("spec.expirationSeconds", problem)


def invalid(field_name: str, problem: str, name: str = "") -> Invalid:
    details: Body = {"name": name} if name else {}
    details |= {
        "group": "authentication.k8s.io",
        "kind": "TokenRequest",
        "causes": [{"reason": "FieldValueInvalid", "message": problem, "field": field_name}],
    }
    return Invalid(
        f'TokenRequest.authentication.k8s.io "{name}" is invalid: {field_name}: {problem}', details=details
    )


def stamp(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))

"""The key that signs the tokens of service accounts.

It is read when the first token is made or shown: cryptography is the largest library of the server, and a
cluster without pods needs none of it.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

Body = dict[str, Any]
ALGORITHM = "ES256"
NEEDED = ["exp", "iat", "sub", "aud"]


class TokenKey:
    def __init__(self, path: Path) -> None:
        self._path = path

    def signed(self, claims: Body) -> str:
        import jwt

        return jwt.encode(claims, self._private, ALGORITHM, {"kid": self.id})

    def claims(self, token: str, issuer: str) -> Body:
        """What a token says that we signed for *issuer*; raises `ValueError` for any other.

        Times and audiences are the caller's to look at: they change while the signature does not.
        """
        import jwt

        checks: Any = {f"verify_{claim}": False for claim in ("aud", "exp", "iat", "nbf")}
        checks["require"] = NEEDED
        try:
            said: Body = jwt.decode(
                token, self._private.public_key(), [ALGORITHM], issuer=issuer, options=checks
            )
        except jwt.PyJWTError as error:
            raise ValueError("not a token of ours") from error
        return said

    def published(self) -> Body:
        """What others need to check our tokens themselves, as a JWK set."""
        numbers = self._private.public_key().public_numbers()
        x, y = (encoded(number.to_bytes(32)) for number in (numbers.x, numbers.y))
        key = {"use": "sig", "kty": "EC", "kid": self.id, "crv": "P-256", "alg": ALGORITHM, "x": x, "y": y}
        return {"keys": [key]}

    @cached_property
    def id(self) -> str:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return encoded(hashlib.sha256(public).digest())

    @cached_property
    def _private(self) -> EllipticCurvePrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        key = load_pem_private_key(self._path.read_bytes(), None)
        assert isinstance(key, EllipticCurvePrivateKey)
        return key


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")

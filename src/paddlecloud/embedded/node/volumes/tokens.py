"""When a token of a service account is to be replaced, read from the token itself; pure.

The signature is not looked at: the token came from the API, and only its age matters here.
"""

from __future__ import annotations

import base64
import binascii
import json

USUAL = 3600
OLDEST = 24 * 3600
LIVED = 0.8
"""The part of its life after which a token is replaced."""


def due(token: bytes, now: float) -> bool:
    """Whether a new one is wanted; of a text that is no token only a new request could tell more."""
    times = times_of(token)
    if times is None:
        return False
    issued, expires = times
    # After a clock jump backwards the token may come from the future: better a new one.
    return now < issued - 300 or now >= issued + LIVED * (expires - issued) or now - issued >= OLDEST


def times_of(token: bytes) -> tuple[float, float] | None:
    parts = token.split(b".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + b"=" * (-len(parts[1]) % 4)))
        return float(claims["iat"]), float(claims["exp"])
    except (ValueError, binascii.Error, KeyError, TypeError):
        return None

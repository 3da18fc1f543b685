"""A bearer token among the subprotocols of a WebSocket, for clients that cannot set a header: browsers.

Pure. A token is never answered and never passed on.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

PREFIX = "base64url.bearer.authorization.k8s.io."


def token_in(offered: Iterable[str]) -> str:
    """The token, or nothing; as in Kubernetes it must come beside another protocol."""
    names = list(offered)
    tokens = [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)]
    if len(tokens) != 1 or len(names) == 1:
        return ""
    try:
        return base64.urlsafe_b64decode(tokens[0] + "=" * (-len(tokens[0]) % 4)).decode()
    except ValueError:
        return ""


def without_tokens(offered: Iterable[str]) -> list[str]:
    return [name for name in offered if not name.startswith(PREFIX)]

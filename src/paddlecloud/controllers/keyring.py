"""The tokens that questions and calls are asked with: read from their Secrets when first needed, and kept.

A token that is not taken any more is read anew; nothing here ever prints one.
"""

from __future__ import annotations

import base64
import binascii

from ..api.core import Secret
from ..cluster.client import Client
from .outside import SecretQuestion, SecretSight, Token
from .ownership import owner_uid


class Keyring:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[Token, str] = {}

    async def headers(self, token: Token | None) -> dict[str, str]:
        """What proves who asks; nothing where the Secret or its key is not there."""
        text = await self._text(token) if token else ""
        return {"Authorization": f"Bearer {text}"} if text else {}

    def forget(self, token: Token | None) -> bool:
        """It was not taken; whether it is worth while to read it anew."""
        return token is not None and self._known.pop(token, None) is not None

    async def sight(self, question: SecretQuestion) -> SecretSight | None:
        found = await self._client.find(Secret, question.namespace, question.name)
        if found is None:
            return None
        keys = frozenset(key for key, text in found.data.items() if plain(text))
        return SecretSight(keys, owner_uid(found))

    async def _text(self, token: Token) -> str:
        if token not in self._known:
            found = await self._client.find(Secret, token.namespace, token.name)
            text = plain(found.data.get(token.key, "")) if found else ""
            if not text:
                return ""
            self._known[token] = text
        return self._known[token]


def plain(encoded: str) -> str:
    """The text of a value without the blanks around it; empty for what is no text on one line."""
    try:
        text = base64.b64decode(encoded, validate=True).decode().strip()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return "" if any(c in text for c in "\r\n\0") else text

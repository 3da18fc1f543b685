"""Answers the challenges of a registry: one credential after the other, until one is let in.

A token that was good and is refused has run out and is asked for again with the same credential; one that was
never good makes room for the next credential. Several downloads share one authorization and renew it once.
"""

from __future__ import annotations

import asyncio
import json

from yarl import URL

from .challenges import Challenge
from .connection import BROKEN, Busy, Connection, limited, said
from .credentials import Credential, Keyring
from .failures import NotPulled
from .names import Name

LARGEST_TOKEN = 1 << 20
CLIENT = "paddlecloud"


class Authorization:
    def __init__(self, name: Name, keyring: Keyring) -> None:
        self._scope = f"repository:{name.repository}:pull"
        # Last without any: many token servers let everybody read.
        self._left: list[Credential | None] = [*keyring.fitting(name), None]
        self._good = False
        self._turn = asyncio.Lock()
        self.header = ""
        """What is to be sent now; empty at first, since many registries ask for nothing."""

    def worked(self) -> None:
        self._good = True

    async def answer(self, asked: list[Challenge], used: str, connection: Connection) -> bool:
        """Find another header than *used*, which was refused; false when nothing is left to try."""
        async with self._turn:
            if self.header != used:
                return True
            if not self._good and used:
                self._left.pop(0)
            self._good = False
            while self._left:
                self.header = await self._header(asked, self._left[0], connection)
                if self.header:
                    return True
                self._left.pop(0)
            return False

    async def _header(self, asked: list[Challenge], who: Credential | None, connection: Connection) -> str:
        for challenge in asked:
            if challenge.scheme == "basic" and who is not None:
                return who.basic
            if challenge.scheme == "bearer" and (token := await self._token(challenge, who, connection)):
                return f"Bearer {token}"
        return ""

    async def _token(self, challenge: Challenge, who: Credential | None, connection: Connection) -> str:
        """A token from the server that the registry names; empty when it does not know *who*."""
        realm = URL(challenge.words.get("realm", ""))
        query = {"scope": challenge.words.get("scope") or self._scope}
        if service := challenge.words.get("service"):
            query["service"] = service
        try:
            if who and who.token:
                form = {"grant_type": "refresh_token", "refresh_token": who.token, "client_id": CLIENT}
                answer = await connection.post(realm, {**query, **form})
            else:
                answer = await connection.get(realm.update_query(query), {}, who.basic if who else "")
            try:
                if answer.status != 200:
                    return ""
                body = json.loads(await limited(answer, LARGEST_TOKEN, "the answer of the token server"))
            finally:
                answer.release()
        except (Busy, *BROKEN) as error:
            raise NotPulled(f"the token server {realm.host} does not answer: {said(error)}") from error
        except ValueError:
            raise NotPulled(f"the token server {realm.host} sent no JSON") from None
        found = body.get("token") or body.get("access_token") if isinstance(body, dict) else ""
        return str(found or "")

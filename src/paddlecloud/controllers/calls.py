"""Says to the outside what was decided; each call is made again until it was heard.

What a call was told in return is not believed, but for one thing: a refusal, which says that the same call
would be refused again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import aiohttp

from ..cluster.client import Client
from ..errors import Unreachable
from .keyring import Keyring
from .outside import HttpCall

HEARD_WITHIN = 5.0
WITHIN = aiohttp.ClientTimeout(total=HEARD_WITHIN)
LONGEST_REFUSAL = 2000
REFUSALS = frozenset({400, 405, 409, 413, 415, 422})
NOT_LET_IN = 401


async def make_calls(client: Client, keyring: Keyring, calls: Sequence[HttpCall]) -> Mapping[HttpCall, str]:
    """Make all of them at the same time; why some were refused.

    Raises `Unreachable` for the first that was not heard, after all others have been made.
    """
    session = client.to_pods
    heard = await asyncio.gather(*(make(session, keyring, c) for c in calls), return_exceptions=True)
    for outcome in heard:
        if isinstance(outcome, BaseException):
            raise outcome
    return {call: said for call, said in zip(calls, heard, strict=True) if isinstance(said, str) and said}


async def make(session: aiohttp.ClientSession, keyring: Keyring, call: HttpCall) -> str:
    """Empty when it was taken, else why not."""
    status, said = await post(session, keyring, call)
    if status == NOT_LET_IN and keyring.forget(call.token):
        status, said = await post(session, keyring, call)
    if status == 200:
        return ""
    if status in REFUSALS:
        return said.strip() or f"refused with {status}"
    raise Unreachable(f"{call.url} answered {status} to {call.id}", next_step="it is tried again")


async def post(session: aiohttp.ClientSession, keyring: Keyring, call: HttpCall) -> tuple[int, str]:
    headers = {"filename": call.id, "Content-Type": "application/json", **await keyring.headers(call.token)}
    try:
        async with session.post(
            call.url, data=call.body, headers=headers, timeout=WITHIN, allow_redirects=False
        ) as answer:
            said = await answer.content.read(LONGEST_REFUSAL)
            return answer.status, said.decode(errors="replace")
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        raise Unreachable(
            f"{call.url} did not hear {call.id}: {error or type(error).__name__}",
            next_step="it is tried again",
        ) from error

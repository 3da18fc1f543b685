"""The HTTP API of a runtime: what is held, and operations to be carried out.

Whoever has no token learns only that the process lives. There is no listing of anything, and nothing secret
in any answer.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
from aiohttp import web
from aiohttp.typedefs import Middleware

from ..errors import Failed, WrongUse
from . import status
from .engine import Engine, Holding
from .operations import ID, Ledger
from .options import KINDS, checked
from .running import Operations, sentence

LARGEST = 64 << 20
FRESH = 1.0
ANSWER = 1.5
"""Seconds in which whoever asks is answered, with what was seen last if need be."""
SILENCE = 10.0
"""Seconds after which a volume that does not answer is told to be silent."""
Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Told:
    """Which runtime it is that answers."""

    engine: str
    partition: int
    token_file: Path


class Holdings:
    """What the engine holds, looked at once for all who ask within a second.

    Who asks is answered in any case: a volume that keeps silent is told as it was, and later as silent.
    """

    def __init__(
        self, engine: Engine, operations: Operations, answer: float = ANSWER, silence: float = SILENCE
    ) -> None:
        self._engine, self._operations = engine, operations
        self._answer, self._silence = answer, silence
        self._seen, self._trouble = Holding(), ""
        self._until, self._ended, self._began = 0.0, -1, 0.0
        self._looking: asyncio.Task[None] | None = None

    async def now(self) -> tuple[Holding, str]:
        """The holding, and why there is none where it could not be told."""
        until = time.monotonic() + self._answer
        # A look that began before an operation ended does not show what it did.
        while (self._looking or self._stale()) and (left := until - time.monotonic()) > 0:
            if self._looking is None:
                self._ended, self._began = self._operations.ended, time.monotonic()
                self._looking = asyncio.create_task(self._look())
            await asyncio.wait([self._looking], timeout=left)
        if self._looking is not None and (waited := time.monotonic() - self._began) > self._silence:
            return self._seen, f"the volume has not answered for {waited:.0f} s; it is waited for"
        return self._seen, self._trouble

    def _stale(self) -> bool:
        return time.monotonic() >= self._until or self._ended != self._operations.ended

    async def _look(self) -> None:
        try:
            self._seen, self._trouble = await asyncio.to_thread(self._engine.holding), ""
        except Failed as error:
            self._trouble = sentence(error)
        finally:
            self._until, self._looking = time.monotonic() + FRESH, None


def app(operations: Operations, engine: Engine, told: Told) -> web.Application:
    served = web.Application(middlewares=[guard(told.token_file)], client_max_size=LARGEST)
    holdings = Holdings(engine, operations)

    async def cache_info(_: web.Request) -> web.Response:
        # Before the look: what has ended by then is seen in what is held.
        seen = seen_now(operations, operations.ledger)
        holding, trouble = await holdings.now()
        seen = replace(seen, holding=holding, trouble=trouble)
        return answer(status.cache_info(seen, told.engine, told.partition))

    async def upload(request: web.Request) -> web.Response:
        kind, id = request.match_info["kind"], request.headers.get("filename", "")
        if request.query.get("terminate"):
            operations.terminate()
            return answer({"message": "cancelled"})
        if not ID.fullmatch(id):
            raise WrongUse("the header `filename` holds no id", next_step="use up to 64 of a-z, 0-9 and -")
        try:
            options = orjson.loads(await request.read() or b"null")
        except orjson.JSONDecodeError as error:
            raise WrongUse(f"the options are no JSON: {error}") from error
        operation = operations.submit(kind, id, checked(kind, options))
        return answer({"message": "stored", "status": operation.status})

    async def options(request: web.Request) -> web.Response:
        operation = operations.ledger.find(request.match_info["kind"], request.match_info["id"])
        return unknown(request) if operation is None else answer(operation.options)

    async def result(request: web.Request) -> web.Response:
        operation = operations.ledger.find(request.match_info["kind"], request.match_info["id"])
        if operation is None:
            return unknown(request)
        running = operations.progress if operation == operations.running else None
        amount = running.amount if running else None
        seconds = time.monotonic() - running.began if running else 0.0
        return answer(operation.result(status.progress(amount, seconds)))

    kinds, id = "|".join(KINDS), "{id:" + ID.pattern + "}"
    served.router.add_get("/healthz", healthz)
    served.router.add_get("/cacheStatus/cacheInfo.json", cache_info)
    served.router.add_post("/upload/{kind:" + kinds + "}Options", upload)
    served.router.add_get("/{kind:" + kinds + "}Options/" + id, options)
    served.router.add_get("/{kind:" + kinds + "}Result/" + id, result)
    return served


def seen_now(operations: Operations, ledger: Ledger) -> status.Seen:
    under_way = operations.progress
    return status.Seen(
        Holding(),
        operations.running,
        operations.verifying,
        operations.looked.wrong,
        ledger.newest("sync"),
        under_way.amount if under_way else None,
        time.monotonic() - under_way.began if under_way else 0.0,
        source=operations.watch.sight,
    )


async def healthz(_: web.Request) -> web.Response:
    return web.Response(text="ok\n")


def guard(token_file: Path) -> Middleware:
    """Lets in who has the token, and answers errors in sentences."""

    @web.middleware
    async def guarded(request: web.Request, handler: Answering) -> web.StreamResponse:
        if request.path != "/healthz" and not allowed(request, token_file):
            return answer({"message": "the token is missing or wrong"}, 401)
        try:
            return await handler(request)
        except WrongUse as error:
            return answer({"message": sentence(error)}, 400)
        except Failed as error:
            return answer({"message": sentence(error)}, 500)

    return guarded


def allowed(request: web.Request, token_file: Path) -> bool:
    try:
        # Read each time: a Secret may be changed under a runtime that goes on.
        token = token_file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return False
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    right = hmac.compare_digest(given.strip().encode(errors="replace"), token.encode())
    return bool(token) and scheme.lower() == "bearer" and right


def unknown(request: web.Request) -> web.Response:
    return answer({"message": f"there is no operation {request.match_info['id']}"}, 404)


def answer(body: object, code: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), content_type="application/json", status=code)

"""Reads one repository of a registry over the distribution protocol: manifests and blobs, nothing else.

Every answer is checked against the digest it was asked by, or is to be checked by whoever gets the file. A
registry that is busy is asked again, a download that broke off goes on where it ended; both are bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from yarl import URL

from ..cluster.retries import delay
from . import manifests
from .authorization import Authorization
from .challenges import challenges
from .connection import BROKEN, TRIES, Busy, Connection, Surroundings, limited, pieces, said
from .credentials import Keyring
from .failures import Damaged, NotPulled, Refused
from .layout import disk_failure
from .manifests import Descriptor
from .names import DEFAULT_REGISTRY, Name, local

MOST_RESUMPTIONS = 60
LONGEST_ADVICE = 30.0
GOOD = (200, 206)
NO_SUCH_RANGE = 416
Moved = Callable[[int], None]
"""Called with the number of bytes that are here now."""


@dataclass(frozen=True)
class Fetched:
    content: bytes
    media_type: str
    digest: str


class Repository:
    """Opened for one name; use as `async with`."""

    def __init__(self, name: Name, keyring: Keyring, around: Surroundings) -> None:
        self.name = name
        self._around = around
        self._connection = Connection(around.proxies)
        self._authorization = Authorization(name, keyring)
        # The default registry answers under another name than the one in image names.
        host = f"registry-1.{DEFAULT_REGISTRY}" if name.registry == DEFAULT_REGISTRY else name.registry
        self._base = f"{'http' if local(name.registry) else 'https'}://{host}/v2/{name.repository}"

    async def __aenter__(self) -> Repository:
        await self._connection.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._connection.__aexit__()

    async def manifest(self, reference: str) -> Fetched:
        """A manifest or index; raises `NotPulled`, `Refused` or `Damaged`."""
        accept = {"Accept": ", ".join((*manifests.MANIFESTS, *manifests.INDEXES))}
        failures = 0
        while True:
            try:
                async with self._answer(f"manifests/{reference}", accept) as answer:
                    content = await limited(answer, manifests.LARGEST, f"the manifest of {self.name}")
                    break
            except BROKEN as error:
                failures += 1
                await self._pause(failures, Busy(said(error)))
        digest = manifests.digest_of(content)
        promised = reference if ":" in reference else answer.headers.get("Docker-Content-Digest", "")
        if promised and promised != digest:
            raise Damaged(f"the registry sent a manifest with the digest {digest}, promised was {promised}")
        return Fetched(content, answer.headers.get("Content-Type", "").partition(";")[0].strip(), digest)

    async def blob(self, wanted: Descriptor, part: Path, moved: Moved) -> None:
        """Let *part* grow to the size of *wanted* from where it is; its digest is not looked at."""
        failures = 0
        for _ in range(MOST_RESUMPTIONS):
            here = await asyncio.to_thread(size_of, part)
            if here > wanted.size:
                await asyncio.to_thread(part.unlink)
                here = 0
            moved(here)
            if here == wanted.size:
                part.touch()
                return
            trouble = Busy("the connection ended before the content did")
            try:
                await self._more(wanted, part, here, moved)
            except BROKEN as error:
                trouble = Busy(said(error))
            arrived = await asyncio.to_thread(size_of, part)
            if arrived < wanted.size:
                # As long as something comes, the registry is worth asking.
                failures = 1 if arrived > here else failures + 1
                await self._pause(failures, trouble)
        raise NotPulled(f"{self._what}: {wanted.digest} did not arrive in {MOST_RESUMPTIONS} pieces")

    async def _more(self, wanted: Descriptor, part: Path, here: int, moved: Moved) -> None:
        asked = {"Range": f"bytes={here}-"} if here else {}
        async with self._answer(f"blobs/{wanted.digest}", asked) as answer:
            if answer.status == NO_SUCH_RANGE:
                await asyncio.to_thread(part.unlink, missing_ok=True)
                return
            goes_on = answer.headers.get("Content-Range", "").startswith(f"bytes {here}-")
            if answer.status == 206 and not goes_on:
                raise Damaged(f"{self._what}: the registry answered with another range than was asked for")
            # A registry that knows no ranges sends all of it again.
            done = here if answer.status == 206 else 0
            try:
                with await asyncio.to_thread(part.open, "ab" if done else "wb", 0) as file:
                    async for piece in pieces(answer):
                        done += len(piece)
                        if done > wanted.size:
                            raise Damaged(
                                f"{self._what}: {wanted.digest} is longer than its {wanted.size} bytes"
                            )
                        await asyncio.to_thread(write, file, piece)
                        moved(done)
            except OSError as error:
                # A broken connection is one as well; the disk's errors have a file or a number of their own.
                if isinstance(error, BROKEN):
                    raise
                raise disk_failure(part.parent, error) from error

    @contextlib.asynccontextmanager
    async def _answer(self, path: str, headers: Mapping[str, str]) -> AsyncIterator[aiohttp.ClientResponse]:
        """A good answer, its body unread; whatever stands in the way is tried to be moved out of it."""
        failures = 0
        while True:
            used = self._authorization.header
            try:
                answer = await self._connection.get(URL(f"{self._base}/{path}"), headers, used)
            except Busy as busy:
                failures += 1
                await self._pause(failures, busy)
                continue
            try:
                if answer.status in GOOD or (answer.status == NO_SUCH_RANGE and "Range" in headers):
                    self._authorization.worked()
                    yield answer
                    return
                failures += 1
                await self._overcome(answer, used, failures)
            finally:
                answer.release()

    async def _overcome(self, answer: aiohttp.ClientResponse, used: str, failures: int) -> None:
        """Return when it is worth asking again."""
        if answer.status == 401:
            asked = challenges(answer.headers.getall("WWW-Authenticate", []))
            if failures <= TRIES and await self._authorization.answer(asked, used, self._connection):
                return
        why = await complaint(answer)
        if answer.status == 429 or answer.status >= 500:
            await self._pause(failures, Busy(why, answer.headers.get("Retry-After", "")))
            return
        raise self._refusal(answer.status, why)

    async def _pause(self, failures: int, busy: Busy) -> None:
        if failures >= busy.tries:
            raise NotPulled(f"{self._what}: {busy}") from busy
        await self._around.rest(max(min(busy.advice, LONGEST_ADVICE), delay(failures, self._around.luck())))

    def _refusal(self, status: int, why: str) -> NotPulled | Refused:
        if status == 404:
            return NotPulled(f"{self._what}: {self.name}: not found")
        if status in (401, 403):
            return Refused(
                f"{self._what}: pull access denied, repository does not exist or may require authorization",
                next_step="give the pod an imagePullSecret for this registry; `pdc image pull` has --login",
            )
        return NotPulled(f"{self._what}: unexpected status {status}: {why}")

    @property
    def _what(self) -> str:
        return f'failed to resolve reference "{self.name}"'


async def complaint(answer: aiohttp.ClientResponse) -> str:
    """What a registry says about its refusal, cut to a sentence."""
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, Damaged, *BROKEN):
        errors = json.loads(await limited(answer, 1 << 16, "the answer"))["errors"]
        return "; ".join(f"{e.get('code')}: {e.get('message')}" for e in errors)[:300]
    return f"{answer.status} {answer.reason or ''}".strip()


def write(file: io.FileIO, piece: bytes) -> None:
    """All of *piece*: an unbuffered write may take only a part of it."""
    view = memoryview(piece)
    while view:
        view = view[file.write(view) :]


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0

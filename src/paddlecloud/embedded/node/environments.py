"""The environments of suites: made once from a lock, shared by content, never changed afterwards.

An environment is its digest: the interpreter and the text of the lock. It is made in place, because a
virtual environment knows its own path, and counts only once the file `complete` is in it; anything else
under that name is the rest of a crash and is made anew. A lock on a file beside it lets one process work
while the others wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import uv

from .obstacles import EnvironmentBroken
from .suites import Suite

Progress = Callable[[str], None]
COMPLETE = "complete"
SHOWN_LINES = 12


@dataclass(frozen=True)
class Environment:
    bin: Path
    """First on the PATH of the container."""
    variables: dict[str, str] = field(default_factory=dict)


class Environments:
    """Hands out environments; pods that need the same one wait for the same work."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._works: dict[str, asyncio.Task[None]] = {}

    def present(self, suite: Suite) -> bool:
        """Whether `ensure` would answer at once."""
        return suite.says.python == "self" or (self._root / digest(suite.lock()) / COMPLETE).exists()

    async def ensure(self, suite: Suite, progress: Progress) -> Environment:
        """The environment of *suite*, made first if need be; raises `EnvironmentBroken` with uv's words."""
        variables = self._package() if suite.says.paddlecloud else {}
        if suite.says.python == "self":
            return Environment(Path(sys.executable).parent, variables)
        lock = suite.lock()
        folder = self._root / digest(lock)
        if not (folder / COMPLETE).exists():
            progress(f"making the environment of suite {suite.name}")
            await self._share(folder, lock, progress)
        return Environment(folder / "bin", {"VIRTUAL_ENV": str(folder), **variables})

    async def close(self) -> None:
        """Stop what is being made; the next start makes it anew."""
        for work in self._works.values():
            work.cancel()
        await asyncio.gather(*self._works.values(), return_exceptions=True)

    async def _share(self, folder: Path, lock: str, progress: Progress) -> None:
        work = self._works.get(folder.name)
        if work is None:
            work = asyncio.create_task(make(folder, lock, progress), name=folder.name)
            self._works[folder.name] = work
            work.add_done_callback(self._done)
        # A pod that is deleted meanwhile must not take the work of the others with it.
        await asyncio.shield(work)

    def _done(self, work: asyncio.Task[None]) -> None:
        self._works.pop(work.get_name(), None)
        # Those who wait hear of a failure; if all have gone, nobody needs to.
        if not work.cancelled():
            work.exception()

    def _package(self) -> dict[str, str]:
        """Makes `paddlecloud`, and only it, importable."""
        package = Path(__file__).resolve().parents[2]
        folder = self._root / f"package-{hashlib.sha256(str(package).encode()).hexdigest()[:12]}"
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            (folder / "paddlecloud").symlink_to(package)
        return {"PYTHONPATH": str(folder)}


def digest(lock: str) -> str:
    interpreter = (platform.python_implementation(), platform.python_version(), sys.base_prefix)
    return hashlib.sha256("\n".join((*interpreter, platform.machine(), lock)).encode()).hexdigest()[:24]


async def make(folder: Path, lock: str, progress: Progress) -> None:
    """Make the environment of *lock* in *folder*, unless another process did while we waited for it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    async with only_one(folder.with_name(folder.name + ".lock"), progress):
        if (folder / COMPLETE).exists():
            return
        if folder.exists():
            shutil.rmtree(folder)
        try:
            await install(folder, lock, progress)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


async def install(folder: Path, lock: str, progress: Progress) -> None:
    # The base interpreter, not the environment we run in: that one may be gone tomorrow.
    await run_uv(["venv", "--quiet", "--python", os.path.realpath(sys.executable), str(folder)], progress)
    requirements = folder / "requirements.lock"
    requirements.write_text(lock, encoding="utf-8")
    if lock.strip():
        python = str(folder / "bin" / "python")
        # Compiled here, so that no container ever writes into the environment.
        await run_uv(
            ["pip", "sync", "--require-hashes", "--compile-bytecode", "--python", python, str(requirements)],
            progress,
        )
    (folder / COMPLETE).touch()


async def run_uv(arguments: list[str], progress: Progress) -> None:
    process = await asyncio.create_subprocess_exec(
        uv.find_uv_bin(), "--no-progress", "--no-config", *arguments,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        env=installer_variables(os.environ.copy()),
    )  # fmt: skip
    last: deque[str] = deque(maxlen=SHOWN_LINES)
    assert process.stderr is not None
    try:
        async for line in process.stderr:
            last.append(line.decode(errors="replace").rstrip())
            progress(last[-1])
        code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if code:
        raise EnvironmentBroken(
            "the environment could not be made:\n" + "\n".join(f"  {line}" for line in last),
            next_step="check the network and the package index (PIP_INDEX_URL); it is tried again by itself",
        )


def installer_variables(environ: dict[str, str]) -> dict[str, str]:
    """The caller's environment, where what is set up for pip holds for uv as well."""
    for pip, ours in (
        ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"),
        ("PIP_FIND_LINKS", "UV_FIND_LINKS"),
        ("PIP_CERT", "SSL_CERT_FILE"),
    ):
        if pip in environ:
            environ.setdefault(ours, environ[pip])
    # The environment pdc itself runs in is not the one to install into.
    environ.pop("VIRTUAL_ENV", None)
    return environ


@contextlib.asynccontextmanager
async def only_one(path: Path, progress: Progress) -> AsyncIterator[None]:
    """Hold the lock at *path*."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        told = False
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    progress("another process makes this environment; waiting for it")
                    told = True
                # A thread that is blocked on a lock cannot be cancelled; a glance now and then can.
                await asyncio.sleep(0.2)
        yield
    finally:
        os.close(descriptor)

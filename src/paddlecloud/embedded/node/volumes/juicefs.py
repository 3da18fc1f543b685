"""The driver `csi.juicefs.com`: a JuiceFS file system, mounted once a node by the real client.

The volume of a pod is the mount itself, which the node shows to the pod as it does with any folder. A file
system without a Secret is one of this home: SQLite and plain files. A mount outlives the node's process and
is found again; it goes with the last pod that uses it, its cache stays.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from ....api import mountoptions
from ....cache.engine import Cancelled
from ....cache.juicefs import filesystem, options
from ....cache.juicefs.client import PROGRAM, Client
from ....cache.juicefs.filesystem import FileSystem
from ....errors import Failed, PaddleCloudError
from ....settings import Home
from ...mirrorfile import mirrors_in
from ..environments import Environments
from ..obstacles import VolumeMissing
from ..suites import resolve
from .juicefsmirrors import mirrored
from .juicefsmounts import Mount, every, folder_name, mount_of
from .places import failed, make_private
from .plugins import Request

DRIVER = "csi.juicefs.com"
IMAGE = "paddlecloud/data"
"""The suite that brings the client."""
T = TypeVar("T")


class JuicefsPlugin:
    """*program* finds the client, *no_fuse* says why nothing can be mounted here (empty: it can)."""

    def __init__(self, home: Home, program: Callable[[], Awaitable[Path]], no_fuse: str = "") -> None:
        self._home, self._program, self._no_fuse = home, program, no_fuse
        self._locks: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def stage(self, request: Request) -> None:
        if self._no_fuse:
            why = f"JuiceFS needs FUSE, and {self._no_fuse}"
            raise failed(request.handle, why, "set csi.driver: local in the SampleSet, or allow FUSE here")
        mount = mount_of(self._home, request.node, request.handle)
        try:
            program = await self._program()
            async with self._locks[mount.folder]:
                mount.add(request.pod, request.target)
                await in_thread(lambda check: self._ready(Client(program, check), mount, request))
        except VolumeMissing:
            raise
        except PaddleCloudError as error:
            raise failed(request.handle, error.message, error.next_step) from error

    async def publish(self, request: Request) -> Path:
        return mount_of(self._home, request.node, request.handle).at

    async def unpublish(self, pod: str, target: Path) -> None:
        for mount in every(self._home):
            async with self._locks[mount.folder]:
                if mount.uses(pod, target):
                    await in_thread(partial(self._left, mount, pod, target))

    def _ready(self, client: Client, mount: Mount, request: Request) -> None:
        """Have the volume mounted; one that others use stays as it is."""
        wanted = self._arguments(request)
        busy = mount.others(request.pod, request.target)
        if filesystem.alive(mount.at) and (busy or mount.noted()[1] == wanted):
            return
        # Dead, or with other options than are asked for now.
        mount.end(client)
        system = self._system(request)
        filesystem.make(client, system)
        mount.note(client.path, wanted)
        filesystem.mount(client, system, mount.at, mount.log, wanted)

    def _left(self, mount: Mount, pod: str, target: Path, check: Callable[[], None]) -> None:
        """A user has gone, and with the last one the mount."""
        if mount.others(pod, target):
            mount.strike(pod, target)
            return
        program, _ = mount.noted()
        if program is not None:
            mount.end(Client(program, check))
        mount.strike(pod, target)
        mount.remove()

    def _system(self, request: Request) -> FileSystem:
        if request.secrets:
            return filesystem.from_secret(mirrored(request.secrets, mirrors_in(self._home.mirrors)))
        folder = self._home.objects / "juicefs" / folder_name(request.handle)
        make_private(folder)
        return filesystem.in_folder("paddlecloud-volume", folder)

    def _arguments(self, request: Request) -> list[str]:
        """The options of the volume, with its cache on the disk of the node."""
        said = mountoptions.parsed(request.attributes.get("mountOptions", ""))
        disk = self._home.root / "nodes" / request.node / "disk"
        paths = mountoptions.cache_dirs(said) or [f"{options.MEMORY}/{folder_name(request.handle)}"]
        return options.arguments(said, [f"{disk}{path}" for path in paths])


def client_of(environments: Environments, folders: tuple[Path, ...]) -> Callable[[], Awaitable[Path]]:
    """Finds the client in the environment of its suite, which is made first if need be."""

    async def find() -> Path:
        environment = await environments.ensure(resolve(IMAGE, folders), lambda _: None)
        return environment.bin / PROGRAM

    return find


async def in_thread(work: Callable[[Callable[[], None]], T]) -> T:
    """Do *work*, which may take long; the check it is given ends it when nobody waits for it any more."""
    over = threading.Event()

    def check() -> None:
        if over.is_set():
            raise Cancelled("the node ends")

    try:
        return await asyncio.to_thread(work, check)
    except asyncio.CancelledError:
        over.set()
        raise
    except OSError as error:
        raise Failed(f"{error.filename or 'a file'}: {error.strerror or error}") from error

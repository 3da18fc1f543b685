"""`pdc cp`: files into containers and out of them, through `tar` in the container."""

from __future__ import annotations

import asyncio
import os
import posixpath
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import click

from ..api.meta import Key
from ..cluster.kubeconfig import Access
from ..cluster.remotecommands import Ends, RemoteCommand, run
from ..errors import Failed, WrongUse
from ..untarring import extract
from .context import Settings, namespace_option, pass_settings

PIECE = 64 * 1024
NOT_FOUND = (126, 127)


@dataclass(frozen=True)
class Place:
    """A path here, or in a pod."""

    path: str
    pod: Key | None = None


@click.command()
@click.argument("source")
@click.argument("target")
@click.option("-c", "--container", default="", help="Which container of the pod.")
@namespace_option
@pass_settings
def cp(settings: Settings, source: str, target: str, container: str, namespace: str) -> None:
    """Copy files or folders: `pdc cp FILE POD:PATH` or `pdc cp [NAMESPACE/]POD:PATH FILE`."""
    here, there = place_of(source, namespace), place_of(target, namespace)
    if (here.pod is None) == (there.pod is None):
        raise WrongUse("one side is a file here, the other POD:PATH")
    work = copy_in if there.pod else copy_out
    asyncio.run(work(settings.access(), here, there, container))


def place_of(text: str, namespace: str) -> Place:
    pod, colon, path = text.partition(":")
    if not colon or pod.startswith((".", "/")):
        return Place(text)
    if not path:
        raise WrongUse(f"{text!r} has no path after the colon")
    inside, _, name = pod.rpartition("/")
    return Place(path, Key(inside or namespace, name))


async def copy_in(access: Access, here: Place, there: Place, container: str) -> None:
    assert there.pod is not None
    source = Path(here.path)
    if not source.exists():
        raise WrongUse(f"{here.path} doesn't exist in local filesystem")
    probe = RemoteCommand(there.pod, ("test", "-d", there.path), container)
    is_folder = await run(access, probe, Ends(ignore, ignore)) == 0
    folder, name = posixpath.split(there.path.rstrip("/"))
    if is_folder:
        folder, name = there.path, source.resolve().name
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            archive.add(source, name)
        file.seek(0)
        command = RemoteCommand(there.pod, ("tar", "-xmf", "-", "-C", folder or "."), container)
        await in_container(access, command, Ends(ignore, complain, pieces(file)))


async def copy_out(access: Access, there: Place, here: Place, container: str) -> None:
    assert there.pod is not None
    target = Path(here.path)
    with tempfile.TemporaryFile() as file:
        folder, name = posixpath.split(there.path.rstrip("/"))
        command = RemoteCommand(there.pod, ("tar", "cf", "-", "-C", folder or ".", name or "."), container)
        await in_container(access, command, Ends(file.write, complain))
        file.seek(0)
        beside = tempfile.TemporaryDirectory(dir=target.parent)
        with beside as unpacked, tarfile.open(fileobj=file) as archive:
            try:
                # What a container sends may lead anywhere; this lets nothing out of the folder.
                for member in archive:
                    extract(archive, member, Path(unpacked))
            except tarfile.TarError as error:
                raise Failed(f"{there.path} cannot be copied here: {error}") from error
            place(Path(unpacked, name or "."), target / name if target.is_dir() else target)


def place(found: Path, target: Path) -> None:
    if target.is_dir():
        for child in found.iterdir():
            place(child, target / child.name)
    else:
        os.replace(found, target)


async def in_container(access: Access, command: RemoteCommand, ends: Ends) -> None:
    code = await run(access, command, ends)
    if code in NOT_FOUND:
        raise Failed("the container has no `tar`, which copying needs", next_step="use an image that has it")
    if code:
        raise Failed(f"`tar` in the container ended with exit code {code}")


async def pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    while data := file.read(PIECE):
        yield data


def ignore(_: bytes) -> None:
    return


def complain(data: bytes) -> None:
    sys.stderr.buffer.write(data)

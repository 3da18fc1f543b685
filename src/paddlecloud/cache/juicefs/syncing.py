"""`juicefs sync` into a mounted folder: its arguments, how far it is, what it did.

How far it is comes from the numbers that the client serves on a port of this machine while it works.
"""

from __future__ import annotations

import re
import time
import urllib.request
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from urllib.parse import unquote

from ...errors import Failed
from ..engine import Amount, Outcome, Run, SyncWish, Unfit
from . import secrets
from .client import Call, Client, cause, way_out
from .tree import shown

PORT = re.compile(r'metrics listening on "(127\.0\.0\.1:\d+)"')
NUMBER = re.compile(r"^juicefs_sync_(\w+)\{[^}]*\} (\S+)$", re.MULTILINE)
SUMS = re.compile(r"(Found|skipped|copied|deleted|failed|excluded): (\d+)")
ANSWER = 1.0  # seconds
EVERY = 1.0
"""Seconds between two questions how far it is: to answer one the client adds up all of its numbers."""


def sync(client: Client, wish: SyncWish, target: Path, run: Run) -> Outcome:
    """Bring the source of *wish* into *target*; raises `Failed` when a single file was not brought."""
    call = call_of(wish, target)
    asked = 0.0

    def tick(said: str) -> None:
        nonlocal asked
        run.check()
        if time.monotonic() - asked > EVERY:
            asked = time.monotonic()
            tell(said, run)

    said = client.carry_out(call, tick)
    sums = sums_of(said)
    if "Found" not in sums:
        raise Failed(f"juicefs sync did not say what it did: {cause(said)}", next_step=way_out(said))
    if not wish.dry and not sums.get("copied", 0) + sums.get("skipped", 0):
        raise Failed(f"the source {wish.source} has no files", next_step="put the samples there")
    return Outcome(
        copied=sums.get("copied", 0), skipped=sums.get("skipped", 0), deleted=sums.get("deleted", 0)
    )


def call_of(wish: SyncWish, target: Path) -> Call:
    """The call that does what *wish* asks for. Raises `Unfit` for what cannot be done safely."""
    source = wish.source
    if source.startswith("file://"):
        # The client takes what follows as it is written.
        folder = unquote(source.removeprefix("file://").removeprefix("localhost"))
        source = f"file://{folder}"
        if not Path(folder).is_dir():
            why = f"the source folder {folder} does not exist"
            raise Failed(why, next_step="make it, or correct source.uri")
    if "\0" in wish.source or wish.source.startswith("-"):
        raise Unfit("the source is not an address", next_step="correct source.uri")
    switches = {
        "update": wish.update, "force-update": wish.force_update, "perms": wish.perms, "dirs": wish.dirs,
        "dry": wish.dry, "delete-src": wish.delete_src, "delete-dst": wish.delete_dst,
        "no-https": wish.no_https,
    }  # fmt: skip
    values = {
        "start": wish.start, "end": wish.end, "threads": wish.threads, "exclude": wish.exclude,
        "include": wish.include, "bwlimit": wish.bwlimit,
    }  # fmt: skip
    arguments = [
        "sync", "--metrics=127.0.0.1:0",
        *(f"--{name}" for name, asked in switches.items() if asked),
        # Before what the user says: the first that matches counts, and these can be neither made nor deleted.
        *(f"--exclude=/{name}" for name in shown(target)),
        *(f"--{name}={value}" for name, value in values.items() if value),
        # Without the slash at the end the client would bring whatever begins with that name.
        source.rstrip("/") + "/", str(target) + "/",
    ]  # fmt: skip
    return Call(tuple(arguments), secrets.source(wish.source, wish.keys))


def tell(said: str, run: Run) -> None:
    """Pass on how far the client is."""
    if (match := PORT.search(said)) is None:
        return
    # A look that gets no answer is no reason to end the work.
    with suppress(OSError, ValueError, HTTPException):
        # The proxies of the environment are for the world outside.
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(f"http://{match[1]}/metrics", timeout=ANSWER) as answer:
            run.report(amount_of(answer.read().decode()))


def amount_of(text: str) -> Amount:
    """How far a sync is by its numbers; what it has found so far is all that is known of the whole."""
    numbers = {name: int(float(value)) for name, value in NUMBER.findall(text)}
    files = numbers.get("copied", 0) + numbers.get("skipped", 0)
    size = numbers.get("copied_bytes", 0) + numbers.get("skipped_bytes", 0)
    return Amount(files, size, max(files, numbers.get("scanned", 0)), 0)


def sums_of(said: str) -> dict[str, int]:
    lines = [line for line in said.splitlines() if "Found: " in line]
    return {name: int(number) for name, number in SUMS.findall(lines[-1])} if lines else {}

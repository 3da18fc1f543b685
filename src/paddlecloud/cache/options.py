"""The options of an operation, from the JSON that a controller sends to what an engine is asked for.

Names are those of the CRD. Fields that only steer the JuiceFS client's own processes are taken and not used;
whatever else cannot be understood is `WrongUse`, before anything is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..errors import Failed, WrongUse
from .engine import Keys, MeasureWish, SyncWish
from .shares import Strategy

KINDS = ("sync", "warmup", "rmr", "clear", "forecast")
LEAVE = "leave"
"""Of a clear: the partition is to go, and keeps nothing."""
UNUSED = {"http-port": int, "manager": str, "worker": str}
Lookup = Callable[[str], Keys | None]
MOST = 1_000_000


@dataclass(frozen=True)
class WarmWish:
    paths: tuple[str, ...] = ()
    """Files and folders; none: everything."""
    file: str = ""
    """A file in the set that names the files, one a line, in the order the data set uses."""
    file_list: tuple[str, ...] = ()
    """The same, here."""
    strategy: Strategy | None = None
    """None: the whole, and no share."""
    threads: int = 50
    batch_size: int = 1
    epoch: int = 0
    partitions: int = 1
    """Among how many the files are shared out."""
    bwlimit: int = 0
    """Megabits a second; 0 is no limit."""
    share_only: bool = False
    """Not the rest after the share: there is another epoch to come."""


def checked(kind: str, options: object) -> dict[str, Any]:
    """The options as they came. Raises `WrongUse` where they cannot be those of *kind*."""
    said = {} if options is None else options
    if not isinstance(said, dict):
        raise WrongUse("the options are no JSON object")
    if kind == "sync":
        sync_wish(said, lambda _: None)
    elif kind == "warmup":
        warm_wish(said)
    elif kind == "forecast":
        measure_wish(said, lambda _: None)
    else:
        paths_of(said)
        typed(f"{kind}Options.{LEAVE}", said.get(LEAVE, False), bool)
        if kind == "rmr" and not said.get("paths"):
            raise WrongUse("rmrOptions.paths is missing", next_step="name what is to be removed")
    return said


def sync_wish(options: Mapping[str, Any], keys: Lookup) -> SyncWish:
    """Raises `WrongUse` for options of a wrong kind, `Failed` when the Secret is not mounted yet."""
    known = {f.name.replace("_", "-"): f for f in fields(SyncWish) if f.name not in ("keys", "keys_name")}
    taken: dict[str, Any] = {}
    for name, value in options.items():
        if name == "keys":
            continue
        kind = (
            {"str": str, "int": int, "bool": bool}[str(known[name].type)]
            if name in known
            else UNUSED.get(name)
        )
        if kind is None:
            raise WrongUse(f"syncOptions has no field {name}")
        typed(f"syncOptions.{name}", value, kind)
        if name in known:
            taken[known[name].name] = value
    if not taken.get("source"):
        raise WrongUse("syncOptions.source is missing", next_step="say where the samples come from")
    for name in ("threads", "bwlimit"):
        if not 0 <= taken.get(name, 0) <= MOST:
            raise WrongUse(f"syncOptions.{name} must be between 0 and {MOST}")
    # Zero is how a manifest leaves it out.
    taken["threads"] = taken.get("threads") or 10
    secret = typed("syncOptions.keys", options.get("keys") or "", str)
    return SyncWish(**taken, keys=keys(secret) if secret else None, keys_name=secret)


def warm_wish(options: Mapping[str, Any]) -> WarmWish:
    # Older controllers nest it, which is how the choice of users once got lost.
    nested = options.get("Strategy") or {}
    strategy = options.get("strategyName") or (
        nested.get("strategyName") if isinstance(nested, dict) else None
    )
    if strategy not in (None, "random", "sequence"):
        raise WrongUse("warmupOptions.strategyName must be random or sequence")
    numbers = {}
    for name, least, default in (
        ("threads", 1, 50),
        ("batchSize", 1, 1),
        ("epoch", 0, 0),
        ("partitions", 1, 1),
        ("bwlimit", 0, 0),
    ):
        numbers[name] = typed(f"warmupOptions.{name}", options.get(name) or default, int)
        if not least <= numbers[name] < 2**32:
            raise WrongUse(f"warmupOptions.{name} must be at least {least}")
    listed = options.get("fileList") or ()
    if isinstance(listed, str):
        return warm_wish({**options, "fileList": (), "file": listed})
    return WarmWish(
        paths_of(options),
        typed("warmupOptions.file", options.get("file") or "", str),
        texts("fileList", listed),
        strategy,
        numbers["threads"],
        numbers["batchSize"],
        numbers["epoch"],
        numbers["partitions"],
        numbers["bwlimit"],
        typed("warmupOptions.shareOnly", options.get("shareOnly") or False, bool),
    )


def measure_wish(options: Mapping[str, Any], keys: Lookup) -> MeasureWish:
    """What to measure. Raises `WrongUse` for what cannot be, `Failed` when the Secret is not mounted yet."""
    numbers = {}
    for name, default, most in (("readers", 2, 64), ("threads", 10, 64), ("seconds", 6, 60)):
        numbers[name] = typed(f"forecastOptions.{name}", options.get(name) or default, int)
        if not 1 <= numbers[name] <= most:
            raise WrongUse(f"forecastOptions.{name} must be between 1 and {most}")
    secret = typed("forecastOptions.keys", options.get("keys") or "", str)
    return MeasureWish(
        typed("forecastOptions.source", options.get("source") or "", str),
        keys(secret) if secret else None,
        readers=numbers["readers"],
        threads=numbers["threads"],
        seconds=float(numbers["seconds"]),
    )


def paths_of(options: Mapping[str, Any]) -> tuple[str, ...]:
    return texts("paths", options.get("paths") or ())


def texts(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise WrongUse(f"{name} is no list of texts")
    return tuple(value)


def typed(name: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise WrongUse(
            f"{name} must be {'a text' if kind is str else 'true or false' if kind is bool else 'a number'}"
        )
    return value


def missing_keys(name: str) -> Failed:
    return Failed(f"the Secret {name} is not there", next_step="create it with access-key and secret-key")

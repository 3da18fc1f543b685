"""The manifest of a model version: which files it has, what it takes and gives, how it was converted.

Pure. A manifest names only paths that stay inside the folder they are written to; one that does not is
refused when it is built and again when it is read, since it may come from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

import orjson
from pydantic import Field, ValidationError

from ..api.meta import Value
from ..api.model import Conversion, Signature, StoredFile
from ..errors import Failed, WrongUse

NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
SHA256 = re.compile(r"[0-9a-f]{64}")
CONVERTED = "model.onnx"
CONVERSION_REPORT = "conversion.json"


class Manifest(Value):
    """One version of a model, as the store keeps it; equal files give equal bytes."""

    model: str
    version: str
    files: list[StoredFile]
    signature: Signature | None = None
    conversions: list[Conversion] = Field([])
    metrics: dict[str, float] = Field({})

    @property
    def size(self) -> int:
        return sum(f.size for f in self.files)

    def encoded(self) -> bytes:
        return orjson.dumps(self.wire(), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def build(
    model: str,
    version: str,
    files: Iterable[StoredFile],
    *,
    report: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Any] | None = None,
    signature: Signature | None = None,
) -> Manifest:
    """The manifest of these files; *report* is what the conversion said, *metrics* what the training said,
    *signature* what the files themselves say where the conversion does not.

    Raises `WrongUse` for names and paths that cannot be kept.
    """
    said: dict[str, Any] = {
        "model": named(model),
        "version": named(version),
        "files": sorted((f.wire() for f in files), key=lambda f: f["path"]),
    }
    if report:
        said["conversions"] = [{k: v for k, v in report.items() if k != "signature" and v is not None}]
        if report.get("signature"):
            said["signature"] = report["signature"]
    if signature and "signature" not in said:
        said["signature"] = signature.wire()
    numbers = {k: float(v) for k, v in (metrics or {}).items() if type(v) in (int, float)}
    if numbers:
        said["metrics"] = numbers
    return checked(said, WrongUse)


def parse(content: bytes) -> Manifest:
    """The manifest of these bytes. Raises `Failed` when they are none or name a path outside."""
    try:
        return checked(orjson.loads(content), Failed)
    except orjson.JSONDecodeError as error:
        raise Failed(f"the manifest is no JSON: {error}", next_step="upload the version again") from error


def parse_push(content: bytes) -> list[StoredFile]:
    """The files of a push. Raises `Failed`, as `parse` does."""
    try:
        said = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Failed(f"the list of pushed files is no JSON: {error}", next_step="push again") from error
    files = said.get("files") if isinstance(said, dict) else None
    return checked({"model": "pushed", "version": "pushed", "files": files}, Failed).files


def checked(said: Any, wrong: type[WrongUse | Failed]) -> Manifest:
    try:
        manifest = Manifest.model_validate(said)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the top"
        raise wrong(f"the manifest is wrong at {where}: {first['msg']}") from error
    seen: set[str] = set()
    for file in manifest.files:
        inside(file.path, wrong)
        if not SHA256.fullmatch(file.sha256):
            raise wrong(f"the digest of {file.path!r} is {file.sha256!r}, not 64 hexadecimal digits")
        if file.path in seen:
            raise wrong(f"two files would have the path {file.path!r}")
        seen.add(file.path)
    if not seen:
        raise wrong("a model version needs at least one file, and none was found")
    return manifest


def inside(path: str, wrong: type[WrongUse | Failed] = WrongUse) -> PurePosixPath:
    """*path* as a path below a folder; anything that could lead out of the folder is refused."""
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or str(pure) != path or path == ".":
        raise wrong(f"the path {path!r} does not name a file inside the model's folder")
    if "\0" in path or "\\" in path:
        raise wrong(f"the path {path!r} has a character that not every system can keep")
    return pure


def named(name: str) -> str:
    """*name* when it can be a folder or file of the store."""
    if not NAME.fullmatch(name):
        raise WrongUse(
            f"{name!r} cannot name a model or a version",
            next_step="use letters, digits and, between them, dots, dashes and underscores",
        )
    return name

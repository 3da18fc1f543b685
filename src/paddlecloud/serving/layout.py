"""Paddle Serving's layout of a model: its files beside a description, and the description alone for clients.

    <server>/  program, parameters, serving_server_conf.prototxt, serving_server_conf.stream.prototxt
    <client>/  serving_client_conf.prototxt, serving_client_conf.stream.prototxt

The description is written last: a folder that has one is whole. Names that clients use (`alias_name`) may
differ from those in the program.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import text_format

from ..errors import Failed
from .engine import Engine
from .modelfiles import Files
from .protocols.messages import messages
from .signature import Arrays, Signature, Tensor

VARIABLE = "name 1 string, alias_name 2 string, is_lod_tensor 3 bool"
CONFIG = messages(
    "baidu.paddle_serving.configure",
    {
        "FeedVar": f"{VARIABLE}, feed_type 4 int32, shape 5 int32*",
        "FetchVar": f"{VARIABLE}, fetch_type 4 int32, shape 5 int32*",
        "GeneralModelConfig": "feed_var 1 .FeedVar*, fetch_var 2 .FetchVar*",
    },
    syntax="proto2",
)["GeneralModelConfig"]
TYPES = {
    "int64": 0,
    "float32": 1,
    "int32": 2,
    "float64": 3,
    "int16": 4,
    "float16": 5,
    "bool": 7,
    "uint8": 8,
    "int8": 9,
}
SERVER_CONF, CLIENT_CONF = "serving_server_conf", "serving_client_conf"


@dataclass(frozen=True)
class Target:
    server: Path
    client: Path


def write(files: Files, signature: Signature, target: Target) -> None:
    """Write both folders. Raises `Failed`."""
    described = description(signature)
    try:
        for folder in (target.server, target.client):
            folder.mkdir(parents=True, exist_ok=True)
        for file in filter(None, (files.program, files.parameters)):
            placed(target.server / file.name, file)
        for folder, name in ((target.server, SERVER_CONF), (target.client, CLIENT_CONF)):
            (folder / f"{name}.stream.prototxt").write_bytes(described.SerializeToString())
            (folder / f"{name}.prototxt").write_text(text_format.MessageToString(described), encoding="utf-8")
    except OSError as error:
        raise Failed(f"cannot write {error.filename}: {error.strerror}") from error


def placed(target: Path, source: Path) -> None:
    if target.resolve() == source.resolve():
        return
    part = target.with_name(f".{target.name}.part")
    shutil.copyfile(source, part)
    os.replace(part, target)


def description(signature: Signature) -> Any:
    """Sizes that are open are left out, as in the originals: a shape is that of one sample."""

    def variable(tensor: Tensor, kind: str) -> dict[str, Any]:
        sizes = [size for size in tensor.shape if size >= 0]
        names = {"name": tensor.name, "alias_name": tensor.name}
        return {**names, "is_lod_tensor": False, kind: TYPES.get(tensor.dtype, 1), "shape": sizes}

    return CONFIG(
        feed_var=[variable(t, "feed_type") for t in signature.inputs],
        fetch_var=[variable(t, "fetch_type") for t in signature.outputs],
    )


class Aliased:
    """An engine under the names its clients use."""

    def __init__(self, engine: Engine, names: dict[str, str]) -> None:
        self.engine = engine
        self.platform = engine.platform
        self.names = names
        """The program's names by those of the clients."""
        clients = {name: alias for alias, name in names.items()}
        takes, gives = engine.signature.inputs, engine.signature.outputs
        self.signature = Signature(
            tuple(Tensor(clients.get(t.name, t.name), t.dtype, t.shape) for t in takes),
            tuple(Tensor(clients.get(t.name, t.name), t.dtype, t.shape) for t in gives),
        )

    def run(self, names: list[str], arrays: Arrays) -> list[Any]:
        own = self.names
        return self.engine.run(
            [own.get(name, name) for name in names], {own.get(k, k): array for k, array in arrays.items()}
        )


def aliased(engine: Engine, folder: Path) -> Engine:
    """*engine* under the names that the description in *folder* gives, if there is one. Raises `Failed`."""
    file = folder / f"{SERVER_CONF}.prototxt"
    if not file.is_file():
        return engine
    try:
        read = text_format.Parse(file.read_text(encoding="utf-8"), CONFIG(), allow_unknown_field=True)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise Failed(f"{file} cannot be read: {error}") from error
    names = {v.alias_name: v.name for v in (*read.feed_var, *read.fetch_var) if v.alias_name}
    return Aliased(engine, names) if any(a != n for a, n in names.items()) else engine

"""What a folder of files is as a model: its format and its signature, read from the files alone.

serving      Paddle Serving's layout: serving_server/ (or server/) with its description
paddle       an inference program (Paddle 3 .json, Paddle 2 .pdmodel) beside its .pdiparams
onnx         a .onnx file
checkpoint   weights of a training (.pdparams), which need their network to become more
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from google.protobuf.message import DecodeError

from ..api.model import Signature, TensorSpec
from ..errors import Failed, WrongUse
from ..serving import signature as read
from ..serving.layout import SERVER_CONF
from ..serving.modelfiles import paddle_files
from ..serving.programs import signature_of
from ..serving.protocols.messages import messages

PADDLE, ONNX, SERVING, CHECKPOINT, UNKNOWN = "paddle", "onnx", "serving", "checkpoint", ""
SERVERS = ("serving_server", "server", ".")
MODEL = messages(
    "onnx",
    {
        "Dimension": "dim_value 1 int64",
        "Shape": "dim 1 .Dimension*",
        "TensorType": "elem_type 1 int32, shape 2 .Shape",
        "Type": "tensor_type 1 .TensorType",
        "ValueInfo": "name 1 string, type 2 .Type",
        "Initializer": "name 8 string",
        "Graph": "initializer 5 .Initializer*, input 11 .ValueInfo*, output 12 .ValueInfo*",
        "Model": "graph 7 .Graph",
    },
    syntax="proto2",
)["Model"]
NUMBERED = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string",
    9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16",
}  # fmt: skip


class Described(NamedTuple):
    format: str
    """Empty when the folder holds no model."""
    signature: Signature | None = None


def described(folder: Path) -> Described:
    """What is in *folder*. Raises `Failed` for a file that has a model's name and is none."""
    for name in SERVERS:
        inside = folder / name
        if (inside / f"{SERVER_CONF}.prototxt").is_file():
            files = paddle_files(inside)
            return Described(SERVING, stated(signature_of(files.program)) if files else None)
    if files := paddle_files(folder):
        return Described(PADDLE, stated(signature_of(files.program)))
    if found := sorted(folder.glob("*.onnx")):
        return Described(ONNX, onnx_signature(found[0]))
    if any(folder.rglob("*.pdparams")):
        return Described(CHECKPOINT)
    return Described(UNKNOWN)


def model_in(folder: Path) -> Described:
    """The same. Raises `WrongUse` when there is no folder, nothing in it, or no model."""
    if not folder.is_dir():
        raise WrongUse(f"there is no folder {folder}", next_step="give the folder the model was exported to")
    held = sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))
    if not held:
        raise WrongUse(f"{folder} is empty", next_step="export the model there first")
    found = described(folder)
    if not found.format:
        shown = ", ".join(held[:5]) + (", …" if len(held) > 5 else "")
        raise WrongUse(
            f"{folder} holds no model: {shown}",
            next_step="give a folder with a program (.json or .pdmodel) and its .pdiparams, a .onnx file, "
            "Paddle Serving's serving_server/, or weights (.pdparams)",
        )
    return found


def stated(signature: read.Signature) -> Signature:
    def tensors(side: tuple[read.Tensor, ...]) -> list[TensorSpec]:
        return [TensorSpec(name=t.name, dtype=t.dtype, shape=list(t.shape)) for t in side]

    return Signature(inputs=tensors(signature.inputs), outputs=tensors(signature.outputs))


def onnx_signature(file: Path) -> Signature:
    """Weights are inputs too in older files; they are left out."""
    try:
        graph = MODEL.FromString(file.read_bytes()).graph
    except OSError as error:
        raise Failed(f"cannot read {file}: {error.strerror}") from error
    except DecodeError as error:
        raise Failed(f"{file} is no ONNX model") from error
    weights = {w.name for w in graph.initializer}

    def tensors(side: list[object]) -> list[TensorSpec]:
        return [tensor(value) for value in side if getattr(value, "name", "") not in weights]

    def tensor(value: object) -> TensorSpec:
        kind = value.type.tensor_type  # type: ignore[attr-defined]
        shape = [d.dim_value if d.HasField("dim_value") else -1 for d in kind.shape.dim]
        return TensorSpec(name=value.name, dtype=NUMBERED.get(kind.elem_type, ""), shape=shape)  # type: ignore[attr-defined]

    signature = Signature(inputs=tensors(graph.input), outputs=tensors(graph.output))
    if not signature.inputs or not signature.outputs:
        raise Failed(f"{file} is no ONNX model: it names no inputs or no outputs")
    return signature

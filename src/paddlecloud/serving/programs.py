"""The signature of a Paddle inference program, read from its file alone: Paddle 2's and Paddle 3's form.

Neither needs Paddle, which takes seconds to import. A file that is neither is refused by name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from google.protobuf.message import DecodeError

from ..errors import Failed
from .protocols.messages import messages
from .signature import Signature, Tensor

PROGRAM = messages(
    "framework",
    {
        "TensorDesc": "data_type 1 int32, dims 2 int64*",
        "LoDTensorDesc": "tensor 1 .TensorDesc",
        "VarType": "type 1 int32, lod_tensor 3 .LoDTensorDesc",
        "VarDesc": "name 1 string, type 2 .VarType",
        "Var": "parameter 1 string, arguments 2 string*",
        "Attr": "name 1 string, i 3 int32",
        "OpDesc": "inputs 1 .Var*, outputs 2 .Var*, type 3 string, attrs 4 .Attr*",
        "BlockDesc": "vars 3 .VarDesc*, ops 4 .OpDesc*",
        "ProgramDesc": "blocks 1 .BlockDesc*",
    },
    syntax="proto2",
)["ProgramDesc"]
NUMBERED = {
    0: "bool", 1: "int16", 2: "int32", 3: "int64", 4: "float16", 5: "float32", 6: "float64",
    20: "uint8", 21: "int8",
}  # fmt: skip
LETTERED = {
    "t_f16": "float16", "t_f32": "float32", "t_f64": "float64", "t_i8": "int8", "t_ui8": "uint8",
    "t_i16": "int16", "t_i32": "int32", "t_i64": "int64", "t_bool": "bool",
}  # fmt: skip


def signature_of(program: Path) -> Signature:
    """What the program takes and gives. Raises `Failed`."""
    try:
        content = program.read_bytes()
        signature = of_json(orjson.loads(content)) if content[:1] == b"{" else of_protobuf(content)
    except OSError as error:
        raise Failed(f"cannot read {program}: {error.strerror}") from error
    except (DecodeError, orjson.JSONDecodeError, LookupError, TypeError, ValueError) as error:
        raise Failed(f"{program} does not load: it is no Paddle inference program ({error})") from error
    if not signature.inputs or not signature.outputs:
        raise Failed(f"{program} does not load: it names no inputs or no outputs")
    return signature


def of_protobuf(content: bytes) -> Signature:
    """Paddle 2: feed and fetch operators name the variables, each with the number of its column."""
    block = PROGRAM.FromString(content).blocks[0]
    kinds = {v.name: v.type.lod_tensor.tensor for v in block.vars}

    def tensors(kind: str, side: str) -> tuple[Tensor, ...]:
        found = sorted(
            (next((a.i for a in op.attrs if a.name == "col"), 0), getattr(op, side)[0].arguments[0])
            for op in block.ops
            if op.type == kind
        )
        return tuple(
            Tensor(name, NUMBERED[kinds[name].data_type], tuple(kinds[name].dims)) for _, name in found
        )

    return Signature(tensors("feed", "outputs"), tensors("fetch", "inputs"))


def of_json(program: Any) -> Signature:
    """Paddle 3: operators `data` and `fetch`, with the types of what they give."""
    operators = program["program"]["regions"][0]["blocks"][0]["ops"]
    inputs = [described(op) for op in operators if op["#"].endswith(".data")]
    outputs = [described(op) for op in operators if op["#"].endswith(".fetch")]
    return Signature(tuple(inputs), tuple(outputs))


def described(operator: Any) -> Tensor:
    name = next(a["AT"]["D"] for a in operator["A"] if a["N"] == "name")
    kind, shape = operator["O"][0]["TT"]["D"][:2]
    return Tensor(name, LETTERED[kind["#"].rpartition(".")[2]], tuple(int(size) for size in shape))

"""Convert a Paddle inference model to ONNX and say whether it still computes the same.

Writes `model.onnx` and `conversion.json` to the output folder, the report last: what it says is about the
file beside it. A model whose answers differ is written all the same, with `exact` false; who serves it
decides. One that ONNX cannot express is told in the report and is no failure: it is served by Paddle.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

os.environ.setdefault("OMP_NUM_THREADS", "1")

TOLERANCE = 1e-4
BATCHES = (1, 3)
OPSET = 17
DTYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(int8)": "int8",
    "tensor(uint8)": "uint8",
    "tensor(bool)": "bool",
}


class Failure(Exception):
    """The conversion did not happen; the text says why."""


class Inexpressible(Failure):
    """The model is one, but ONNX has no words for it."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Convert a Paddle inference model to ONNX.")
    parser.add_argument("--model", type=Path, required=True, help="folder with the inference model")
    parser.add_argument("--output", type=Path, required=True, help="folder for the ONNX model and the report")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    # A report of an earlier attempt must not be read as one on what comes now.
    (options.output / "conversion.json").unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os._exit(reported(options.output, lambda: convert(options.model, options.output / "model.onnx")))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    # paddle2onnx aborts over operators it has no words for; the first process of a container would live on.
    return code if code >= 0 else reported(options.output, lambda: aborted(options.model, -code))


def reported(output: Path, conversion: Callable[[], dict[str, Any]]) -> int:
    """Carry out *conversion* and write its report; the exit code."""
    failed = False
    try:
        report = conversion()
        print(f"converted to {output / 'model.onnx'}: {report['message']}", flush=True)
    except Failure as failure:
        report = {"format": "onnx", "exact": False, "message": str(failure)}
        failed = not isinstance(failure, Inexpressible)
        print(f"conversion failed: {failure}", file=sys.stderr, flush=True)
    write(output / "conversion.json", json.dumps(report, indent=2).encode() + b"\n")
    return 1 if failed else 0


def aborted(source: Path, number: int) -> NoReturn:
    program, parameters = files(source)
    why = f"paddle2onnx ended with signal {number}; its log names the operator"
    raise refusal(program, parameters, why)


def convert(source: Path, target: Path) -> dict[str, Any]:
    """Write *target* and return the report on it."""
    program, parameters = files(source)
    target.unlink(missing_ok=True)
    try:
        import paddle2onnx

        # The default optimiser wants to install a package while it runs; ONNX Runtime folds constants itself.
        model = paddle2onnx.export(str(program), str(parameters), None, OPSET, optimize_tool="None")
    except (Exception, SystemExit) as error:  # it ends the process when a file is no model
        raise refusal(program, parameters, f"paddle2onnx refuses it ({error})") from error
    if not model:
        raise refusal(program, parameters, "paddle2onnx gave nothing for it; its log names the operator")
    try:
        session = open_session(model)
        signature = {"inputs": tensors(session.get_inputs()), "outputs": tensors(session.get_outputs())}
        difference = largest_difference(program, parameters, session, signature["inputs"])
    except Exception as error:
        raise Failure(f"the converted model does not run: {error}") from error
    write(target, model)
    exact = difference <= TOLERANCE
    verdict = "within" if exact else "above"
    return {
        "format": "onnx",
        "exact": exact,
        "maxDifference": difference,
        "tolerance": TOLERANCE,
        "message": f"outputs differ by at most {difference:.2g}, {verdict} the tolerance of {TOLERANCE:g}",
        "signature": signature,
    }


def refusal(program: Path, parameters: Path, why: str) -> Failure:
    """What Paddle itself can load is a model all the same."""
    try:
        paddle_engine(program, parameters)
    except Exception as error:
        return Failure(
            f"Paddle cannot load {program.name} either ({str(error).splitlines()[0][:200]}); {why}"
        )
    return Inexpressible(f"{program.name} cannot be said in ONNX: {why}")


def files(source: Path) -> tuple[Path, Path]:
    """A program and the parameters of its name: Paddle 3 writes .json, Paddle 2 .pdmodel."""
    for pattern in ("*.json", "*.pdmodel"):
        for program in sorted(source.glob(pattern)):
            if (parameters := program.with_suffix(".pdiparams")).is_file():
                return program, parameters
    raise Failure(f"{source} holds no program (.json or .pdmodel) with its .pdiparams")


def open_session(model: bytes) -> Any:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])


def tensors(nodes: list[Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": node.name,
            "dtype": DTYPES.get(node.type, node.type),
            "shape": [size if isinstance(size, int) and size > 0 else -1 for size in node.shape],
        }
        for node in nodes
    ]


def largest_difference(program: Path, parameters: Path, session: Any, inputs: list[dict[str, Any]]) -> float:
    """The largest distance between both engines' answers, relative where the answers are above one."""
    import numpy as np

    predict = paddle_engine(program, parameters)
    rng = np.random.default_rng(0)
    largest = 0.0
    for batch in BATCHES:
        for scale in (1.0, 255.0):
            feed = {i["name"]: sample(rng, i, batch, scale) for i in inputs}
            expected = predict(feed)
            for ours, theirs in zip(session.run(None, feed), expected, strict=True):
                if ours.shape != theirs.shape:
                    raise Failure(f"an output has the shape {ours.shape} instead of {theirs.shape}")
                a, b = ours.astype("float64"), theirs.astype("float64")
                distance = np.abs(a - b) / np.maximum(1.0, np.abs(b))
                # NaN in one engine must not count as agreement.
                largest = max(largest, float(np.nan_to_num(distance, nan=np.inf).max(initial=0.0)))
    return largest


def sample(rng: Any, tensor: dict[str, Any], batch: int, scale: float) -> Any:
    shape = [batch if size == -1 else size for size in tensor["shape"]]
    if tensor["dtype"].startswith("float"):
        return (rng.random(shape) * scale).astype(tensor["dtype"])
    return rng.integers(0, 2, shape).astype(tensor["dtype"])


def paddle_engine(program: Path, parameters: Path) -> Any:
    from paddle import inference

    config = inference.Config(str(program), str(parameters))
    config.disable_gpu()
    config.disable_glog_info()
    config.disable_mkldnn()
    config.set_cpu_math_library_num_threads(1)
    predictor = inference.create_predictor(config)

    def predict(feed: dict[str, Any]) -> list[Any]:
        for name in predictor.get_input_names():
            predictor.get_input_handle(name).copy_from_cpu(feed[name])
        predictor.run()
        return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]

    return predict


def write(target: Path, content: bytes) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}")
    part.write_bytes(content)
    os.replace(part, target)


if __name__ == "__main__":
    # Paddle keeps the code it traces below the home; a container's user may have none.
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("HOME", home)
        sys.exit(main())

"""Make an inference model of a training's weights, and say whether it still computes the same.

The folder has the weights (`*.pdparams`) and `network.py`, which says what they belong to: a function
`network()` that gives the `paddle.nn.Layer`, and `INPUTS`, a list of (name, dtype, shape) with -1 where any
size goes. Writes `model.json`, `model.pdiparams` and `conversion.json`, the report last.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from convert import BATCHES, TOLERANCE, Failure, paddle_engine, sample, write


def main() -> int:
    parser = argparse.ArgumentParser(description="Make an inference model of a training's weights.")
    parser.add_argument("--model", type=Path, required=True, help="folder with the weights and network.py")
    parser.add_argument("--output", type=Path, required=True, help="folder for the model and the report")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "conversion.json").unlink(missing_ok=True)
    try:
        report = export(options.model, options.output)
    except Failure as failure:
        print(f"export failed: {failure}", file=sys.stderr)
        return 1
    write(options.output / "conversion.json", json.dumps(report, indent=2).encode() + b"\n")
    print(f"exported to {options.output}: {report['message']}", flush=True)
    return 0


def export(source: Path, target: Path) -> dict[str, Any]:
    """Write the inference model to *target* and return the report on it."""
    layer, inputs = described(source)
    import paddle

    layer.set_state_dict(weights_of(source, layer))
    layer.eval()
    specs = [
        paddle.static.InputSpec([None if size == -1 else size for size in shape], dtype, name)
        for name, dtype, shape in inputs
    ]
    try:
        paddle.jit.save(paddle.jit.to_static(layer, input_spec=specs, full_graph=True), str(target / "model"))
    except Exception as error:
        raise Failure(f"network.py cannot be traced: {error}") from error
    program = next(p for p in (target / "model.json", target / "model.pdmodel") if p.is_file())
    difference = largest_difference(layer, program, target / "model.pdiparams", inputs)
    exact = difference <= TOLERANCE
    verdict = "within" if exact else "above"
    return {
        "format": "paddle",
        "exact": exact,
        "maxDifference": difference,
        "tolerance": TOLERANCE,
        "message": f"outputs differ by at most {difference:.2g}, {verdict} the tolerance of {TOLERANCE:g}",
    }


def described(source: Path) -> tuple[Any, list[tuple[str, str, list[int]]]]:
    """The network and what it takes, as `network.py` says."""
    file = source / "network.py"
    if not file.is_file():
        raise Failure(f"{source} has no network.py that says what the weights belong to")
    spec = importlib.util.spec_from_file_location("network", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        layer = module.network()
        inputs = [(str(name), str(dtype), [int(s) for s in shape]) for name, dtype, shape in module.INPUTS]
    except Exception as error:
        raise Failure(f"network.py does not give a network and INPUTS: {error!r}") from error
    if not inputs:
        raise Failure("INPUTS in network.py is empty")
    return layer, inputs


def weights_of(source: Path, layer: Any) -> dict[str, Any]:
    """The weights, all of them and no others."""
    import paddle

    files = sorted(source.rglob("*.pdparams"))
    if len(files) != 1:
        found = ", ".join(f.name for f in files) or "none"
        raise Failure(f"{source} must have one file of weights (.pdparams); it has {found}")
    state = paddle.load(str(files[0]))
    wanted = set(layer.state_dict())
    if set(state) != wanted:
        missing, extra = sorted(wanted - set(state)), sorted(set(state) - wanted)
        raise Failure(f"{files[0].name} does not fit the network: missing {missing[:3]}, unknown {extra[:3]}")
    return dict(state)


def largest_difference(layer: Any, program: Path, parameters: Path, inputs: list[Any]) -> float:
    """The largest distance between the network and the inference model, as `convert` counts it."""
    import numpy as np
    import paddle

    predict = paddle_engine(program, parameters)
    rng = np.random.default_rng(0)
    largest = 0.0
    for batch in BATCHES:
        tensors = [{"name": n, "dtype": d, "shape": s} for n, d, s in inputs]
        feed = {t["name"]: sample(rng, t, batch, 1.0) for t in tensors}
        given = layer(*(paddle.to_tensor(feed[t["name"]]) for t in tensors))
        outputs = given if isinstance(given, (list, tuple)) else [given]
        for ours, theirs in zip(predict(feed), outputs, strict=True):
            expected = theirs.numpy().astype("float64")
            distance = np.abs(ours.astype("float64") - expected) / np.maximum(1.0, np.abs(expected))
            largest = max(largest, float(np.nan_to_num(distance, nan=np.inf).max(initial=0.0)))
    return largest


if __name__ == "__main__":
    # Paddle keeps the code it traces below the home; a container's user may have none.
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("HOME", home)
        sys.exit(main())

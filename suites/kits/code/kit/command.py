"""The three commands of the model suites: `tools/train.py`, `tools/eval.py`, `tools/export_model.py`.

Which task a configuration describes is seen from its keys. What is trained is a small network of this
project's, whatever the configuration names; the first lines say so.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

# Each worker is given one core: more threads would only fight each other. Must be set before Paddle loads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from kit.configuration import BadConfiguration, Tree, get, put, read


def main(task: str, arguments: list[str] | None = None) -> int:
    options = parsed(task, arguments)
    # Paddle keeps the code it traces below the home; a container's user may have none.
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("HOME", home)
        try:
            return DEEDS[task](configured(options))
        except BadConfiguration as error:
            print(f"cannot {task}: {error}", file=sys.stderr)
            return 2


def parsed(task: str, arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"{task} what a configuration file says")
    add = parser.add_argument
    add("-c", "--config", type=Path, required=True, help="the configuration file")
    add("-o", "--opt", nargs="+", action="append", default=[], help="KEY=VALUE instead of what the file says")
    # The switches of PaddleDetection; the others say the same in their configurations.
    add("--eval", action="store_true", help="judge while training, which is done anyway")
    add("-r", "--resume", help="go on from a checkpoint")
    add("--use_vdl", choices=["true", "false", "True", "False"], help="write curves for VisualDL")
    add("--vdl_log_dir", help="where to")
    add("--output_dir", help="where the exported model goes")
    return parser.parse_args(arguments)


def configured(options: argparse.Namespace) -> Tree:
    """What the file says, with what the command line says over it."""
    tree = read(options.config, [text for group in options.opt for text in group])
    tree.setdefault("filename", options.config.stem)
    for name in ("resume", "vdl_log_dir", "output_dir"):
        if getattr(options, name):
            put(tree, name, getattr(options, name))
    if options.use_vdl:
        put(tree, "use_vdl", options.use_vdl.lower() == "true")
    return tree


def train(config: Tree) -> int:
    from kit import training, workers

    rank, count = workers.join()
    chosen = task_of(config, "train")
    if rank == 0:
        introduce(chosen, config)
    state = training.train(chosen, rank, count)
    if rank == 0 and state.best:
        chosen.form.say(chosen.form.champion(state.best))
    return 0


def judge(config: Tree) -> int:
    from kit import training

    chosen = task_of(config, "eval")
    filled(chosen)
    metrics = training.without_gradients(chosen.network, chosen.judge)
    chosen.form.say("metric eval ***************")
    for name, value in metrics.items():
        chosen.form.say(f"{name}:{value}")
    return 0


def export(config: Tree) -> int:
    from kit import exporting

    chosen = task_of(config, "export")
    filled(chosen)
    exporting.export(chosen.served(), chosen.plan.inference)
    chosen.form.say(f"inference model is saved to {chosen.plan.inference / 'inference'}")
    return 0


DEEDS = {"train": train, "eval": judge, "export": export}


def filled(chosen: Any) -> None:
    """The weights that the configuration names, else the best of its own training."""
    from kit import checkpoints

    plan = chosen.plan
    prefix = plan.checkpoint or plan.pretrained or plan.folder / chosen.form.best
    checkpoints.load(prefix, chosen.network)
    chosen.form.say(f"resume from {prefix}")


def task_of(config: Tree, task: str) -> Any:
    kind = get(config, "Architecture.model_type", None)
    if kind == "det":
        from ocr.detection import Detection

        return Detection(config, task)
    if kind == "rec":
        from ocr.recognition import Recognition

        return Recognition(config, task)
    if get(config, "Arch", None):
        from clas.classification import Classification

        return Classification(config, task)
    if isinstance(config.get("architecture"), str):
        from det.detection import Detection as Things

        return Things(config, task)
    if get(config, "Sentiment", None):
        from nlp.sentiment import Sentiment

        return Sentiment(config, task)
    raise BadConfiguration(
        "none of Architecture.model_type (PaddleOCR: det, rec), Arch (PaddleClas) and architecture "
        "(PaddleDetection) says what is to be learnt; the configs of this suite are examples"
    )


def introduce(chosen: Any, config: Tree) -> None:
    size = sum(parameter.size for parameter in chosen.network.parameters())
    say = chosen.form.say
    say(
        f"trains on a small network of PaddleCloud's ({size:,} parameters), "
        "not on the one that the configuration names"
    )
    if (
        get(config, "Global.use_gpu", False)
        or config.get("use_gpu")
        or get(config, "Global.device", "") == "gpu"
    ):
        say("the GPU is left aside: this suite trains on the CPU")
    say(f"{len(chosen.samples)} samples to train on, {len(chosen.tests)} to judge with")
    for remark in chosen.remarks:
        say(remark)

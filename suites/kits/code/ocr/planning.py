"""The part of a PaddleOCR configuration that says how long is trained and where to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kit.configuration import BadConfiguration, get, number, path_of, whole
from kit.training import Plan


def plan_of(config: Any) -> Plan:
    folder = Path(str(get(config, "Global.save_model_dir", "./output/")))
    return Plan(
        epochs=whole(config, "Global.epoch_num", least=1),
        batch_size=whole(config, "Train.loader.batch_size_per_card", 8, least=1),
        learning_rate=number(config, "Optimizer.lr.learning_rate", 0.001),
        folder=folder,
        inference=Path(str(get(config, "Global.save_inference_dir", "./inference/"))),
        falling=get(config, "Optimizer.lr.name", "Const") == "Cosine",
        warmup=number(config, "Optimizer.lr.warmup_epoch", 0),
        print_steps=whole(config, "Global.print_batch_step", 10, least=1),
        judge_steps=judging(get(config, "Global.eval_batch_step", [0, 0])),
        keep_epochs=whole(config, "Global.save_epoch_step", 0),
        curves=folder / "vdl" if get(config, "Global.use_visualdl", False) else None,
        pretrained=path_of(config, "Global.pretrained_model"),
        checkpoint=path_of(config, "Global.checkpoints"),
        seed=whole(config, "Global.seed", 7),
    )


def judging(said: Any) -> tuple[int, int]:
    """After which step, and then every how many; one number is the second."""
    pair = said if isinstance(said, list) else [0, said]
    try:
        start, every = (int(value) for value in pair)
    except (TypeError, ValueError):
        raise BadConfiguration(f"Global.eval_batch_step is {said!r}, not [start, every]") from None
    return start, every

"""The command lines by which the programs of a suite are told what to train and to export; pure.

Nothing goes through a shell: a value may hold quotes, commas inside brackets, or blanks.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import WrongUse
from .suitedialects import NLP, dialect_of

CENTER, TASK = "/mnt/data-center", "/mnt/task-center"
PROJECTS = ("PaddleOCR", "PaddleClas", "PaddleDetection", "PaddleNLP", "PaddleRec", "PaddleSeg")
Inputs = Mapping[str, str]


def check_project(inputs: Inputs) -> None:
    """Raises `WrongUse` for a project nobody knows, or one without the file that says what to train."""
    project = inputs["project"]
    if not project:
        return
    if project.lower() not in (p.lower() for p in PROJECTS):
        raise WrongUse(f"project {project!r} is none of {', '.join(PROJECTS)}")
    if not inputs["config_path"]:
        raise WrongUse(
            f"project {project} needs config_path", next_step="config_path=configs/det/det_mv3_db.yml"
        )


def train_command(inputs: Inputs) -> list[str]:
    devices = int(inputs["gpu_per_node"])
    start = ["python"]
    if devices:
        gpus = ",".join(str(n) for n in range(devices))
        start = ["python", "-m", "paddle.distributed.launch", "--gpus", gpus, "--log_dir", TASK]
    if inputs["project"].lower() == NLP:
        return [*start, inputs["config_path"], "--do_train", "--do_eval", *nlp_flags(inputs)]
    dialect = dialect_of(inputs["project"])
    flags = [*dialect.train_flags, *(dialect.curve_flags if with_curves(inputs) else ())]
    told = ["-c", inputs["config_path"], "-o", *overrides(inputs)]
    return [*start, "tools/train.py", *told, *(filled(flag, inputs) for flag in flags)]


def export_command(inputs: Inputs) -> list[str]:
    if inputs["project"].lower() == NLP:
        return ["python", inputs["config_path"], "--do_export", *nlp_flags(inputs)]
    flags = [filled(flag, inputs) for flag in dialect_of(inputs["project"]).export_flags]
    told = ["-c", inputs["config_path"], "-o", *overrides(inputs, export=True)]
    return ["python", "tools/export_model.py", *told, *flags]


def exported(inputs: Inputs) -> str:
    """The folder of the exported model, on the volume of the pipeline."""
    if inputs["project"].lower() == NLP:
        return "models/export"
    return filled(dialect_of(inputs["project"]).exported, inputs)


def overrides(inputs: Inputs, export: bool = False) -> list[str]:
    """Those of the user first; where things lie is ours to say and comes after."""
    dialect = dialect_of(inputs["project"])
    found = changes(inputs["config_changes"])
    if with_curves(inputs) and not export:
        found += dialect.curves
    found += [filled(place, inputs) for place in dialect.places]
    if export:
        found.append(filled(dialect.best, inputs))
    elif inputs["pretrain_model"]:
        found.append(filled(dialect.begin, inputs))
    for part, label in zip(dialect.parts, (inputs["train_label"], inputs["test_label"]), strict=True):
        found.append(filled(dialect.folder, inputs, part=part))
        if label:
            found.append(filled(dialect.label, inputs, part=part, label=label))
    return found


def nlp_flags(inputs: Inputs) -> list[str]:
    """`num_train_epochs=4` as `--num_train_epochs 4`, then where things lie."""
    pairs = [change.partition("=")[::2] for change in changes(inputs["config_changes"])]
    flags = [word for name, value in pairs for word in (f"--{name.strip()}", value.strip())]
    flags += ["--data_dir", data_folder(inputs), "--output_dir", f"{TASK}/models"]
    return [*flags, "--logging_dir", f"{TASK}/models/vdl/"] if with_curves(inputs) else flags


def with_curves(inputs: Inputs) -> bool:
    return inputs["use_visualdl"].lower() == "true"


def data_folder(inputs: Inputs) -> str:
    return f"{CENTER}/{inputs['dataset']}/"


def filled(text: str, inputs: Inputs, **more: str) -> str:
    stem = inputs["config_path"].rpartition("/")[2].rpartition(".")[0]
    weights = pretrained(inputs["pretrain_model"])
    return text.format(task=TASK, data=data_folder(inputs), stem=stem, weights=weights, **more)


def pretrained(place: str) -> str:
    """Where the weights to begin with lie: what is fetched is named as the suites name weights."""
    if "://" not in place:
        return place
    return f"{TASK}/pretrain_model/{place.rpartition('/')[2].removesuffix('.pdparams')}"


def fetch_command(place: str) -> list[str]:
    """What brings the weights to begin with; empty when they are there."""
    return ["wget", "-c", "-P", f"{TASK}/pretrain_model", place] if "://" in place else []


def changes(text: str) -> list[str]:
    """`A.b=1,C.d=[1,2]` as its parts: a comma inside brackets or quotes belongs to the value."""
    parts, depth, quote, begin = [], 0, "", 0
    for index, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[begin:index])
            begin = index + 1
    parts = [p.strip() for p in [*parts, text[begin:]] if p.strip()]
    for part in parts:
        if "=" not in part:
            raise WrongUse(f"config_changes: {part!r} is no KEY=VALUE")
    return parts

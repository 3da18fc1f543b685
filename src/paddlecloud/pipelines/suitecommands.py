"""The command lines by which the programs of a suite are told what to train and to export; pure.

Nothing goes through a shell: a value may hold quotes, commas inside brackets, or blanks.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import WrongUse

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
    return [*start, "tools/train.py", "-c", inputs["config_path"], "-o", *overrides(inputs)]


def export_command(inputs: Inputs) -> list[str]:
    return [
        "python",
        "tools/export_model.py",
        "-c",
        inputs["config_path"],
        "-o",
        *overrides(inputs, export=True),
    ]


def overrides(inputs: Inputs, export: bool = False) -> list[str]:
    """Those of the user first; where things lie is ours to say and comes after."""
    found = changes(inputs["config_changes"])
    if inputs["use_visualdl"].lower() == "true" and not export:
        found.append("Global.use_visualdl=True")
    found += [f"Global.save_model_dir={TASK}/models/", f"Global.save_inference_dir={TASK}/inference/"]
    if export:
        found.append(f"Global.pretrained_model={TASK}/models/best_accuracy")
    elif inputs["pretrain_model"]:
        found.append(f"Global.pretrained_model={pretrained(inputs['pretrain_model'])}")
    data = f"{CENTER}/{inputs['dataset']}/"
    for part, label in (("Train", inputs["train_label"]), ("Eval", inputs["test_label"])):
        found.append(f"{part}.dataset.data_dir={data}")
        if label:
            found.append(f'{part}.dataset.label_file_list=["{data}{label}"]')
    return found


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

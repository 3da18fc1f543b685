"""How the configurations of each suite say where things lie: the keys differ, the command lines hardly; pure.

In the texts `{task}` is the volume of the pipeline, `{data}` the folder of the data with a slash at its end,
`{stem}` the name of the configuration file without its ending.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    places: tuple[str, ...]
    """Where checkpoints and the exported model go."""
    best: str
    """The weights that are exported."""
    begin: str
    """The weights to begin with."""
    folder: str
    label: str
    parts: tuple[str, str] = ("Train", "Eval")
    """What the configuration calls the data to train on and to judge with."""
    curves: tuple[str, ...] = ("Global.use_visualdl=True",)
    train_flags: tuple[str, ...] = ()
    curve_flags: tuple[str, ...] = ()
    export_flags: tuple[str, ...] = ()
    exported: str = "inference"
    """The folder of the exported model, on the volume of the pipeline."""


OCR = Dialect(
    places=("Global.save_model_dir={task}/models/", "Global.save_inference_dir={task}/inference/"),
    best="Global.pretrained_model={task}/models/best_accuracy",
    begin="Global.pretrained_model={weights}",
    folder="{part}.dataset.data_dir={data}",
    label='{part}.dataset.label_file_list=["{data}{label}"]',
)
CLAS = Dialect(
    places=("Global.output_dir={task}/models/", "Global.save_inference_dir={task}/inference/"),
    # PaddleClas names the folder by the network; its configurations are named by it, too.
    best="Global.pretrained_model={task}/models/{stem}/best_model",
    begin="Global.pretrained_model={weights}",
    parts=("DataLoader.Train", "DataLoader.Eval"),
    folder="{part}.dataset.image_root={data}",
    label="{part}.dataset.cls_label_path={data}{label}",
)
DETECTION = Dialect(
    places=("save_dir={task}/models/",),
    best="weights={task}/models/{stem}/best_model",
    begin="pretrain_weights={weights}",
    parts=("TrainDataset", "EvalDataset"),
    folder="{part}.dataset_dir={data}",
    label="{part}.anno_path={label}",
    curves=(),
    train_flags=("--eval",),
    curve_flags=("--use_vdl=true", "--vdl_log_dir={task}/models/vdl/"),
    export_flags=("--output_dir", "{task}/inference"),
    exported="inference/{stem}",
)
DIALECTS = {"paddleclas": CLAS, "paddledetection": DETECTION}
NLP = "paddlenlp"
"""Has no configuration files: its programs are told everything by flags."""


def dialect_of(project: str) -> Dialect:
    return DIALECTS.get(project.lower(), OCR)

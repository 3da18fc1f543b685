"""Image classification as a configuration of PaddleClas says, on a small residual network of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import paddle
from kit.configuration import BadConfiguration, Tree, get, number, path_of, whole
from kit.exporting import Served
from kit.forms import PaddleClas
from kit.pictures import picture, square
from kit.training import Plan
from paddle import nn
from paddle.io import Dataset
from paddle.nn.functional import cross_entropy, relu

FILES = Path(__file__).parent
SIDE = 32
WIDTHS = (16, 32, 64)


class Classification:
    """Names what is on a picture."""

    indicator = "top1"

    def __init__(self, config: Tree, task: str) -> None:
        self.plan = plan_of(config)
        self.form = PaddleClas()
        paddle.seed(self.plan.seed)
        self.classes = whole(config, "Arch.class_num", least=2)
        self.side = side_of(config)
        self.remarks: list[str] = []
        self.network: Any = resnet(self.classes)
        self.labels = labels(config, self.classes)
        self.samples: Any = (
            Pictures(listed(config, "Train", self.classes), self.side) if task == "train" else None
        )
        self.tests = listed(config, "Eval", self.classes) if task != "export" else []

    def losses(self, model: Any, batch: list[Any]) -> dict[str, Any]:
        images, wanted = batch
        scores = model(images)
        right = (scores.argmax(1) == wanted).astype("float32").mean()
        cost = cross_entropy(scores, wanted)
        return {"top1": right, "CELoss": cost, "loss": cost}

    def judge(self) -> dict[str, float]:
        costs, places = 0.0, []
        samples = Pictures(self.tests, self.side)
        for start in range(0, len(samples), 64):
            images, wanted = zip(
                *(samples[n] for n in range(start, min(start + 64, len(samples)))), strict=True
            )
            scores = self.network(paddle.to_tensor(np.stack(images)))
            truth = np.array(wanted)
            costs += float(cross_entropy(scores, paddle.to_tensor(truth), reduction="sum"))
            order = scores.numpy().argsort(1)[:, ::-1]
            places += [int(np.flatnonzero(row == label)[0]) for row, label in zip(order, truth, strict=True)]
        found = np.array(places)
        return {
            "CELoss": costs / len(samples),
            "loss": costs / len(samples),
            "top1": float((found < 1).mean()),
            "top5": float((found < 5).mean()),
        }

    def served(self) -> Served:
        image = paddle.static.InputSpec([None, 3, self.side, self.side], "float32", "x")
        return Served(
            nn.Sequential(self.network, nn.Softmax()),
            [image],
            {"processor.py": FILES / "processor.py"},
            {"labels.txt": "".join(f"{label}\n" for label in self.labels)},
            {"side": self.side},
        )


class Pictures(Dataset):
    def __init__(self, entries: list[tuple[Path, int]], side: int) -> None:
        super().__init__()
        self._entries, self._side = entries, side

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        path, label = self._entries[index]
        return square(picture(path), self._side), np.array(label, "int64")


class Block(nn.Layer):
    """Two convolutions beside a way around them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = convolution(inputs, outputs, 3, stride)
        self.second = convolution(outputs, outputs, 3, 1)
        same = inputs == outputs and stride == 1
        self.around = nn.Identity() if same else convolution(inputs, outputs, 1, stride)

    def forward(self, x: Any) -> Any:
        return relu(self.second(relu(self.first(x))) + self.around(x))


def convolution(inputs: int, outputs: int, size: int, stride: int) -> Any:
    kernel = nn.Conv2D(inputs, outputs, size, stride=stride, padding=size // 2, bias_attr=False)
    return nn.Sequential(kernel, nn.BatchNorm2D(outputs))


def resnet(classes: int) -> Any:
    a, b, c = WIDTHS
    return nn.Sequential(
        convolution(3, a, 3, 2), nn.ReLU(), Block(a, a, 1), Block(a, b, 2), Block(b, c, 2),
        nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(c, classes),
    )  # fmt: skip


def plan_of(config: Tree) -> Plan:
    folder = Path(str(get(config, "Global.output_dir", "./output/"))) / str(get(config, "Arch.name", "model"))
    return Plan(
        epochs=whole(config, "Global.epochs", least=1),
        batch_size=whole(config, "DataLoader.Train.sampler.batch_size", 32, least=1),
        learning_rate=number(config, "Optimizer.lr.learning_rate", 0.003),
        folder=folder,
        inference=Path(str(get(config, "Global.save_inference_dir", "./inference"))),
        falling=get(config, "Optimizer.lr.name", "Constant") == "Cosine",
        warmup=number(config, "Optimizer.lr.warmup_epoch", 0),
        print_steps=whole(config, "Global.print_batch_step", 10, least=1),
        curves=folder.parent / "vdl" if get(config, "Global.use_visualdl", False) else None,
        pretrained=path_of(config, "Global.pretrained_model"),
        checkpoint=path_of(config, "Global.checkpoints"),
        seed=whole(config, "Global.seed", 7),
    )


def side_of(config: Tree) -> int:
    shape = get(config, "Global.image_shape", [3, SIDE, SIDE])
    try:
        return max(16, int(shape[-1]))
    except (TypeError, ValueError, IndexError):
        raise BadConfiguration(f"Global.image_shape is {shape!r}, not [3, height, width]") from None


def labels(config: Tree, classes: int) -> list[str]:
    """The names of the classes where a file says them, else their numbers."""
    file = path_of(config, "PostProcess.class_id_map_file") or path_of(
        config, "Infer.PostProcess.class_id_map_file"
    )
    names = file.read_text(encoding="utf-8").split() if file is not None and file.is_file() else []
    return names if len(names) == classes else [str(number) for number in range(classes)]


def listed(config: Tree, split: str, classes: int) -> list[tuple[Path, int]]:
    """Every picture of a split with its class."""
    key = f"DataLoader.{split}.dataset"
    root, file = Path(str(get(config, f"{key}.image_root"))), Path(str(get(config, f"{key}.cls_label_path")))
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadConfiguration(
            f"{key}.cls_label_path: {file} cannot be read ({error.strerror}); "
            "python make_data.py makes a small data set"
        ) from error
    found = []
    for number_, line in enumerate(lines, 1):
        path, _, label = line.rpartition(" ")
        if not path or not label.isdigit() or int(label) >= classes:
            raise BadConfiguration(
                f"{file} line {number_} is {line!r}, not `path class` with class < {classes}"
            )
        found.append((root / path, int(label)))
    if not found:
        raise BadConfiguration(f"{file} lists no picture")
    return found

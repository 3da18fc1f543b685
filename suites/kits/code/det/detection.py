"""Object detection as a configuration of PaddleDetection says, on a small network of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from kit.configuration import BadConfiguration, Tree, get, number, path_of, step_of, whole
from kit.exporting import Served
from kit.forms import PaddleDetection
from kit.pictures import picture, square
from kit.training import Plan
from paddle.io import Dataset

from det import finder
from det.precision import average_precision
from det.suppression import things

FILES = Path(__file__).parent
SIDE = 96


class Detection:
    """Finds the things on a picture."""

    indicator = "ap"

    def __init__(self, config: Tree, task: str) -> None:
        self.plan = plan_of(config)
        self.form = PaddleDetection()
        paddle.seed(self.plan.seed)
        self.side = side_of(config)
        self.classes = whole(config, "num_classes", least=1)
        self.remarks: list[str] = []
        self.network: Any = finder.Finder(self.classes, self.side)
        self.labels = [str(n) for n in range(self.classes)]
        self.samples: Any = None
        if task == "train":
            self.samples = Things(coco(config, "TrainDataset", self.classes)[0], self.side, self.classes)
        self.tests, self.labels = coco(config, "EvalDataset", self.classes)

    def losses(self, model: Any, batch: list[Any]) -> dict[str, Any]:
        image, wanted, truth = batch
        return finder.losses(*model(image), wanted, truth)

    def judge(self) -> dict[str, float]:
        found, truths = [], []
        for path, boxes in self.tests:
            image = picture(path)
            scores, places = self.network(paddle.to_tensor(square(image, self.side)[None]))
            scale = np.array([image.width, image.height] * 2) / self.side
            entries = things(scores.numpy()[0], places.numpy()[0])
            found.append([(label, score, box * scale) for label, score, box in entries])
            truths.append(boxes)
        return average_precision(found, truths, self.classes)

    def served(self) -> Served:
        image = paddle.static.InputSpec([None, 3, self.side, self.side], "float32", "image")
        files = {"processor.py": FILES / "processor.py", "suppression.py": FILES / "suppression.py"}
        names = "".join(f"{label}\n" for label in self.labels)
        return Served(self.network, [image], files, {"labels.txt": names}, {"side": self.side})


class Things(Dataset):
    """Pictures, and for every place of the network what is there."""

    def __init__(self, entries: list[tuple[Path, Any]], side: int, classes: int) -> None:
        super().__init__()
        self._entries, self._side, self._classes = entries, side, classes
        steps = np.arange(side // finder.STRIDE) * finder.STRIDE + finder.STRIDE / 2
        rows, columns = np.meshgrid(steps, steps, indexing="ij")
        self._middles = np.stack([columns.ravel(), rows.ravel()], 1)

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        path, boxes = self._entries[index]
        image = picture(path)
        scale = self._side / np.array([image.width, image.height] * 2)
        wanted = np.zeros((len(self._middles), self._classes), "float32")
        truth = np.zeros((len(self._middles), 4), "float32")
        for label, box in boxes:
            small = box * scale
            middle, reach = (small[:2] + small[2:]) / 2, (small[2:] - small[:2]) / 2 * finder.NEAR
            away = np.abs(self._middles - middle)
            near = (away <= np.maximum(reach, finder.STRIDE / 2)).all(1)
            wanted[near, label], truth[near] = 1, small
        return square(image, self._side), wanted, truth


def coco(config: Tree, key: str, classes: int) -> tuple[list[tuple[Path, Any]], list[str]]:
    """Every picture of a data set with its (class, x1 y1 x2 y2), and the names of the classes."""
    folder = Path(str(get(config, f"{key}.dataset_dir", ".")))
    file = folder / str(get(config, f"{key}.anno_path"))
    images = folder / str(get(config, f"{key}.image_dir", ""))
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
        numbers = {kind["id"]: n for n, kind in enumerate(sorted(said["categories"], key=lambda k: k["id"]))}
        boxes: dict[Any, list[tuple[int, np.ndarray]]] = {image["id"]: [] for image in said["images"]}
        for mark in said["annotations"]:
            x, y, wide, high = mark["bbox"]
            if not mark.get("iscrowd"):
                boxes[mark["image_id"]].append(
                    (numbers[mark["category_id"]], np.array([x, y, x + wide, y + high]))
                )
        found = [(images / image["file_name"], boxes[image["id"]]) for image in said["images"]]
        names = [kind["name"] for kind in sorted(said["categories"], key=lambda k: k["id"])]
    except OSError as error:
        raise BadConfiguration(
            f"{key}: {file} cannot be read ({error.strerror}); python make_data.py makes a small data set"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadConfiguration(f"{key}: {file} is not in the form of COCO: {error}") from error
    if len(names) > classes:
        raise BadConfiguration(f"num_classes is {classes}, but {file} has {len(names)} categories")
    if not found:
        raise BadConfiguration(f"{key}: {file} lists no picture")
    return found, names


def plan_of(config: Tree) -> Plan:
    folder = Path(str(get(config, "save_dir", "output"))) / str(get(config, "filename", "model"))
    schedulers = get(config, "LearningRate.schedulers", [])
    warm = next((s for s in schedulers if s.get("name") == "LinearWarmup"), {})
    return Plan(
        epochs=whole(config, "epoch", least=1),
        batch_size=whole(config, "TrainReader.batch_size", 8, least=1),
        learning_rate=number(config, "LearningRate.base_lr", 0.004),
        folder=folder,
        inference=Path(str(get(config, "output_dir", "output_inference"))) / folder.name,
        falling=any(s.get("name") == "CosineDecay" for s in schedulers),
        warmup=number(warm, "epochs", 0),
        print_steps=whole(config, "log_iter", 20, least=1),
        curves=Path(str(get(config, "vdl_log_dir", folder / "vdl")))
        if get(config, "use_vdl", False)
        else None,
        pretrained=path_of(config, "weights") or path_of(config, "pretrain_weights"),
        checkpoint=path_of(config, "resume"),
    )


def side_of(config: Tree) -> int:
    """The size that pictures are brought to: what the reader's Resize says, a multiple of eight."""
    size = step_of(get(config, "EvalReader.sample_transforms", ()), "Resize").get("target_size", [SIDE, SIDE])
    try:
        return max(32, int(max(size)) // finder.STRIDE * finder.STRIDE)
    except (TypeError, ValueError):
        raise BadConfiguration(f"Resize.target_size is {size!r}, not two numbers") from None

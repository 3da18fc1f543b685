"""Text detection by differentiable binarization, on a small network of ours; alone or in a distillation.

With `DistillationModel` two students learn from the labels, from each other and from a teacher that stays as
it is, which is the collaborative mutual learning of PP-OCRv3.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import paddle
from kit.configuration import BadConfiguration, Tree, get, number, step_of
from kit.exporting import Served
from kit.forms import PaddleOCR
from kit.pictures import DEVIATION, MEAN, normal, picture
from kit.training import Plan
from paddle.io import Dataset
from PIL import Image

from ocr import boxes, labels
from ocr.dbnet import Distillation, Finder, Judged, db_loss, dila_loss, mutual_loss
from ocr.maps import maps
from ocr.planning import plan_of
from ocr.polygons import score

SIDE = 160
FILES = Path(__file__).parent


class Detection:
    """Finds the words of a page."""

    indicator = "hmean"

    def __init__(self, config: Tree, task: str) -> None:
        self.plan: Plan = plan_of(config)
        self.form = PaddleOCR()
        paddle.seed(self.plan.seed)
        self.side = side_of(config)
        self.post = {
            "threshold": number(config, "PostProcess.thresh", boxes.THRESHOLD),
            "least": number(config, "PostProcess.box_thresh", boxes.LEAST_SCORE),
            "growth": number(config, "PostProcess.unclip_ratio", boxes.GROWTH),
        }
        models = get(config, "Architecture.Models", {})
        self.network: Any = Distillation(frozen(models)) if models else Finder()
        self.weights = weights_of(config)
        self.samples: Any = None
        if task == "train":
            self.samples = Pages(labels.pages(config, "Train"), self.side, flips=True)
        self.tests = labels.pages(config, "Eval") if task != "export" else []
        self.remarks = []
        if models and any(frozen(models).values()) and not (self.plan.pretrained or self.plan.checkpoint):
            self.remarks = ["the teacher has learnt nothing: Global.pretrained_model gives it weights"]

    def losses(self, model: Any, batch: list[Any]) -> dict[str, Any]:
        image, *wanted = batch
        if isinstance(self.network, Distillation):
            found = model(image)
            students = [name for name in found if name not in self.network.frozen]
            direct = [db_loss(found[name], wanted)["loss"] for name in students]
            costs = {"db": sum(direct) / len(direct) * self.weights["DistillationDBLoss"]}
            if len(students) > 1:
                costs["dml"] = (
                    mutual_loss(*(found[name] for name in students[:2])) * self.weights["DistillationDMLLoss"]
                )
            for teacher in self.network.frozen:
                from_teacher = [dila_loss(found[name], found[teacher], wanted) for name in students]
                costs["dila"] = sum(from_teacher) / len(students) * self.weights["DistillationDilaDBLoss"]
            return {"loss": sum(costs.values()), **costs}
        return db_loss(model(image), wanted)

    def judge(self) -> dict[str, float]:
        served, found, truths = Judged(self.network), [], []
        for page in self.tests:
            image, ratio = fitted(picture(page.image), self.side)
            chance = served(paddle.to_tensor(normal(image)[None])).numpy()[0, 0]
            found.append([corners / ratio for corners, _ in boxes.boxes(chance, **self.post)])
            known = zip(page.polygons, page.ignored, strict=True)
            truths.append([polygon for polygon, ignored in known if not ignored])
        return score(found, truths)

    def served(self) -> Served:
        image = paddle.static.InputSpec([None, 3, self.side, self.side], "float32", "x")
        return Served(
            Judged(self.network),
            [image],
            {"processor.py": FILES / "processors" / "detection.py", "boxes.py": FILES / "boxes.py"},
            settings={"side": self.side, "mean": MEAN, "deviation": DEVIATION, **self.post},
        )


class Pages(Dataset):
    """Pictures and what is to be learnt from them."""

    def __init__(self, pages: list[labels.Page], side: int, flips: bool) -> None:
        super().__init__()
        self._pages, self._side, self._flips = pages, side, flips
        self._rng = np.random.default_rng(7)

    def __len__(self) -> int:
        return len(self._pages)

    def __getitem__(self, index: int) -> tuple[np.ndarray, ...]:
        page = self._pages[index]
        image, ratio = fitted(picture(page.image), self._side)
        found = maps([polygon * ratio for polygon in page.polygons], page.ignored, self._side)
        arrays = (normal(image), *found)
        if self._flips and self._rng.random() < 0.5:
            arrays = tuple(np.ascontiguousarray(array[..., ::-1]) for array in arrays)
        return arrays


def fitted(picture: Image.Image, side: int) -> tuple[np.ndarray, float]:
    """The picture in the upper left of a square of that side, and by what it was scaled."""
    ratio = side / max(picture.size)
    if ratio != 1:
        size = [max(1, round(length * ratio)) for length in picture.size]
        picture = picture.resize(size, Image.Resampling.BILINEAR)
    pixels = np.asarray(picture, "float32")
    square = np.zeros((side, side, 3), "float32")
    square[: pixels.shape[0], : pixels.shape[1]] = pixels
    return square, ratio


def side_of(config: Tree) -> int:
    """The size that pages are trained in: what the crop of the configuration says, a multiple of 32."""
    size = step_of(get(config, "Train.dataset.transforms", ()), "EastRandomCropData").get(
        "size", [SIDE, SIDE]
    )
    try:
        return max(32, int(max(size)) // 32 * 32)
    except (TypeError, ValueError):
        raise BadConfiguration(f"EastRandomCropData.size is {size!r}, not two numbers") from None


def frozen(models: Tree) -> dict[str, bool]:
    """The networks of a distillation by name, and which of them stay as they are."""
    return {name: bool((said or {}).get("freeze_params")) for name, said in models.items()}


def weights_of(config: Tree) -> dict[str, float]:
    """What the parts of a distillation's loss weigh."""
    found = {"DistillationDBLoss": 1.0, "DistillationDMLLoss": 1.0, "DistillationDilaDBLoss": 1.0}
    for entry in get(config, "Loss.loss_config_list", ()):
        for name, said in entry.items():
            found[name] = number(said, "weight", 1.0)
    return found

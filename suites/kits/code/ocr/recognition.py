"""Text recognition with CTC, on a small network of ours: a word's picture in, its characters out.

Every eighth column of the picture is one place in time; at each the network names a character or none, and
what it names twice in a row it has seen once.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from kit.configuration import BadConfiguration, Tree, get, step_of
from kit.exporting import Served
from kit.forms import PaddleOCR
from kit.pictures import picture
from kit.training import Plan
from paddle import nn
from paddle.io import Dataset
from PIL import Image

from ocr import labels
from ocr.planning import plan_of

SHAPE = (32, 96)
A_PLACE = 8  # columns of the picture
WIDTH = 12
FILES = Path(__file__).parent


class Recognition:
    """Reads a word."""

    indicator = "acc"

    def __init__(self, config: Tree, task: str) -> None:
        self.plan: Plan = plan_of(config)
        self.form = PaddleOCR()
        paddle.seed(self.plan.seed)
        self.characters = characters(config)
        self.shape = shape_of(config)
        self.network: Any = Reader(len(self.characters) + 1)
        self.cost = nn.CTCLoss(blank=0, reduction="none")
        self.remarks: list[str] = []
        self.samples: Any = None
        if task == "train":
            self.samples = Words(self._readable(config, "Train"), self.characters, self.shape)
        self.tests = labels.words(config, "Eval") if task != "export" else []

    def _readable(self, config: Tree, split: str) -> list[labels.Word]:
        """The words that have a place for each of their characters."""
        every = labels.words(config, split)
        most = min(int(get(config, "Global.max_text_length", 25)), self.shape[1] // A_PLACE)
        kept = [word for word in every if 0 < len(codes(word.said, self.characters)) <= most]
        if not kept:
            raise BadConfiguration(f"no word of {split} can be written in at most {most} known characters")
        if len(kept) < len(every):
            left = len(every) - len(kept)
            self.remarks.append(f"{left} of {len(every)} words are too long or not in the dictionary")
        return kept

    def losses(self, model: Any, batch: list[Any]) -> dict[str, Any]:
        image, wanted, lengths = batch
        scores = model(image).transpose([1, 0, 2])
        places, count, _ = scores.shape
        cost = self.cost(scores, wanted, paddle.full([count], places, "int64"), lengths)
        return {"loss": cost.mean()}

    def judge(self) -> dict[str, float]:
        right = 0
        for start in range(0, len(self.tests), 64):
            part = self.tests[start : start + 64]
            images = np.stack([fitted(picture(word.image), self.shape) for word in part])
            best = self.network(paddle.to_tensor(images)).argmax(2).numpy()
            for row, word in zip(best, part, strict=True):
                right += spelled(row, self.characters) == spelled_as(word.said, self.characters)
        return {"acc": right / len(self.tests)}

    def served(self) -> Served:
        image = paddle.static.InputSpec([None, 3, *self.shape], "float32", "x")
        return Served(
            nn.Sequential(self.network, nn.Softmax(axis=2)),
            [image],
            {"processor.py": FILES / "processors" / "recognition.py"},
            {"characters.json": json.dumps(self.characters)},
            {"shape": self.shape},
        )


class Reader(nn.Layer):
    """Pictures [n, 3, h, w] in, scores [n, w / 8, characters] out; the first of them is for none."""

    def __init__(self, characters: int, width: int = WIDTH) -> None:
        super().__init__()
        sizes = (3, width, 2 * width, 4 * width)
        stages = [stage(a, b) for a, b in pairwise(sizes)]
        last = 4 * width
        self.features = nn.Sequential(
            *stages, nn.Conv2D(last, last, 3, padding=1, bias_attr=False), nn.BatchNorm2D(last), nn.ReLU()
        )
        self.scores = nn.Linear(last, characters)

    def forward(self, image: Any) -> Any:
        return self.scores(self.features(image).mean(2).transpose([0, 2, 1]))


def stage(inputs: int, outputs: int) -> Any:
    kernel = nn.Conv2D(inputs, outputs, 3, padding=1, bias_attr=False)
    return nn.Sequential(kernel, nn.BatchNorm2D(outputs), nn.ReLU(), nn.MaxPool2D(2))


class Words(Dataset):
    def __init__(self, words: list[labels.Word], known: list[str], shape: tuple[int, int]) -> None:
        super().__init__()
        self._words, self._known, self._shape = words, known, shape

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        word = self._words[index]
        found = codes(word.said, self._known)
        padded = np.zeros(self._shape[1] // A_PLACE, "int32")
        padded[: len(found)] = found
        return fitted(picture(word.image), self._shape), padded, np.array(len(found), "int64")


def characters(config: Tree) -> list[str]:
    """The characters of the dictionary, one a line; digits and small letters where none is named."""
    said = get(config, "Global.character_dict_path", None)
    if said is None:
        return list("0123456789abcdefghijklmnopqrstuvwxyz")
    try:
        found = [line.rstrip("\r\n") for line in Path(str(said)).read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"Global.character_dict_path: {said} cannot be read: {error}") from error
    return [*found, " "] if get(config, "Global.use_space_char", False) else found


def codes(said: str, known: list[str]) -> list[int]:
    """The numbers of a word's characters, counted from one; those that nobody knows are passed over."""
    numbers = {character: number for number, character in enumerate(known, 1)}
    found = (numbers.get(character, numbers.get(character.lower())) for character in said)
    return [number for number in found if number]


def spelled_as(said: str, known: list[str]) -> str:
    return "".join(known[number - 1] for number in codes(said, known))


def spelled(best: np.ndarray, known: list[str]) -> str:
    """What the likeliest characters at every place say."""
    new = np.concatenate(([True], best[1:] != best[:-1]))
    return "".join(known[number - 1] for number in best[new & (best > 0)])


def fitted(picture: Image.Image, shape: tuple[int, int]) -> np.ndarray:
    """The word at the left of a picture of that shape, values from -1 to 1."""
    high, wide = shape
    width = min(wide, max(1, round(picture.width * high / picture.height)))
    pixels = np.asarray(picture.resize((width, high), Image.Resampling.BILINEAR), "float32")
    image = np.zeros((3, high, wide), "float32")
    image[:, :, :width] = (pixels / 255 - 0.5).transpose(2, 0, 1) / 0.5
    return image


def shape_of(config: Tree) -> tuple[int, int]:
    """Height and width that words are read in, each a multiple of eight."""
    said = step_of(get(config, "Train.dataset.transforms", ()), "RecResizeImg").get(
        "image_shape", [3, *SHAPE]
    )
    try:
        high, wide = (max(A_PLACE, int(length) // A_PLACE * A_PLACE) for length in said[1:])
    except (TypeError, ValueError):
        raise BadConfiguration(f"RecResizeImg.image_shape is {said!r}, not [3, height, width]") from None
    return high, wide

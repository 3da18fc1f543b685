"""Text classification on a small transformer of ours, the words counted from the sentences it learns from."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from kit.configuration import BadConfiguration, Tree, get, number, path_of, whole
from kit.exporting import Served
from kit.forms import PaddleNLP
from kit.training import Plan
from paddle import nn
from paddle.io import Dataset
from paddle.nn.functional import cross_entropy

FILES = Path(__file__).parent
PADDING, UNKNOWN = "[PAD]", "[UNK]"
MOST_WORDS = 20_000
SIZE, HEADS, LAYERS = 32, 4, 2


class Sentiment:
    """Tells what a sentence thinks of what it speaks about."""

    indicator = "accuracy"

    def __init__(self, config: Tree, task: str) -> None:
        said = config["Sentiment"]
        self.folder = Path(str(get(said, "data_dir")))
        self.length = whole(said, "max_length", 32, least=2)
        self.plan = plan_of(said)
        self.form = PaddleNLP()
        paddle.seed(self.plan.seed)
        self.labels = lines(self.folder / "label.txt")
        seen = rows(self.folder / "train.txt", self.labels)
        self.words = vocabulary(sentence for sentence, _ in seen)
        self.remarks: list[str] = []
        self.network: Any = Judge(len(self.words), self.length, len(self.labels))
        self.samples: Any = Sentences(seen, self.words, self.length) if task == "train" else None
        self.tests = rows(self.folder / "dev.txt", self.labels) if task != "export" else []

    def losses(self, model: Any, batch: list[Any]) -> dict[str, Any]:
        words, wanted = batch
        scores = model(words)
        right = (scores.argmax(1) == wanted).astype("float32").mean()
        return {"loss": cross_entropy(scores, wanted), "accu": right}

    def judge(self) -> dict[str, float]:
        cost, right = 0.0, 0
        samples = Sentences(self.tests, self.words, self.length)
        for start in range(0, len(samples), 128):
            part = [samples[n] for n in range(start, min(start + 128, len(samples)))]
            words, wanted = (paddle.to_tensor(np.stack(column)) for column in zip(*part, strict=True))
            scores = self.network(words)
            cost += float(cross_entropy(scores, wanted, reduction="sum"))
            right += int((scores.argmax(1) == wanted).sum())
        return {"loss": cost / len(samples), "accuracy": right / len(samples)}

    def served(self) -> Served:
        words = paddle.static.InputSpec([None, self.length], "int64", "input_ids")
        return Served(
            nn.Sequential(self.network, nn.Softmax()),
            [words],
            {"processor.py": FILES / "processor.py"},
            {
                "vocab.txt": "".join(f"{word}\n" for word in self.words),
                "labels.txt": "".join(f"{label}\n" for label in self.labels),
            },
            {"length": self.length},
        )


class Judge(nn.Layer):
    """Numbers of words [n, length] in, one score a label out; padding is neither read nor counted."""

    def __init__(self, words: int, length: int, labels: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, SIZE)
        self.places = nn.Embedding(length, SIZE)
        layer = nn.TransformerEncoderLayer(SIZE, HEADS, 2 * SIZE, dropout=0.0, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, LAYERS)
        self.scores = nn.Linear(SIZE, labels)
        self.register_buffer("numbers", paddle.arange(length, dtype="int64"), persistable=False)

    def forward(self, words: Any) -> Any:
        there = (words > 0).astype("float32")
        seen = self.words(words) + self.places(self.numbers)
        mask = ((1 - there) * -1e4).unsqueeze([1, 2])
        found = self.encoder(seen, mask)
        weight = there.unsqueeze(2)
        return self.scores((found * weight).sum(1) / weight.sum(1).clip(1.0))


class Sentences(Dataset):
    def __init__(self, entries: list[tuple[str, int]], words: list[str], length: int) -> None:
        super().__init__()
        numbers = {word: number for number, word in enumerate(words)}
        self._entries = [
            (encoded(text, numbers, length), np.array(label, "int64")) for text, label in entries
        ]

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        return self._entries[index]


def encoded(text: str, numbers: dict[str, int], length: int) -> np.ndarray:
    found = [numbers.get(word, 1) for word in tokens(text)][:length]
    return np.array(found + [0] * (length - len(found)), "int64")


def tokens(text: str) -> list[str]:
    """Words between blanks; every character of a script without blanks is a word."""
    spaced = "".join(f" {c} " if ord(c) > 0x2E80 else c for c in text.lower())
    return spaced.split()


def vocabulary(sentences: Any) -> list[str]:
    """The words of the sentences, the most frequent first."""
    counts = Counter(word for sentence in sentences for word in tokens(sentence))
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return [PADDING, UNKNOWN, *ordered[:MOST_WORDS]]


def rows(file: Path, labels: list[str]) -> list[tuple[str, int]]:
    found = []
    for number_, line in enumerate(lines(file), 1):
        text, tab, label = line.rpartition("\t")
        if not tab or label not in labels:
            known = ", ".join(labels)
            raise BadConfiguration(f"{file} line {number_} is not `sentence TAB label`; labels: {known}")
        found.append((text, labels.index(label)))
    return found


def lines(file: Path) -> list[str]:
    try:
        found = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadConfiguration(
            f"--data_dir: {file} cannot be read ({reason}); python make_data.py makes a small data set"
        ) from error
    if not found:
        raise BadConfiguration(f"{file} is empty")
    return found


def plan_of(said: Tree) -> Plan:
    folder = Path(str(get(said, "output_dir", "./checkpoint")))
    return Plan(
        epochs=whole(said, "num_train_epochs", 4, least=1),
        batch_size=whole(said, "per_device_train_batch_size", 32, least=1),
        learning_rate=number(said, "learning_rate", 2e-3),
        folder=folder,
        inference=folder / "export",
        falling=True,
        warmup=0.2,
        print_steps=whole(said, "logging_steps", 20, least=1),
        curves=path_of(said, "logging_dir") or folder / "runs",
        checkpoint=path_of(said, "resume_from_checkpoint"),
        seed=whole(said, "seed", 7),
    )

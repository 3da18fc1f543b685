"""Sentences to labels: `{"text": "…"}` to `{"label": ["positive"], "prob": [0.98]}`."""

import json

import numpy as np

from paddlecloud.serving.processing.labels import likeliest, read_labels


class Processor:
    def __init__(self, folder):
        self.length = json.loads((folder / "preprocess.json").read_text())["length"]
        words = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.numbers = {word: number for number, word in enumerate(words)}
        self.labels = read_labels(folder / "labels.txt")

    def before(self, feed):
        return {"input_ids": np.stack([self.encoded(str(entry["text"])) for entry in feed])}

    def after(self, arrays):
        (scores,) = arrays.values()
        return likeliest(scores, self.labels)

    def encoded(self, text):
        spaced = "".join(f" {c} " if ord(c) > 0x2E80 else c for c in text.lower())
        found = [self.numbers.get(word, 1) for word in spaced.split()][: self.length]
        return np.array(found + [0] * (self.length - len(found)), "int64")

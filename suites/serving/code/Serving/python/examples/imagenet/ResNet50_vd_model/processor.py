"""Pictures to flowers: `{"image": URL or base64}` to `{"label": ["daisy"], "prob": [0.93]}`.

The canary of the example says so in every answer.
"""

import os

import numpy as np

from paddlecloud.serving.processing.labels import likeliest, read_labels
from paddlecloud.serving.processing.pictures import Pictures


class Processor:
    def __init__(self, folder):
        self.labels = read_labels(folder / "labels.txt")
        self.pictures = Pictures()
        self.marks = {"isCanary": ["true"]} if os.environ.get("IS_CANARY") else {}

    def before(self, feed):
        read = self.pictures.array
        return {"image": np.stack([read(e["image"], f'"feed"[{n}].image') for n, e in enumerate(feed)])}

    def after(self, arrays):
        return {**self.marks, **likeliest(arrays["score"], self.labels)}

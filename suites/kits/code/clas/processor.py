"""Pictures to classes: `{"x": base64 or URL}` to `{"label": ["circle"], "prob": [0.97]}`."""

import json

import numpy as np
from PIL import Image

from paddlecloud.serving.processing.labels import likeliest, read_labels
from paddlecloud.serving.processing.pictures import Pictures, decoded

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Processor:
    def __init__(self, folder):
        self.side = json.loads((folder / "preprocess.json").read_text())["side"]
        self.labels = read_labels(folder / "labels.txt")
        self.pictures = Pictures()

    def before(self, feed):
        return {"x": np.stack([self.read(entry["x"], n) for n, entry in enumerate(feed)])}

    def after(self, arrays):
        (scores,) = arrays.values()
        return likeliest(scores, self.labels)

    def read(self, value, number):
        where = f'"feed"[{number}].x'
        picture = decoded(self.pictures.content(value, where), where)
        small = picture.resize((self.side, self.side), Image.Resampling.BILINEAR)
        scaled = np.asarray(small, "float32") / 255
        normal = (scaled - np.array(MEAN, "float32")) / np.array(DEVIATION, "float32")
        return np.ascontiguousarray(normal.transpose(2, 0, 1))

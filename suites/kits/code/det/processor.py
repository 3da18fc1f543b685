"""Pictures to things: `{"image": base64 or URL}` to labels, scores and boxes (x1, y1, x2, y2) in pixels."""

import json
import runpy

import numpy as np
from PIL import Image

from paddlecloud.serving.processing.labels import read_labels
from paddlecloud.serving.processing.pictures import Pictures, decoded

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
LEAST_SCORE = 0.3


class Processor:
    def __init__(self, folder):
        self.side = json.loads((folder / "preprocess.json").read_text())["side"]
        self.things = runpy.run_path(str(folder / "suppression.py"))["things"]
        self.labels = read_labels(folder / "labels.txt")
        self.pictures = Pictures()

    def before(self, feed):
        return {"image": np.stack([self.prepared(self.read(entry, n)) for n, entry in enumerate(feed)])}

    def after(self, arrays, feed):
        # The outputs of a program are numbered in the order in which the network returns them.
        scores, boxes = (arrays[name] for name in sorted(arrays))
        pages = []
        for number, entry in enumerate(feed):
            picture = self.read(entry, number)
            scale = np.array([picture.width, picture.height] * 2) / self.side
            found = self.things(scores[number], boxes[number], LEAST_SCORE)
            pages.append(
                [
                    {"label": self.labels[k], "score": s, "box": (b * scale).round(1).tolist()}
                    for k, s, b in found
                ]
            )
        return {"things": pages}

    def read(self, entry, number):
        where = f'"feed"[{number}].image'
        return decoded(self.pictures.content(entry["image"], where), where)

    def prepared(self, picture):
        small = picture.resize((self.side, self.side), Image.Resampling.BILINEAR)
        scaled = np.asarray(small, "float32") / 255
        normal = (scaled - np.array(MEAN, "float32")) / np.array(DEVIATION, "float32")
        return np.ascontiguousarray(normal.transpose(2, 0, 1))

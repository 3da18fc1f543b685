"""Words to text: `{"x": base64 or URL}` to `{"text": ["4711"], "score": [0.98]}`."""

import json

import numpy as np
from PIL import Image

from paddlecloud.serving.processing.pictures import Pictures, decoded


class Processor:
    def __init__(self, folder):
        self.shape = json.loads((folder / "preprocess.json").read_text())["shape"]
        self.known = json.loads((folder / "characters.json").read_text())
        self.pictures = Pictures()

    def before(self, feed):
        return {"x": np.stack([self.read(entry["x"], n) for n, entry in enumerate(feed)])}

    def after(self, arrays):
        (chances,) = arrays.values()
        found = [self.spelled(rows) for rows in chances]
        return {"text": [text for text, _ in found], "score": [score for _, score in found]}

    def spelled(self, rows):
        best = rows.argmax(1)
        new = np.concatenate(([True], best[1:] != best[:-1])) & (best > 0)
        score = float(rows.max(1)[new].mean()) if new.any() else 0.0
        return "".join(self.known[number - 1] for number in best[new]), score

    def read(self, value, number):
        where = f'"feed"[{number}].x'
        picture = decoded(self.pictures.content(value, where), where)
        high, wide = self.shape
        width = min(wide, max(1, round(picture.width * high / picture.height)))
        pixels = np.asarray(picture.resize((width, high), Image.Resampling.BILINEAR), "float32")
        image = np.zeros((3, high, wide), "float32")
        image[:, :, :width] = (pixels / 255 - 0.5).transpose(2, 0, 1) / 0.5
        return image

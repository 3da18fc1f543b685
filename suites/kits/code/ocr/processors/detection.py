"""Pages to boxes: `{"x": base64 or URL}` to the corners, in pixels, and scores of the text on it."""

import json
import runpy

import numpy as np
from PIL import Image

from paddlecloud.serving.processing.pictures import Pictures, decoded


class Processor:
    def __init__(self, folder):
        self.says = json.loads((folder / "preprocess.json").read_text())
        self.find = runpy.run_path(str(folder / "boxes.py"))["boxes"]
        self.pictures = Pictures()

    def before(self, feed):
        return {"x": np.stack([self.read(entry, n)[0] for n, entry in enumerate(feed)])}

    def after(self, arrays, feed):
        (maps,) = arrays.values()
        rule = {name: self.says[name] for name in ("threshold", "least", "growth")}
        pages = []
        for number, (chance, entry) in enumerate(zip(maps, feed, strict=True)):
            ratio = self.read(entry, number)[1]
            found = self.find(chance[0], **rule)
            pages.append([{"points": (c / ratio).round(1).tolist(), "score": s} for c, s in found])
        return {"boxes": pages}

    def read(self, entry, number):
        """The picture as the network is fed with it, and by what it was scaled."""
        where = f'"feed"[{number}].x'
        picture = decoded(self.pictures.content(entry["x"], where), where)
        side = self.says["side"]
        ratio = side / max(picture.size)
        size = [max(1, round(length * ratio)) for length in picture.size]
        pixels = np.asarray(picture.resize(size, Image.Resampling.BILINEAR), "float32") / 255
        square = np.zeros((side, side, 3), "float32")
        square[: pixels.shape[0], : pixels.shape[1]] = pixels
        scaled = (square - np.array(self.says["mean"], "float32")) / np.array(
            self.says["deviation"], "float32"
        )
        return np.ascontiguousarray(scaled.transpose(2, 0, 1)), ratio

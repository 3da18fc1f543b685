"""A picture in base64 to the boxes of what is seen in it: `{"image": "…"}` to `{"bbox_result": "[{…}]"}`.

The model says of every point how much it looks like each of its labels; a box is where one of them holds.
"""

import numpy as np
from PIL import Image

from paddlecloud.errors import BadRequest
from paddlecloud.serving.processing.labels import read_labels
from paddlecloud.serving.processing.pictures import Pictures, decoded

SIDE = 128
LEAST = 0.5


class Processor:
    def __init__(self, folder):
        self.labels = read_labels(folder / "label_list.txt")
        self.pictures = Pictures()

    def before(self, feed):
        return {"image": np.stack([self.array(entry, n) for n, entry in enumerate(feed)])}

    def array(self, entry, number):
        if "image" not in entry:
            raise BadRequest('the key "image" is missing')
        where = f"image {number}"
        picture = decoded(self.pictures.content(entry["image"], where), where)
        # The answer is in points of the picture as it was sent.
        entry["size"] = picture.size
        small = picture.resize((SIDE, SIDE), Image.Resampling.BILINEAR)
        return np.asarray(small, "float32").transpose(2, 0, 1) / 255

    def after(self, arrays, feed):
        [heat], [entry] = arrays["heat"], feed
        found = (box(heat[label], label, entry["size"]) for label in range(len(self.labels)))
        return {"bbox_result": str([b for b in found if b])}


def box(heat, label, size):
    """The part of the picture in which the label holds, and how well it does there."""
    rows, columns = np.nonzero(heat > LEAST)
    if not len(rows):
        return None
    top, bottom, left, right = rows.min(), rows.max() + 1, columns.min(), columns.max() + 1
    wide, high = size[0] / heat.shape[1], size[1] / heat.shape[0]
    return {
        "category_id": label,
        "bbox": [
            float(left * wide),
            float(top * high),
            float((right - left) * wide),
            float((bottom - top) * high),
        ],
        "score": float(heat[rows, columns].mean()),
    }

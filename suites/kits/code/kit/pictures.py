"""Pictures as networks are fed with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from kit.configuration import BadConfiguration

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def picture(path: Path) -> Image.Image:
    try:
        with Image.open(path) as found:
            return found.convert("RGB")
    except OSError as error:
        raise BadConfiguration(f"{path} is no picture that can be read: {error}") from error


def square(found: Image.Image, side: int) -> np.ndarray:
    """float32 [3, side, side], stretched to that size and normalised."""
    if found.size != (side, side):
        found = found.resize((side, side), Image.Resampling.BILINEAR)
    return normal(np.asarray(found, "float32"))


def normal(pixels: np.ndarray) -> np.ndarray:
    """Values from 0 to 255 [height, width, 3] as channels that are normalised."""
    scaled = (pixels / 255 - np.array(MEAN, "float32")) / np.array(DEVIATION, "float32")
    return np.ascontiguousarray(scaled.transpose(2, 0, 1))

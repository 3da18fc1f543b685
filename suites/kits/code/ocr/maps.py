"""What a detector of text is to learn from a page: where text is for sure, and where it ends.

The shrunk polygons of differentiable binarization: an edge moves inwards by area x (1 - ratio²) / perimeter,
and the border map falls off over the same distance on both sides. Polygons count as convex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ocr.boxes import hull
from ocr.polygons import area, perimeter

RATIO, LOW, HIGH = 0.4, 0.3, 0.7
LEAST_SIDE = 4.0


class Maps(NamedTuple):
    """Each [height, width], float32."""

    text: np.ndarray
    text_mask: np.ndarray
    border: np.ndarray
    border_mask: np.ndarray


def maps(polygons: list[np.ndarray], ignored: list[bool], side: int) -> Maps:
    text, text_mask = np.zeros((side, side), "float32"), np.ones((side, side), "float32")
    border, border_mask = np.zeros((side, side), "float32"), np.zeros((side, side), "float32")
    for polygon, unknown in zip(polygons, ignored, strict=True):
        corners = hull(polygon)
        if len(corners) < 3:
            continue
        away = area(corners) * (1 - RATIO**2) / max(perimeter(corners), 1e-9)
        low = np.clip(np.floor(corners.min(0) - away), 0, side).astype(int)
        high = np.clip(np.ceil(corners.max(0) + away) + 1, 0, side).astype(int)
        window = np.s_[low[1] : high[1], low[0] : high[0]]
        inside, distance = distances(corners, low, high)
        if not inside.size:
            continue
        if unknown or min(corners.max(0) - corners.min(0)) < LEAST_SIDE:
            text_mask[window][inside >= 0] = 0
            continue
        text[window][inside >= away] = 1
        near = np.clip(1 - distance / max(away, 1e-6), 0, 1)
        border[window] = np.maximum(border[window], near)
        border_mask[window][near > 0] = 1
    return Maps(text, text_mask, border * (HIGH - LOW) + LOW, border_mask)


def distances(corners: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of every pixel: how far inside the polygon it is (negative: outside), and how far from its edge."""
    y, x = np.mgrid[low[1] : high[1], low[0] : high[0]] + 0.5
    inside = np.full(x.shape, np.inf)
    distance = np.full(x.shape, np.inf)
    for start, end in zip(corners, np.roll(corners, -1, 0), strict=True):
        edge = end - start
        length = float(np.hypot(*edge))
        along, across = x - start[0], y - start[1]
        inside = np.minimum(inside, (edge[0] * across - edge[1] * along) / length)
        part = np.clip((along * edge[0] + across * edge[1]) / length**2, 0, 1)
        distance = np.minimum(distance, np.hypot(along - part * edge[0], across - part * edge[1]))
    return inside, distance

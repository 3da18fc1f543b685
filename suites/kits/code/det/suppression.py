"""Of many boxes around the same thing the best: NumPy only, because it is served too."""

from __future__ import annotations

import numpy as np

LEAST_SCORE, MOST_OVERLAP, MOST = 0.05, 0.6, 100


def overlaps(boxes: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Common area through the area of both together, of every box [n, 4] (x1, y1, x2, y2) with one."""
    low, high = np.maximum(boxes[:, :2], other[:2]), np.minimum(boxes[:, 2:], other[2:])
    common = np.clip(high - low, 0, None).prod(1)
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(1) + (other[2:] - other[:2]).prod()
    return common / np.maximum(areas - common, 1e-9)


def things(scores: np.ndarray, boxes: np.ndarray, least=LEAST_SCORE, most=MOST_OVERLAP):
    """The things in scores [places, classes] and boxes [places, 4]: (class, score, box), the surest first."""
    found = []
    for label in range(scores.shape[1]):
        left = [n for n in np.argsort(-scores[:, label]) if scores[n, label] >= least]
        while left:
            best, left = left[0], left[1:]
            found.append((label, float(scores[best, label]), boxes[best]))
            if left:
                apart = overlaps(boxes[left], boxes[best]) <= most
                left = [n for n, far in zip(left, apart, strict=True) if far]
    return sorted(found, key=lambda entry: -entry[1])[:MOST]

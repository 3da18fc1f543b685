"""Areas of polygons, and what two convex ones have in common."""

from __future__ import annotations

import numpy as np

from ocr.boxes import hull


def area(corners: np.ndarray) -> float:
    x, y = corners[:, 0], corners[:, 1]
    return abs(float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))) / 2


def perimeter(corners: np.ndarray) -> float:
    return float(np.hypot(*(np.roll(corners, -1, 0) - corners).T).sum())


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """The common area of two polygons through the area of both together; they count as convex."""
    one, other = hull(one), hull(other)
    if len(one) < 3 or len(other) < 3:
        return 0.0
    common = clipped(one, other)
    shared = area(common) if len(common) > 2 else 0.0
    return shared / max(area(one) + area(other) - shared, 1e-9)


def clipped(subject: np.ndarray, window: np.ndarray) -> np.ndarray:
    """What is left of a polygon inside a convex one; both as `hull` gives them."""
    points = [tuple(point) for point in subject]
    for start, end in zip(window, np.roll(window, -1, 0), strict=True):
        edge = end - start
        kept = []
        sides = [edge[0] * (y - start[1]) - edge[1] * (x - start[0]) for x, y in points]
        for number, point in enumerate(points):
            before, side, side_before = points[number - 1], sides[number], sides[number - 1]
            if (side >= 0) != (side_before >= 0):
                part = side_before / (side_before - side)
                kept.append(tuple(b + part * (p - b) for b, p in zip(before, point, strict=True)))
            if side >= 0:
                kept.append(point)
        points = kept
    return np.array(points).reshape(-1, 2)


def score(found: list[list[np.ndarray]], wanted: list[list[np.ndarray]]) -> dict[str, float]:
    """Precision, recall and their harmonic mean; a box is right that overlaps by more than half."""
    right = 0
    for boxes, truths in zip(found, wanted, strict=True):
        left = list(truths)
        for box in boxes:
            best = max(left, key=lambda truth: overlap(box, truth), default=None)
            if best is not None and overlap(box, best) > 0.5:
                left = [truth for truth in left if truth is not best]
                right += 1
    precision = right / max(sum(map(len, found)), 1)
    recall = right / max(sum(map(len, wanted)), 1)
    mean = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"precision": precision, "recall": recall, "hmean": mean}

"""From a map of how likely text is to the rectangles around it; NumPy only, because it is served too.

Neighbouring pixels above a threshold are one piece of text. Its smallest rectangle, however turned, is grown
again by what the map was shrunk when it was learnt.
"""

from __future__ import annotations

import numpy as np

THRESHOLD, LEAST_SCORE, GROWTH, LEAST_SIDE = 0.3, 0.6, 1.5, 3.0


def boxes(chance: np.ndarray, threshold=THRESHOLD, least=LEAST_SCORE, growth=GROWTH):
    """The rectangles in a map [height, width] as (four corners [4, 2], score), the likeliest first."""
    found = []
    for rows, columns in pieces(chance > threshold):
        score = float(chance[rows, columns].mean())
        if score < least:
            continue
        # The corners of the pixels, not their middles: a piece of one pixel has an area.
        points = np.stack([columns, rows], 1).astype("float64")
        around = np.concatenate([points + np.array([dx, dy]) for dx in (0, 1) for dy in (0, 1)])
        corners = grown(smallest_rectangle(hull(around)), growth)
        if (
            min(np.linalg.norm(corners[1] - corners[0]), np.linalg.norm(corners[2] - corners[1]))
            >= LEAST_SIDE
        ):
            found.append((corners, score))
    return sorted(found, key=lambda entry: -entry[1])


def pieces(mask: np.ndarray):
    """The rows and columns of every connected piece of a mask, diagonals included."""
    above, owners, spans = [], [], []
    for row in range(len(mask)):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], mask[row].astype("int8"), [0]))))
        now = []
        for left, right in edges.reshape(-1, 2):
            number = len(owners)
            owners.append(number)
            spans.append((row, left, right))
            for other, start, end in above:
                if start <= right and left <= end:
                    owners[leader(owners, other)] = leader(owners, number)
            now.append((number, left, right))
        above = now
    groups = {}
    for number, span in enumerate(spans):
        groups.setdefault(leader(owners, number), []).append(span)
    for group in groups.values():
        rows = np.concatenate([np.full(right - left, row) for row, left, right in group])
        columns = np.concatenate([np.arange(left, right) for _, left, right in group])
        yield rows, columns


def leader(owners: list[int], number: int) -> int:
    while owners[number] != number:
        owners[number] = owners[owners[number]]
        number = owners[number]
    return number


def hull(points: np.ndarray) -> np.ndarray:
    """The corners of the smallest convex polygon around *points*, in one sense of rotation."""
    ordered = sorted({(float(x), float(y)) for x, y in points})
    if len(ordered) < 3:
        return np.array(ordered)

    def half(points):
        chain = []
        for x, y in points:
            while len(chain) > 1:
                (x1, y1), (x2, y2) = chain[-2:]
                if (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) > 0:
                    break
                chain.pop()
            chain.append((x, y))
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def smallest_rectangle(corners: np.ndarray) -> np.ndarray:
    """The rectangle of the smallest area around a convex polygon: its corners, the upper left first."""
    best = None
    for edge in np.roll(corners, -1, 0) - corners:
        length = np.hypot(*edge)
        if not length:
            continue
        along = edge / length
        turn = np.stack([along, (-along[1], along[0])])
        turned = corners @ turn.T
        low, high = turned.min(0), turned.max(0)
        area = float(np.prod(high - low))
        if best is None or area < best[0] - 1e-9:
            square = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
            best = area, square @ turn
    found = best[1]
    return np.roll(found, -int(found.sum(1).argmin()), 0)


def grown(rectangle: np.ndarray, growth: float) -> np.ndarray:
    """Every side of a rectangle moved outwards by *growth* times its area through its perimeter."""
    first, second = rectangle[1] - rectangle[0], rectangle[3] - rectangle[0]
    wide, high = float(np.hypot(*first)), float(np.hypot(*second))
    distance = growth * wide * high / max(2 * (wide + high), 1e-9)
    x, y = first / max(wide, 1e-9) * distance, second / max(high, 1e-9) * distance
    return rectangle + np.stack([-x - y, x - y, x + y, y - x])

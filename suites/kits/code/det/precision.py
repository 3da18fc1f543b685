"""How good found boxes are: the average precision of COCO, over overlaps from 0.5 to 0.95.

A box is right that overlaps a thing of its class by at least so much, each thing once, the surest box first.
The precision at a recall is the best at that recall or a higher one, taken at 101 of them.
"""

from __future__ import annotations

import numpy as np

from det.suppression import overlaps

Found = list[tuple[int, float, np.ndarray]]
Truth = list[tuple[int, np.ndarray]]
LEVELS = tuple(np.arange(0.5, 1.0, 0.05).round(2))


def average_precision(found: list[Found], truths: list[Truth], classes: int) -> dict[str, float]:
    table = np.array(
        [[one_class(found, truths, label, level) for level in LEVELS] for label in range(classes)], float
    )
    # Classes that nothing is there of have no precision.
    table = table[~np.isnan(table[:, 0])] if len(table) else table
    if not len(table):
        return {"ap": 0.0, "ap50": 0.0}
    return {"ap": float(table.mean()), "ap50": float(table[:, 0].mean())}


def one_class(found: list[Found], truths: list[Truth], label: int, level: float) -> float:
    wanted = [np.array([box for kind, box in truth if kind == label]).reshape(-1, 4) for truth in truths]
    count = sum(map(len, wanted))
    if not count:
        return float("nan")
    taken = [np.zeros(len(boxes), bool) for boxes in wanted]
    every = [
        (score, page, box) for page, boxes in enumerate(found) for kind, score, box in boxes if kind == label
    ]
    right = []
    for _, page, box in sorted(every, key=lambda entry: -entry[0]):
        fit = np.where(taken[page], -1, overlaps(wanted[page], box)) if len(wanted[page]) else np.zeros(0)
        best = int(fit.argmax()) if len(fit) else -1
        hit = best >= 0 and fit[best] >= level
        if hit:
            taken[page][best] = True
        right.append(hit)
    if not right:
        return 0.0
    hits = np.cumsum(right)
    recall, precision = hits / count, hits / np.arange(1, len(right) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    places = np.searchsorted(recall, np.linspace(0, 1, 101))
    return float(np.concatenate([precision, [0.0]])[np.minimum(places, len(precision))].mean())

"""Flowers that never grew: small images, drawn from a seed, whose class is the number of their petals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SIDE = 32
PETALS = (3, 4, 5, 6, 8)


@dataclass(frozen=True)
class Flowers:
    images: np.ndarray
    """float32 [images, 3, SIDE, SIDE], about -1…1."""
    labels: np.ndarray
    """int64: which of PETALS."""

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        return self.images[index], self.labels[index]


def grow(count: int, seed: int) -> Flowers:
    """*count* flowers, every class as often as the others; the same seed gives the same flowers."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count, dtype="int64") % len(PETALS)
    return Flowers(np.stack([draw(PETALS[label], rng) for label in labels]).astype("float32"), labels)


def draw(petals: int, rng: np.random.Generator) -> np.ndarray:
    """A rose curve of random place, size, turn and colour on a noisy meadow."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] - (SIDE - 1) / 2 - rng.uniform(-3, 3, 2)[:, None, None]
    distance, angle = np.hypot(x, y), np.arctan2(y, x)
    edge = rng.uniform(8, 12) * (0.6 + 0.4 * np.cos(petals * angle + rng.uniform(0, 2 * np.pi)))
    inside = 1 / (1 + np.exp(2 * (distance - edge)))
    meadow, bloom = rng.uniform(-0.8, 0.0, 3), rng.uniform(0.2, 1.0, 3)
    image = meadow[:, None, None] * (1 - inside) + bloom[:, None, None] * inside
    return image + rng.normal(0, 0.15, image.shape)

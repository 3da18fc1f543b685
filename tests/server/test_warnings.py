"""How much of what could be warned about reaches a client."""

from __future__ import annotations

import pytest

from paddlecloud.embedded.server.answers import LONGEST, MOST, fitting


@pytest.mark.parametrize(
    ("warnings", "count", "longest"),
    [
        ([], 0, 0),
        (["a", "b", "a"], 2, 1),
        (["x" * 300] * 50, 1, 300),
        ([f"{i:04}{'x' * 300}" for i in range(5)], 5, 304),
        ([f"{i:04}{'x' * 300}" for i in range(250_000)], MOST // LONGEST, LONGEST),
        ([f'unknown field "k{i:05}"' for i in range(250)], 187, 22),
    ],
)
def test_warnings_fit_into_the_head_of_an_answer(warnings: list[str], count: int, longest: int) -> None:
    shown = fitting(warnings)
    assert (len(shown), max(map(len, shown), default=0)) == (count, longest)
    assert all(whole.startswith(part) for whole, part in zip(dict.fromkeys(warnings), shown, strict=False))

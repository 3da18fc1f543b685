from __future__ import annotations

import pytest

from paddlecloud.embedded.node.addresses import free_address, position
from paddlecloud.errors import Failed

ALL = {f"127.7.{y}.{z}" for y in range(256) for z in range(1, 255)}


@pytest.mark.parametrize(
    "used, start, address",
    [
        (set(), 0, "127.7.0.1"),
        ({"127.7.0.1"}, 0, "127.7.0.2"),
        (set(), position("127.7.0.254") + 1, "127.7.1.1"),
        (set(), position("127.7.255.254") + 1, "127.7.0.1"),
        (ALL - {"127.7.9.9"}, 0, "127.7.9.9"),
    ],
)
def test_the_next_free_address_is_given(used: set[str], start: int, address: str) -> None:
    assert free_address(7, used, start) == address


def test_a_full_block_is_an_error() -> None:
    with pytest.raises(Failed, match="in use"):
        free_address(7, ALL)

from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from paddlecloud.embedded.node.addresses import free_address, position
from paddlecloud.errors import Failed

SEVEN, SMALL = IPv4Network("127.7.0.0/16"), IPv4Network("10.1.2.0/23")
ALL = {f"127.7.{y}.{z}" for y in range(256) for z in range(1, 255)}


@pytest.mark.parametrize(
    "used, start, address",
    [
        (set(), 0, "127.7.0.1"),
        ({"127.7.0.1"}, 0, "127.7.0.2"),
        (set(), position(SEVEN, "127.7.0.254") + 1, "127.7.1.1"),
        (set(), position(SEVEN, "127.7.255.254") + 1, "127.7.0.1"),
        (ALL - {"127.7.9.9"}, 0, "127.7.9.9"),
    ],
)
def test_the_next_free_address_is_given(used: set[str], start: int, address: str) -> None:
    assert free_address(SEVEN, used, start) == address


def test_a_full_block_is_an_error() -> None:
    with pytest.raises(Failed, match="in use"):
        free_address(SEVEN, ALL)


@pytest.mark.parametrize(
    "last, address", [("10.1.2.254", "10.1.3.1"), ("10.1.3.254", "10.1.2.1"), ("10.1.2.7", "10.1.2.8")]
)
def test_a_smaller_range_is_walked_through_to_its_end_and_from_its_beginning(last: str, address: str) -> None:
    assert free_address(SMALL, (), position(SMALL, last) + 1) == address

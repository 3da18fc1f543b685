"""What is decided about the network of pods before a link is made: levels, ranges, messages to the kernel."""

from __future__ import annotations

import re
import struct
from ipaddress import IPv4Network
from typing import Any

import pytest

from paddlecloud.embedded import ranges
from paddlecloud.embedded.node.routed import nftables, rtnetlink
from paddlecloud.embedded.node.routed.choosing import Asked, ranges_for
from paddlecloud.embedded.node.routed.wiring import outside_name
from paddlecloud.embedded.node.sandbox import levels
from paddlecloud.embedded.node.sandbox.levels import Levels
from paddlecloud.embedded.ranges import Ranges, on_loopback
from paddlecloud.errors import Failed, PaddleCloudError, WrongUse

HOME = Ranges(IPv4Network("10.80.0.0/16"), IPv4Network("10.81.0.0/16"))
LAN = (IPv4Network("192.168.1.0/24"), IPv4Network("172.17.0.0/16"))
ROUTED, SHARED = Levels("overlay", network="namespaces"), Levels("overlay", network="notify")


@pytest.mark.parametrize(
    "pods, services, complaint",
    [
        ("10.0.0.0/8", "10.9.0.0/16", "overlap"),
        ("10.88.0.1/16", "10.9.0.0/16", "--pod-range '10.88.0.1/16' is no network of IPv4: .* host bits"),
        ("10.88", "10.9.0.0/16", "no network of IPv4"),
        ("fd00::/64", "10.9.0.0/16", "no network of IPv4"),
        ("10.88.0.0/16", "10.9.0.0/25", "--service-range 10.9.0.0/25 is too small: it needs a /24"),
        ("8.8.0.0/16", "10.9.0.0/16", "--pod-range 8.8.0.0/16 belongs to others"),
        ("127.9.0.0/16", "10.9.0.0/16", "belongs to others"),
    ],
)
def test_what_cannot_be_a_range_is_refused_in_words(pods: str, services: str, complaint: str) -> None:
    with pytest.raises(WrongUse, match=complaint):
        ranges.read(pods, services)


@pytest.mark.parametrize(
    "found, addresses",
    [
        (HOME, ("10.80.0.1", "10.80.0.2", "10.81.0.1", "10.81.0.10")),
        (ranges.read("10.1.0.0/24", "198.18.3.0/24"), ("10.1.0.1", "10.1.0.2", "198.18.3.1", "198.18.3.10")),
    ],
)
def test_the_addresses_that_mean_something_come_first(found: Ranges, addresses: tuple[str, ...]) -> None:
    assert (found.gateway, found.machine, found.api, found.names) == addresses
    assert found.routed and found.reserved == addresses[:2]


@pytest.mark.parametrize(
    "host, held",
    [("10.80.3.4", True), ("10.81.3.4", True), ("10.82.0.1", False), ("::1", False), ("a", False)],
)
def test_a_range_knows_its_own(host: str, held: bool) -> None:
    assert HOME.holds(host) is held


@pytest.mark.parametrize(
    "route, complaint",
    [
        ("10.80.7.0/24", "the range of pods, 10.80.0.0/16, overlaps 10.80.7.0/24"),
        ("10.0.0.0/8", "the range of pods"),
        ("10.81.0.0/16", "the range of Services, 10.81.0.0/16, overlaps"),
    ],
)
def test_a_range_that_the_machine_has_a_route_to_is_refused(route: str, complaint: str) -> None:
    with pytest.raises(Failed, match=complaint) as refused:
        ranges.check(HOME, (*LAN, IPv4Network(route)))
    assert "--pod-range" in (refused.value.next_step or "")
    ranges.check(HOME, LAN)


@pytest.mark.parametrize("luck", [0, 1, 499, 12345])
@pytest.mark.parametrize("routes", [(), LAN, (IPv4Network("10.0.0.0/8"),), (IPv4Network("10.64.0.0/20"),)])
def test_chosen_ranges_are_free_and_large_enough(routes: tuple[IPv4Network, ...], luck: int) -> None:
    found = ranges.chosen(routes, luck)
    ranges.check(found, routes)
    assert found == ranges.read(str(found.pods), str(found.services))
    assert found.pods.num_addresses == found.services.num_addresses == 4096


def test_where_every_range_is_taken_it_is_said() -> None:
    with pytest.raises(Failed, match="no range of addresses is free"):
        ranges.chosen((IPv4Network("10.0.0.0/8"), IPv4Network("198.18.0.0/15")), 0)


@pytest.mark.parametrize(
    "asked, kept, found, expected",
    [
        (Asked(), None, SHARED, None),
        (Asked(), HOME, SHARED, None),
        (Asked(), HOME, ROUTED, HOME),
        (Asked("10.80.0.0/16", "10.81.0.0/16"), None, ROUTED, HOME),
        (Asked("10.80.0.0/16"), HOME, ROUTED, HOME),
        (Asked("10.82.0.0/16"), HOME, ROUTED, "have their addresses in 10.80.0.0/16 and 10.81.0.0/16"),
        (Asked(services="10.82.0.0/16"), HOME, ROUTED, "have their addresses in"),
        (Asked("10.82.0.0/16"), None, SHARED, "pods have no network of their own here"),
        (Asked("192.168.0.0/16", "10.1.0.0/16"), None, ROUTED, "overlaps 192.168.1.0/24"),
    ],
)
def test_a_home_keeps_its_ranges_and_takes_those_it_is_asked_to_when_it_has_none(
    asked: Asked, kept: Ranges | None, found: Levels, expected: Ranges | str | None
) -> None:
    if isinstance(expected, str):
        with pytest.raises(PaddleCloudError, match=expected):
            ranges_for(asked, kept, found, LAN, 3)
    else:
        assert ranges_for(asked, kept, found, LAN, 3) == expected


def test_one_range_may_be_given_and_the_other_is_chosen() -> None:
    found = ranges_for(Asked("10.80.0.0/16"), None, ROUTED, LAN, 3)
    assert found is not None and str(found.pods) == "10.80.0.0/16" and found.services.prefixlen == 20


def probed(veth: str = "", overlay: str = "") -> dict[str, Any]:
    return {
        "filesystem": {"overlay": overlay, "folders": overlay, "user folders": overlay},
        "network": {"veth": veth, "user veth": veth, "notify": ""},
        "limits": {"kind": "", "folders": {}, "why": "no"},
    }


@pytest.mark.parametrize(
    "seen, wish, expected",
    [
        (probed(), "auto", "namespaces"),
        (probed(), "routed", "namespaces"),
        (probed(), "loopback", "notify"),
        (probed(veth="no"), "auto", "notify"),
        (probed(overlay="no"), "auto", "notify"),
    ],
)
def test_the_network_is_what_was_probed_and_wished_for(
    seen: dict[str, Any], wish: str, expected: str
) -> None:
    found = levels.decided(seen, "auto", wish)
    assert found.network == expected
    assert levels.words(found)["network"].startswith("routed" if expected == "namespaces" else "loopback")


@pytest.mark.parametrize(
    "seen, wish, complaint",
    [
        (probed(veth="Operation not permitted"), "routed", "network of their own here: Operation not"),
        (probed(overlay="no"), "routed", "pods are plain processes"),
        (probed(), "bridge", "'bridge' is not known"),
    ],
)
def test_a_network_that_cannot_be_is_refused(seen: dict[str, Any], wish: str, complaint: str) -> None:
    with pytest.raises(PaddleCloudError, match=complaint):
        levels.decided(seen, "auto", wish)


@pytest.mark.parametrize(
    "found, words",
    [
        (Levels(network="notify", why_not={"network": "asked for"}), "unset PADDLECLOUD_NETWORK"),
        (Levels(network="notify", why_not={"network": "not permitted"}), "run as root.*not permitted"),
        (Levels("folders", True, "namespaces"), "NodePort or `pdc port-forward` only; for more run as root"),
        (Levels("overlay", network="namespaces"), "answer to programs on this machine"),
    ],
)
def test_the_words_say_what_a_network_cannot_do_and_how_to_get_more(found: Levels, words: str) -> None:
    assert re.search(words, levels.words(found)["network"])


def test_loopback_needs_no_network_of_its_own() -> None:
    found = on_loopback(64)
    assert not found.routed and found.reserved == () and found.names == "127.65.0.10"


@pytest.mark.parametrize("address, name", [("10.80.0.3", "pod0a500003"), ("198.18.255.254", "podc612fffe")])
def test_links_are_named_after_addresses_and_short_enough_for_the_kernel(address: str, name: str) -> None:
    assert outside_name(address) == name and len(name) < 16


def test_messages_to_the_kernel_are_read_back_as_they_were_written() -> None:
    written = rtnetlink.route(("10.80.0.0", 16), 7, "10.80.0.1", "10.80.0.2") + rtnetlink.link_up(7)
    [(kind, _, body), (other, _, _)] = rtnetlink.parts(written)
    found = rtnetlink.attributes(body, rtnetlink.ROUTE.size)
    assert (kind, other) == (rtnetlink.NEW_ROUTE, rtnetlink.NEW_LINK)
    assert found[1] == bytes((10, 80, 0, 0)) and found[5][-1] == 1 and struct.unpack("=I", found[4]) == (7,)


@pytest.mark.parametrize("ours", [(), (HOME.pods,), (HOME.pods, HOME.services)])
def test_the_rule_of_the_switch_leaves_our_own_ranges_alone(ours: tuple[IPv4Network, ...]) -> None:
    steps = b"".join(nftables.rule(ours, ("10.80.0.1", 999)))
    assert all(network.network_address.packed in steps for network in ours)
    assert steps.count(b"cmp\0") == 1 + len(ours) and steps.count(b"nat\0") == 1

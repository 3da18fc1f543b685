"""The ranges of addresses that pods and Services get: read, checked against the machine's routes, chosen;
pure.

Two ranges of one cluster never touch each other, and none of them hides a network that the machine reaches
otherwise. On loopback they are blocks of 127.0.0.0/8, which is the machine's own anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv4Network, NetmaskValueError

from ..errors import Failed, WrongUse

LOOPBACK = IPv4Network("127.0.0.0/8")
PRIVATE = tuple(
    IPv4Network(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15")
)
"""Where a range may lie: networks that are nobody's in the world."""
SMALLEST = 24
POOLS = (IPv4Network("10.64.0.0/10"), IPv4Network("10.128.0.0/10"), IPv4Network("198.18.0.0/15"))
PIECE = 20
"""The length of the prefix of a range that is chosen here: 4,094 addresses."""
OTHERWISE = "give others with --pod-range and --service-range, or set PADDLECLOUD_NETWORK=loopback"


@dataclass(frozen=True)
class Ranges:
    pods: IPv4Network
    services: IPv4Network

    @property
    def routed(self) -> bool:
        """Whether the addresses need a network of their own."""
        return not self.pods.subnet_of(LOOPBACK)

    @property
    def gateway(self) -> str:
        """Whom routed pods send everything to."""
        return str(self.pods[1])

    @property
    def machine(self) -> str:
        """What routed pods know the machine by, where it is connected with their network."""
        return str(self.pods[2])

    @property
    def reserved(self) -> tuple[str, ...]:
        """Addresses that no pod gets."""
        return (self.gateway, self.machine) if self.routed else ()

    @property
    def api(self) -> str:
        """The address of the Service of the API server."""
        return str(self.services[1])

    @property
    def names(self) -> str:
        """The address of the cluster's DNS, the one that clusters usually give it."""
        return str(self.services[10])

    def holds(self, host: str) -> bool:
        """Whether *host* is an address of a pod or a Service."""
        try:
            address = IPv4Address(host)
        except AddressValueError:
            return False
        return address in self.pods or address in self.services


def on_loopback(block: int) -> Ranges:
    return Ranges(IPv4Network(f"127.{block}.0.0/16"), IPv4Network(f"127.{block + 1}.0.0/16"))


def read(pods: str, services: str) -> Ranges:
    """The ranges in words; raises `WrongUse` for what cannot be one."""
    found = Ranges(network("--pod-range", pods), network("--service-range", services))
    if found.pods.overlaps(found.services):
        raise WrongUse(
            f"--pod-range {pods} and --service-range {services} overlap", next_step="give two networks"
        )
    return found


def network(option: str, text: str) -> IPv4Network:
    example = "write it as 10.88.0.0/16"
    try:
        found = IPv4Network(text)
    except (AddressValueError, NetmaskValueError, ValueError) as error:
        raise WrongUse(f"{option} {text!r} is no network of IPv4: {error}", next_step=example) from error
    if found.prefixlen > SMALLEST:
        raise WrongUse(f"{option} {text} is too small: it needs a /{SMALLEST} at least", next_step=example)
    if not any(found.subnet_of(private) for private in PRIVATE):
        inside = ", ".join(map(str, PRIVATE))
        raise WrongUse(
            f"{option} {text} belongs to others: pods could not reach what is really there",
            next_step=f"take a network in {inside}",
        )
    return found


def check(ranges: Ranges, routes: Iterable[IPv4Network]) -> None:
    """Raises `Failed` when the machine itself has a use for the addresses."""
    for taken in sorted(routes):
        for what, found in (("pods", ranges.pods), ("Services", ranges.services)):
            if found.overlaps(taken):
                raise Failed(
                    f"the range of {what}, {found}, overlaps {taken}, which this machine has a route to",
                    next_step=OTHERWISE,
                )


def chosen(routes: Iterable[IPv4Network], luck: int) -> Ranges:
    """The *luck*-th two ranges that the machine has no use for; raises `Failed` when there are none."""
    taken = tuple(routes)
    free = [
        Ranges(pods, services)
        for pods, services in candidates()
        if not any(pods.overlaps(route) or services.overlaps(route) for route in taken)
    ]
    if not free:
        shown = ", ".join(map(str, taken))
        raise Failed(
            f"no range of addresses is free for pods beside the routes to {shown}", next_step=OTHERWISE
        )
    return free[luck % len(free)]


def candidates() -> Iterator[tuple[IPv4Network, IPv4Network]]:
    for pool in POOLS:
        pieces = tuple(pool.subnets(new_prefix=PIECE))
        yield from zip(pieces[::2], pieces[1::2], strict=True)

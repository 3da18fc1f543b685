"""Cluster addresses of Services: one of the cluster's block each, given once and remembered by the object."""

from __future__ import annotations

from typing import Any

from ...errors import Unavailable
from ..store import Store


class ServiceAddresses:
    """Gives out 127.(B+1).y.z; what is in use is read from the store, what is under way is remembered."""

    def __init__(self, store: Store, block: int) -> None:
        self._store = store
        self._block = block + 1
        self._given: set[str] = set()
        self._next = 1

    def allocate(self, service: dict[str, Any]) -> None:
        spec = service["spec"]
        if spec.get("type") == "ExternalName":
            return
        if not spec.get("clusterIP"):
            spec["clusterIP"] = self._free()
        spec["clusterIPs"] = [spec["clusterIP"]]
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")

    def _free(self) -> str:
        used = {
            (e.load().get("spec") or {}).get("clusterIP") for e in self._store.entries("/services")
        } | self._given
        for _ in range(254 * 254):
            self._next = self._next % (254 * 254) + 1
            high, low = divmod(self._next - 1, 254)
            address = f"127.{self._block}.{high}.{low + 1}"
            if address not in used:
                # Freed with the process: an address that was given and never stored is not lost for long.
                self._given.add(address)
                return address
        raise Unavailable("no cluster address is free", next_step="delete Services that are not used")

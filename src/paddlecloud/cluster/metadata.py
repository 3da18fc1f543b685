"""Every kind a server serves, known by its metadata alone: for those who look at owners and never at specs.

A kind found in discovery gets a class like any other; its objects carry what garbage collection asks for
and nothing else, so that following all of them costs little.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
from pydantic import ConfigDict

from ..api.meta import Metadata, Resource
from .client import Client
from .requests import Request

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
ONE = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
NEEDED = frozenset(("list", "watch", "delete"))


class OwnMetadata(Metadata):
    model_config = ConfigDict(extra="ignore")


class Known(Resource):
    """An object of which only the metadata is known."""

    metadata: OwnMetadata = OwnMetadata()


class MetadataClient(Client):
    """The same cluster, asked for metadata only."""

    @asynccontextmanager
    async def _send(
        self, request: Request, timeout: aiohttp.ClientTimeout | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        watches = ("watch", "true") in request.query
        accept = {"Accept": ONE if watches else LIST} if request.method == "GET" else {}
        slim = replace(request, headers={**request.headers, **accept})
        async with super()._send(slim, timeout) as answer:
            yield answer


async def served_kinds(client: Client) -> list[type[Known]]:
    """A class for every kind that can be listed, watched and deleted, in its preferred version."""
    found: list[type[Known]] = []
    for path in ("/api", "/apis"):
        document = await client.request(Request("GET", path, headers={"Accept": AGGREGATED}))
        found += kinds_in(document)
    return found


def kinds_in(document: dict[str, Any]) -> Iterator[type[Known]]:
    for group in document.get("items") or ():
        seen: set[str] = set()
        name = (group.get("metadata") or {}).get("name") or ""
        for version in group.get("versions") or ():
            api_version = f"{name}/{version['version']}" if name else version["version"]
            for resource in version.get("resources") or ():
                plural = resource["resource"]
                # Versions come in order of preference: the first that has the kind counts.
                if plural not in seen and set(resource["verbs"]) >= NEEDED:
                    seen.add(plural)
                    yield kind_class(
                        api_version,
                        resource["responseKind"]["kind"],
                        plural,
                        namespaced=resource["scope"] == "Namespaced",
                    )


# Making one takes milliseconds, and discovery asks for all of them after every change of a definition.
@functools.lru_cache(maxsize=1024)
def kind_class(api_version: str, kind: str, plural: str, *, namespaced: bool) -> type[Known]:
    own = {
        "api_version": api_version, "kind": kind, "plural": plural, "namespaced": namespaced,
        "__module__": __name__,
    }  # fmt: skip
    return type(kind, (Known,), own)

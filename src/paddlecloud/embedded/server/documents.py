"""What the server says of itself: its version, groups and kinds, OpenAPI, keys of its tokens, counts."""

from __future__ import annotations

import orjson
from aiohttp import web

from ...errors import NotFound
from . import accounts, discovery, openapi, openapi2
from .accounts import Accounts
from .answers import as_json, document, found
from .exposition import FORM, exposition
from .negotiation import wants_aggregated
from .objects import Objects
from .usage import Usage


class Documents:
    def __init__(self, objects: Objects, keys: Accounts, usage: Usage) -> None:
        self._objects, self._accounts, self._usage = objects, keys, usage

    async def answer(self, request: web.Request) -> web.Response:
        """The document at the path of a request; raises `NotFound` where there is none."""
        registry = self._objects.registry
        parts = request.rel_url.raw_path.strip("/").split("/")
        match parts:
            case ["version"]:
                return as_json(discovery.VERSION)
            case ["metrics"]:
                text = exposition(self._usage, self._objects.store).encode()
                return web.Response(body=text, headers={"Content-Type": FORM})
            case [".well-known", "openid-configuration"]:
                return as_json(accounts.discovery(f"https://{request.host}"))
            case ["openid", "v1", "jwks"]:
                keys = orjson.dumps(self._accounts.key.published())
                return web.Response(body=keys, content_type="application/jwk-set+json")
            case ["api"] | ["apis"]:
                return self._groups(request, core=parts == ["api"])
            case ["openapi", "v2"]:
                content, form = openapi2.document(request.headers.get("Accept", ""))
                return web.Response(body=content, headers={"Content-Type": form, "Vary": "Accept"})
            case ["openapi", "v3"]:
                return as_json(openapi.index(registry))
            case ["openapi", "v3", "api", version]:
                return document(request, openapi.document(registry, "", version))
            case ["openapi", "v3", "apis", group, version]:
                return document(request, openapi.document(registry, group, version))
            case ["api", version]:
                return found(discovery.resource_list(registry, "", version))
            case ["apis", group] if group in registry.groups():
                return as_json(discovery.group_document(group, registry.groups()[group]))
            case ["apis", group, version]:
                return found(discovery.resource_list(registry, group, version))
        raise NotFound("the server could not find the requested resource")

    def _groups(self, request: web.Request, *, core: bool) -> web.Response:
        registry = self._objects.registry
        headers = {"ETag": f'"{registry.etag}"', "Vary": "Accept"}
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers=headers)
        if version := wants_aggregated(request.headers.get("Accept", "")):
            body = discovery.aggregated(registry, core=core)
            body["apiVersion"] = f"apidiscovery.k8s.io/{version}"
            headers["Content-Type"] = (
                f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
            )
            return web.Response(body=orjson.dumps(body), headers=headers)
        body = discovery.core_versions() if core else discovery.group_list(registry)
        return web.Response(body=orjson.dumps(body), headers={**headers, "Content-Type": "application/json"})

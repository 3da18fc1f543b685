"""The store of a namespace's models, opened by whoever may: the cluster tells its URI, a Secret its keys.

A store on a disk is reached only on the machine that has it; one that speaks S3 from anywhere, if it is a
Service of the cluster through the API.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from ..api.core import ConfigMap, Secret
from ..controllers import hub
from ..errors import Failed, Forbidden, NotFound
from ..models.objects import ObjectStore
from ..models.opening import ACCESS, store_at
from .client import Client
from .serviceways import Dial, way_to


def store_for(client: Client, namespace: str) -> str:
    """The URI. Raises `Failed` where no administrator has said where models go."""
    settings = client.find(ConfigMap, hub.NAMESPACE, hub.NAME)
    uri = settings.data.get(hub.KEY, "") if settings else ""
    if not uri:
        raise Failed(
            "this cluster has no model store",
            next_step=f"say where: pdc apply a ConfigMap {hub.NAME} in namespace {hub.NAMESPACE} "
            f"with {hub.KEY}: s3://BUCKET/PREFIX?endpoint=https://HOST&secret=NAME",
        )
    return hub.within(uri, namespace)


def opened(
    client: Client, namespace: str, uri: str = "", environ: Mapping[str, str] = os.environ
) -> ObjectStore:
    """The store at *uri*, by default that of new versions. Raises `Failed` when it is out of reach."""
    uri = uri or store_for(client, namespace)
    parts = urlsplit(uri)
    if parts.scheme == "file":
        folder = Path(unquote(parts.path))
        # The folder of the namespace comes with its first version.
        if not folder.is_dir() and not folder.parent.parent.is_dir():
            raise Failed(
                f"the model store {uri} is a folder of another machine",
                next_step="push there, or let the cluster keep models in an S3 bucket",
            )
        return store_at(uri)
    secret = hub.secret_of(uri)
    keys = keys_of(client, namespace, secret) if secret and ACCESS not in environ else environ
    return store_at(uri, keys, endpoint_way(client, uri, environ))


def endpoint_way(client: Client, uri: str, environ: Mapping[str, str] = os.environ) -> Dial | None:
    """How the endpoint of *uri* is called from here: pods know it by the name of a Service, others do not."""
    endpoint = urlsplit(dict(parse_qsl(urlsplit(uri).query)).get("endpoint", ""))
    port = endpoint.port or (443 if endpoint.scheme == "https" else 80)
    return way_to(client, endpoint.hostname or "", port, environ)


def keys_of(client: Client, namespace: str, name: str) -> dict[str, str]:
    try:
        secret = client.get(Secret, namespace, name)
    except (NotFound, Forbidden) as error:
        raise Failed(
            f"the keys of the model store are in Secret {namespace}/{name}, and that cannot be read: "
            f"{error.message}",
            next_step=f"make it with access-key and secret-key, or set {' and '.join(hub.KEYS)}",
        ) from error
    return {variable: decoded(secret.data.get(key, "")) for variable, key in hub.KEYS.items()}


def decoded(text: str) -> str:
    return base64.b64decode(text).decode(errors="replace").strip()

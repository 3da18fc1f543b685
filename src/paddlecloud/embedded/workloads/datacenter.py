"""Secrets that the documents of data sets take for granted: `data-center`, a file system; `none`, no keys.

Made once, in the namespace `paddlecloud`; whoever has a store of their own writes another `data-center`.
"""

from __future__ import annotations

import asyncio
import base64

from ... import log
from ...api.core import Secret
from ...api.meta import Metadata
from ...cluster.client import Client
from ...errors import AlreadyExists, PaddleCloudError
from ...settings import Home
from .looking import RETRY

NAMESPACE, NAME = "paddlecloud", "data-center"


def secrets(home: Home) -> tuple[Secret, Secret]:
    folder = home.objects / NAME
    said = {
        "name": NAME,
        "storage": "file",
        "bucket": f"{folder}/objects/",
        "metaurl": f"sqlite3://{folder}/meta.db",
    }
    return secret(NAME, said), secret("none", {})


def secret(name: str, said: dict[str, str]) -> Secret:
    data = {key: base64.b64encode(value.encode()).decode() for key, value in said.items()}
    return Secret(metadata=Metadata(name=name, namespace=NAMESPACE), data=data)


async def provide(home: Home, client: Client) -> None:
    """Return when they are there."""
    (home.objects / NAME).mkdir(parents=True, exist_ok=True, mode=0o700)
    for wanted in secrets(home):
        while True:
            try:
                await client.create(wanted)
                break
            except AlreadyExists:
                break
            except PaddleCloudError as error:
                log.logger("workloads").warning("%s is not made yet: %s", wanted.name, error.message)
                await asyncio.sleep(RETRY)

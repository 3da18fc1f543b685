"""Secrets that the documents of data sets take for granted: `data-center`, a file system; `none`, no keys.

Made once, in the namespace `paddlecloud`; whoever has a store of their own writes another `data-center`.
"""

from __future__ import annotations

import base64

from ...api.core import Secret
from ...api.meta import Metadata
from ...settings import Home

NAMESPACE, NAME = "paddlecloud", "data-center"


def parts(home: Home) -> tuple[Secret, Secret]:
    """The two Secrets; the folder of the file system is made, closed to others."""
    folder = home.objects / NAME
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
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

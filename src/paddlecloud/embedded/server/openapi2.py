"""OpenAPI v2: a document without kinds, for clients that ask it only about kinds nobody knows.

kubectl turns to it when it finds no kind in OpenAPI v3, and for the `List` of a file; where there is no
document at all it calls a misspelt kind a failed download. All that is known of kinds is in `openapi`.
"""

from __future__ import annotations

import orjson

from . import facts

ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
PROTOBUF = ASKED.replace("@", ".")  # what clients ask for is no media type they can parse
SWAGGER, INFO, PATHS = 1, 2, 8  # the numbers of the fields in the protobuf form
TITLE, VERSION = 1, 2


def document(accept: str) -> tuple[bytes, str]:
    """The document and its content type, in the form the client asks for."""
    title, version = "Kubernetes", facts.version()
    if ASKED in accept or PROTOBUF in accept:
        info = field(TITLE, title.encode()) + field(VERSION, version.encode())
        return field(SWAGGER, b"2.0") + field(INFO, info) + field(PATHS, b""), PROTOBUF
    body = {"swagger": "2.0", "info": {"title": title, "version": version}, "paths": {}}
    return orjson.dumps(body), "application/json"


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf that holds bytes; all of ours are shorter than 128."""
    return bytes((number << 3 | 2, len(content))) + content

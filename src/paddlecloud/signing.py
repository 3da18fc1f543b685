"""AWS signature, version 4: the headers by which an S3 server knows who asks. The time is an argument."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote, unquote, urlsplit

EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class Keys:
    """What a store or a source lets its owner in with; never shown."""

    access: str = field(repr=False)
    secret: str = field(repr=False)


def signed(
    method: str, url: str, keys: Keys, region: str, now: datetime, *, content: str = EMPTY
) -> dict[str, str]:
    """The headers for a request to an S3 address whose path is quoted as S3 wants it.

    *content* is the sha256 of the body: a server that checks it takes no other body.
    """
    parts = urlsplit(url)
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{stamp[:8]}/{region}/s3/aws4_request"
    headers = {"host": parts.netloc, "x-amz-content-sha256": content, "x-amz-date": stamp}
    names = ";".join(sorted(headers))
    request = "\n".join(
        [method, parts.path or "/", query(parts.query), *lines(headers), "", names, content],
    )
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = f"AWS4{keys.secret}".encode()
    for part in (stamp[:8], region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    said = f"AWS4-HMAC-SHA256 Credential={keys.access}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {**{name: value for name, value in headers.items() if name != "host"}, "Authorization": said}


def lines(headers: Mapping[str, str]) -> list[str]:
    return [f"{name}:{headers[name]}" for name in sorted(headers)]


def query(text: str) -> str:
    pairs = (pair.partition("=") for pair in text.split("&") if pair)
    return "&".join(sorted(f"{quoted(unquote(name))}={quoted(unquote(value))}" for name, _, value in pairs))


def quoted(text: str) -> str:
    """As S3 wants names and values in a query; a path keeps its slashes, see `path`."""
    return quote(text, safe="-_.~")


def path(key: str) -> str:
    return quote(key, safe="-_.~/", errors="surrogateescape")

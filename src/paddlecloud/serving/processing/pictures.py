"""Pictures of a feed as arrays: base64, `data:` URLs, and URLs of hosts that were allowed beforehand.

A server that fetches any URL a client names would fetch the cluster's inner pages for it: a host that is not
on the list is refused before anything is sent, and a redirection is a new URL. Sizes are bounded before and
after decoding.
"""

from __future__ import annotations

import base64
import binascii
import http.client
import io
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
from PIL import Image  # type: ignore[import-not-found,unused-ignore]

from ... import mirroring
from ...errors import BadRequest

VARIABLE = "PADDLECLOUD_IMAGE_HOSTS"
SECONDS = 10.0
MOST_BYTES = 16 << 20
MOST_PIXELS = 64 << 20
MOST_HOPS = 3
IMAGENET_MEAN, IMAGENET_DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def allowed_hosts(environ: Mapping[str, str] = os.environ) -> frozenset[str]:
    """The hosts of the setting, each with its port where it is not the usual one."""
    return frozenset(part.strip().lower() for part in environ.get(VARIABLE, "").split(",") if part.strip())


def other_hosts(environ: Mapping[str, str]) -> dict[str, str]:
    """The mirrors that are asked over HTTP; below a folder, a client could name any file of the server."""
    return {prefix: url for prefix, url in mirroring.heard(environ).items() if url.startswith("http")}


@dataclass(frozen=True)
class Pictures:
    """How the pictures of a model are read."""

    side: int = 224
    """Of the square that is cut from the middle."""
    resized: int = 256
    """Length of the shorter edge before that."""
    hosts: frozenset[str] = field(default_factory=allowed_hosts)
    mirrors: Mapping[str, str] = field(default_factory=lambda: other_hosts(os.environ))
    """Where pictures of allowed hosts are read that cannot be seen from here."""

    def array(self, value: Any, where: str) -> Any:
        """float32 [3, side, side], normalised as for ImageNet. Raises `BadRequest` that names *where*."""
        picture = decoded(self.content(value, where), where)
        picture = middle(picture, self.resized, self.side)
        scaled = np.asarray(picture, "float32") / 255
        normal = (scaled - np.array(IMAGENET_MEAN, "float32")) / np.array(IMAGENET_DEVIATION, "float32")
        return np.ascontiguousarray(normal.transpose(2, 0, 1))

    def content(self, value: Any, where: str) -> bytes:
        if not isinstance(value, str):
            raise BadRequest(f"{where} must be a picture in base64, or a URL")
        if value.startswith(("http://", "https://")):
            return self.fetched(value, where)
        if value.startswith("data:"):
            value = value.partition(",")[2]
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadRequest(f"{where} is neither base64 nor a URL: {error}") from error

    def fetched(self, url: str, where: str) -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Stay())
        for _ in range(MOST_HOPS + 1):
            self.check(url, where)
            try:
                with opener.open(mirroring.mirrored(url, self.mirrors), timeout=SECONDS) as answer:
                    content: bytes = answer.read(MOST_BYTES + 1)
            except urllib.error.HTTPError as error:
                with error:
                    if error.code in (301, 302, 303, 307, 308) and error.headers.get("Location"):
                        url = urllib.parse.urljoin(url, error.headers["Location"])
                        continue
                raise BadRequest(f"{where}: {url} answers {error.code}") from error
            except (OSError, http.client.HTTPException) as error:
                raise BadRequest(f"{where}: {url} cannot be fetched: {error}") from error
            if len(content) > MOST_BYTES:
                raise BadRequest(f"{where}: {url} has more than {MOST_BYTES >> 20} MiB")
            return content
        raise BadRequest(f"{where}: {url} is redirected too often")

    def check(self, url: str, where: str) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.username is not None:
            raise BadRequest(f"{where}: only plain http and https URLs are fetched")
        if parts.netloc.lower() not in self.hosts:
            raise BadRequest(
                f"{where}: pictures are not fetched from {parts.netloc}; "
                f"allowed are: {', '.join(sorted(self.hosts)) or 'none'} ({VARIABLE})"
            )


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: the new URL is looked at first."""

    def redirect_request(self, *_: Any) -> None:
        return None


def decoded(content: bytes, where: str) -> Any:
    try:
        picture = Image.open(io.BytesIO(content))
        if picture.width * picture.height > MOST_PIXELS:
            raise BadRequest(f"{where} has {picture.width} x {picture.height} pixels, which is too many")
        return picture.convert("RGB")
    except BadRequest:
        raise
    except Exception as error:  # a broken file can raise nearly anything
        raise BadRequest(f"{where} is no picture that can be read: {error}") from error


def middle(picture: Any, resized: int, side: int) -> Any:
    """The square in the middle, after the shorter edge was brought to *resized*."""
    ratio = resized / min(picture.size)
    width, height = (max(side, round(edge * ratio)) for edge in picture.size)
    picture = picture.resize((width, height), Image.Resampling.BILINEAR)
    left, top = (width - side) // 2, (height - side) // 2
    return picture.crop((left, top, left + side, top + side))

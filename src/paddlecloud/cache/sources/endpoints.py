"""Where a bucket is: the host, region and style of an S3 address, from the forms users write.

    s3://bucket/prefix                      bos://bucket.region.bcebos.com/prefix
    s3://bucket.s3.region.amazonaws.com/…   minio://host:9000/bucket/prefix

A provider's own address becomes the one at which it speaks S3. A bucket stands in the host, but in the path
where the host is an address, `localhost` or has a port.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from ..engine import Unfit

SCHEMES = (
    "s3", "minio", "bos", "oss", "gs", "cos", "obs", "ks3", "wasabi", "scw", "space", "jss", "oos", "scs",
    "ibmcos", "mss", "nos", "eos", "speedy",
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    bucket: str
    prefix: str
    """Of the keys, without a slash at either end."""
    endpoint: str
    """Host, with the port where one was given; the bucket is not in it."""
    region: str = "us-east-1"
    path_style: bool = False
    scheme: str = "https"

    @property
    def url(self) -> str:
        """Where the bucket answers."""
        if self.path_style:
            return f"{self.scheme}://{self.endpoint}/{self.bucket}"
        return f"{self.scheme}://{self.bucket}.{self.endpoint}"


def place(uri: str, *, no_https: bool = False) -> Place:
    """Raises `Unfit` for an address without a bucket or without a host that can be told."""
    parts = urlsplit(uri)
    host, path = parts.netloc.rpartition("@")[2], parts.path.strip("/")
    scheme = "http" if no_https else "https"
    if parts.scheme == "minio" or by_path(host):
        bucket, _, prefix = path.partition("/")
        if not bucket or not host:
            raise Unfit(f"{uri} names no bucket", next_step=f"write {parts.scheme}://HOST:PORT/BUCKET/PREFIX")
        # Who gives an address of this machine or of a server of their own has no certificate for it.
        plain = parts.scheme == "minio" or no_https or local(host)
        return Place(bucket, prefix, host, region_in(host), True, "http" if plain else "https")
    bucket, _, rest = host.partition(".")
    if not bucket:
        raise Unfit(f"{uri} names no bucket", next_step=f"write {parts.scheme}://BUCKET/PREFIX")
    endpoint, region = PROVIDERS.get(parts.scheme, other)(rest)
    if not endpoint:
        raise Unfit(
            f"{uri} does not say where the bucket is",
            next_step=f"write {parts.scheme}://BUCKET.ENDPOINT/PREFIX",
        )
    return Place(bucket, path, endpoint, region, False, scheme)


def by_path(host: str) -> bool:
    """Whether the bucket stands in the path."""
    return local(host) or ":" in host or re.match(r"s3[.-].*\.amazonaws\.com", host) is not None


def local(host: str) -> bool:
    name = re.sub(r":\d+$", "", host).strip("[]")
    try:
        ip_address(name)
    except ValueError:
        return name == "localhost"
    return True


def region_in(host: str) -> str:
    found = re.search(r"s3[.-]([a-z]{2}-[a-z-]+-\d)\.", host)
    return found[1] if found else "us-east-1"


def amazon(rest: str) -> tuple[str, str]:
    return rest or "s3.us-east-1.amazonaws.com", region_in(rest)


def baidu(rest: str) -> tuple[str, str]:
    found = re.fullmatch(r"(?:s3\.)?([a-z0-9-]+)\.bcebos\.com", rest)
    if found:
        return f"s3.{found[1]}.bcebos.com", found[1]
    # The older hosts name no region: they are those of Beijing.
    return ("s3.bj.bcebos.com", "bj") if rest in ("", "bcebos.com") else (rest, "bj")


def alibaba(rest: str) -> tuple[str, str]:
    found = re.fullmatch(r"(?:s3\.)?(oss-[a-z0-9-]+?)(-internal)?\.aliyuncs\.com", rest)
    return (f"s3.{found[1]}{found[2] or ''}.aliyuncs.com", found[1]) if found else (rest, "oss")


def google(rest: str) -> tuple[str, str]:
    return rest or "storage.googleapis.com", "auto"


def by_pattern(pattern: str) -> Callable[[str], tuple[str, str]]:
    """A provider that speaks S3 at the address it is known by; *pattern* finds the region in it."""

    def found(rest: str) -> tuple[str, str]:
        match = re.search(pattern, rest)
        return rest, match[1] if match else "us-east-1"

    return found


other = by_pattern(r"(?:^|\.)(?:s3|oos|obs)[.-]([a-z0-9-]+)\.")
PROVIDERS: dict[str, Callable[[str], tuple[str, str]]] = {
    "s3": amazon,
    "bos": baidu,
    "oss": alibaba,
    "gs": google,
    "cos": by_pattern(r"cos\.([a-z0-9-]+)\.myqcloud"),
    "obs": by_pattern(r"obs\.([a-z0-9-]+)\.myhuaweicloud"),
    "ks3": by_pattern(r"ks3-([a-z0-9-]+)\."),
    "wasabi": by_pattern(r"s3\.([a-z0-9-]+)\.wasabisys"),
    "scw": by_pattern(r"s3\.([a-z0-9-]+)\.scw"),
    "space": by_pattern(r"([a-z0-9-]+)\.digitaloceanspaces"),
}

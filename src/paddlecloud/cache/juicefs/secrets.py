"""Where secrets go: out of addresses, into variables of the one process that needs them; pure.

Arguments of a process are read by every user of the machine, its variables by its owner alone. What the
client takes only as an argument is refused.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from ..engine import Keys, Unfit

META_PASSWORD = "META_PASSWORD"
WITH_PASSWORD = ("redis", "rediss", "mysql", "postgres")
"""Kinds of metadata engines whose password the client takes from `META_PASSWORD`."""
VARIABLES = {
    "bos": ("BDCLOUD_ACCESS_KEY", "BDCLOUD_SECRET_KEY"),
    "cos": ("COS_SECRETID", "COS_SECRETKEY"),
    "eos": ("EOS_ACCESS_KEY", "EOS_SECRET_KEY"),
    "minio": ("MINIO_ACCESS_KEY", "MINIO_SECRET_KEY"),
    "obs": ("HWCLOUD_ACCESS_KEY", "HWCLOUD_SECRET_KEY"),
    "oss": ("ALICLOUD_ACCESS_KEY_ID", "ALICLOUD_ACCESS_KEY_SECRET"),
    "s3": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
}
"""Where the client looks for the keys of a source that has none in its address."""
ADDRESS = re.compile(r"(?P<scheme>[a-z0-9]+)://(?:(?P<user>[^?]*)@)?(?P<rest>.*)", re.DOTALL | re.IGNORECASE)


def metadata(url: str) -> tuple[str, dict[str, str]]:
    """The address of a metadata engine without its password, and the variables with it."""
    match = ADDRESS.fullmatch(url.strip())
    if match is None:
        raise Unfit("metaurl is not an address of the form scheme://…", next_step="correct it in the Secret")
    scheme, rest = match["scheme"].lower(), match["rest"]
    if re.search(r"[?&]password=", rest):
        raise Unfit("metaurl has a password after the `?`", next_step=f"write {scheme}://user:password@…")
    if match["user"] is None and "@" in rest:
        why = "metaurl has a `?` before an `@`, so that nobody can tell where its password ends"
        raise Unfit(why, next_step="write %3F for a `?` in a password")
    user, colon, password = (match["user"] or "").partition(":")
    if match["user"] is None or not colon or not password:
        return url.strip(), {}
    if scheme not in WITH_PASSWORD:
        raise Unfit(
            f"the JuiceFS client takes a password of {scheme} only where every user of the machine reads it",
            next_step=f"use a metadata engine without one, or of {', '.join(WITH_PASSWORD)}",
        )
    bare = f"{scheme}://{user}:@{rest}" if user else f"{scheme}://{rest}"
    # The client decodes the addresses of the others, and with them the password.
    return bare, {META_PASSWORD: password if scheme == "mysql" else unquote(password)}


def source(url: str, keys: Keys | None) -> dict[str, str]:
    """The variables that open the source *url*; raises `Unfit` for keys that would have to be shown."""
    match = ADDRESS.fullmatch(url)
    if match is None:
        raise Unfit("the source is not an address of the form scheme://…", next_step="correct source.uri")
    scheme = match["scheme"].lower()
    if scheme != "file" and has_keys(url.partition("://")[2]):
        raise Unfit(
            "the address of the source has keys in it",
            next_step="put them into a Secret (access-key, secret-key) and name it in source.secretRef",
        )
    if keys is None or not (keys.access or keys.secret):
        return {}
    if scheme not in VARIABLES:
        raise Unfit(
            f"the JuiceFS client takes keys of {scheme}:// only where every user of the machine reads them",
            next_step="use s3:// or minio:// if the store speaks S3, or csi.driver: local",
        )
    return dict(zip(VARIABLES[scheme], (keys.access, keys.secret), strict=True))


def has_keys(rest: str) -> bool:
    """Whether what follows `scheme://` begins with keys, or with what can be nothing else."""
    place = re.split(r"[/?#]", rest, maxsplit=1)[0]
    user, at, _ = place.rpartition("@")
    if at:
        return ":" in user
    # A key with a slash in it ends the place of the host: what stands there is no port then.
    bare = re.sub(r"\[[^]]*\]", "", place)
    return any(
        not port.isdecimal() for _, colon, port in (p.partition(":") for p in bare.split(",")) if colon
    )


def storage(keys: Keys | None) -> dict[str, str]:
    """The variables with which a file system is formatted."""
    return {"ACCESS_KEY": keys.access, "SECRET_KEY": keys.secret} if keys else {}

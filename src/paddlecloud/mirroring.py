"""What is read instead of an address, by a table of prefixes; pure, and small enough for a program in a pod.

A prefix ends where a path segment does; of several that fit, the longest counts. Containers are told of the
addresses of downloads in the variable `PADDLECLOUD_MIRRORS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

VARIABLE = "PADDLECLOUD_MIRRORS"
DOWNLOADS = ("http://", "https://")


def told(table: Mapping[str, str]) -> dict[str, str]:
    """The variable for containers: the mirrors of downloads, if there are any."""
    downloads = {prefix: url for prefix, url in table.items() if prefix.startswith(DOWNLOADS)}
    return {VARIABLE: json.dumps(downloads, sort_keys=True)} if downloads else {}


def heard(environ: Mapping[str, str]) -> dict[str, str]:
    """The table of `told`, in a container."""
    found: dict[str, str] = json.loads(environ.get(VARIABLE) or "{}")
    return found


def mirrored(uri: str, table: Mapping[str, str]) -> str:
    """What to read for *uri*: itself where no mirror is named.

    A user and password before the host are not compared; a mirror of the same kind is asked with them.
    """
    scheme, user, _ = apart(uri)
    meant = bare(uri)
    fitting = [prefix for prefix in table if covers(prefix, meant)]
    if not fitting:
        return uri
    prefix = max(fitting, key=len)
    below, to = meant[len(prefix) :].lstrip("/"), table[prefix]
    kind, own, place = apart(to)
    if user and not own and kind == scheme:
        to = f"{kind}://{user}@{place}"
    return f"{to.rstrip('/')}/{below}" if below else to


def covers(prefix: str, uri: str) -> bool:
    return f"{uri}/".startswith(prefix.rstrip("/") + "/")


def bare(uri: str) -> str:
    scheme, _, rest = apart(uri)
    return f"{scheme}://{rest}"


def apart(uri: str) -> tuple[str, str, str]:
    """Scheme, user with password, and the rest."""
    scheme, _, rest = uri.partition("://")
    place = rest.partition("/")[0]
    # A password may have a slash in it; what follows the colon is no port then.
    keys = "@" in place or re.search(r":(?!\d*$)", re.sub(r"\[[^]]*\]", "", place))
    user, _, host = rest.rpartition("@") if keys and "@" in rest else ("", "", rest)
    return scheme, user, host

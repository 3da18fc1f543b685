"""Requests for certificates: who asked is the server's to say, and what was asked for never changes; pure.

Nobody signs here: a request can be made, approved or denied, as an administrator and their tools expect.
"""

from __future__ import annotations

from typing import Any

from .users import User

Body = dict[str, Any]
REQUESTS = "certificates.k8s.io/certificatesigningrequests"
ASKER = ("username", "uid", "groups", "extra")


def admit(user: User, now: str, body: Body, old: Body | None) -> None:
    """Fill in what clients may not say of a request, and put back what they may not change."""
    if old is not None:
        body["spec"] = old["spec"]
    else:
        said = {key: value for key, value in body["spec"].items() if key not in ASKER}
        body["spec"] = said | user.info()
    for condition in (body.get("status") or {}).get("conditions") or ():
        for stamp in ("lastUpdateTime", "lastTransitionTime"):
            condition[stamp] = condition.get(stamp) or now

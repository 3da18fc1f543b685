"""Paddle Serving's web service: `POST /<name>/prediction`, feeds in, a result out.

{"feed": [{var: sample, …}, …], "fetch": [name, …]}     one entry a sample, stacked to a batch
{"feed": {var: array, …},       "fetch": [name, …]}     one sample, or a whole batch
"""

from __future__ import annotations

from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]

from ...errors import BadRequest
from ..http1 import Response
from ..signature import Arrays, Signature
from ..tensors import check_names, sample, whole
from .dialect import Fed, FeedDialect, dumped


def read(body: dict[str, Any]) -> Fed:
    if "feed" not in body or "fetch" not in body:
        raise BadRequest('the body must be a JSON object with "feed" and "fetch"')
    return Fed(body["feed"], body["fetch"])


def write(_: Fed, result: Any) -> Response:
    return Response(200, dumped({"result": result}))


DIALECT = FeedDialect("webservice", read, write)


def arrays_of(feed: Any, signature: Signature) -> Arrays:
    """The arrays of a feed, each fitting the signature."""
    if isinstance(feed, dict):
        check_names(feed, signature, '"feed"')
        return {t.name: whole(feed[t.name], t, signature, f'"feed".{t.name}') for t in signature.inputs}
    entries = listed(feed, f"; {signature}")
    for number, entry in enumerate(entries):
        check_names(entry, signature, f'"feed"[{number}]')
    return {
        t.name: stacked(
            [sample(e[t.name], t, signature, f'"feed"[{n}].{t.name}') for n, e in enumerate(entries)]
        )
        for t in signature.inputs
    }


def stacked(samples: list[Any]) -> Any:
    return samples[0] if len(samples) == 1 else np.concatenate(samples)


def listed(feed: Any, told: str = "") -> list[Any]:
    """A feed as a list of entries."""
    if isinstance(feed, dict):
        return [feed]
    if not isinstance(feed, list) or not feed:
        raise BadRequest(f'"feed" must be an object or a list of at least one object{told}')
    return feed

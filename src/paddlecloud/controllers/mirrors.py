"""Mirrors: what is read instead of an address, for places that do not see the original; pure.

    bos://paddleflow-public.hkg.bcebos.com: file:///data/public
    redis://192.168.7.227:6379: redis://127.0.0.1:6379

A prefix ends where a path segment does; of several that fit, the longest counts. The cluster's table is the
ConfigMap `paddlecloud/mirrors`, which many may read: nothing secret is ever in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import yaml

from ..api.core import ConfigMap
from ..api.sampleset import SampleSet
from ..errors import WrongUse
from ..mirroring import apart, bare, covers, mirrored
from .contract import Ref, Snapshot

NAMESPACE, NAME, KEY = "paddlecloud", "mirrors", "mirrors.yaml"
TROUBLE = "trouble"
"""Why the newest table could not be understood."""
FORM = "write lines of the form `PREFIX: URL`"
ADDRESS = re.compile(r"[a-z][a-z0-9]*://.")
TABLE = Ref(ConfigMap, NAMESPACE, NAME)


class Mirrors(NamedTuple):
    table: Mapping[str, str] = MappingProxyType({})
    trouble: str = ""

    def of(self, uri: str) -> str:
        return mirrored(uri, self.table)


def mirrors_of(seen: Snapshot) -> Mirrors:
    """The table of the cluster; one that cannot be understood is empty and says why."""
    found = next((m for m in seen.all(ConfigMap) if (m.namespace, m.name) == (NAMESPACE, NAME)), None)
    if found is None:
        return Mirrors()
    try:
        return Mirrors(parsed(found.data.get(KEY, "")), found.data.get(TROUBLE, ""))
    except WrongUse as error:
        return Mirrors(trouble=f"the ConfigMap {NAME} in namespace {NAMESPACE}: {error.message}")


def read_from(data: SampleSet, mirrors: Mirrors) -> SampleSet:
    """The set as if it had named the mirror of its source."""
    source = data.spec.source
    if source is None or (uri := mirrors.of(source.uri)) == source.uri:
        return data
    return data.but(spec=data.spec.but(source=source.but(uri=uri)))


@lru_cache(4)
def parsed(text: str) -> Mapping[str, str]:
    """The table that *text* is. Raises `WrongUse` for one that cannot be understood."""
    try:
        said = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        # Only the place: what stands there may be secret.
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else "the text"
        raise WrongUse(f"{where} is no YAML", next_step=FORM) from error
    if not isinstance(said, dict) or not all(isinstance(x, str) for pair in said.items() for x in pair):
        raise WrongUse("it is no table of mirrors", next_step=FORM)
    for prefix, url in said.items():
        if not (ADDRESS.match(prefix) and ADDRESS.match(url)):
            raise WrongUse(f"{shown(prefix)} is no address, or its mirror is none", next_step=FORM)
    return MappingProxyType({bare(prefix): url for prefix, url in said.items()})


def root_of(uri: str, table: Mapping[str, str]) -> str:
    """The mirror that *uri* is a part of, as a whole; itself where it is part of none."""
    return min((to for to in table.values() if covers(to, uri)), key=len, default=uri)


def without_secrets(table: Mapping[str, str]) -> dict[str, str]:
    """The table for all to read: no password, and nothing after a `?`."""
    return {prefix: shown(url) for prefix, url in table.items()}


def shown(uri: str) -> str:
    scheme, user, rest = apart(uri)
    name = user.partition(":")[0]
    return f"{scheme}://{name}@{rest}".replace("://@", "://").partition("?")[0]

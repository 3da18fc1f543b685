"""Keeps the ConfigMap `paddlecloud/mirrors` as the file `mirrors.yaml` of the home says, without its secrets.

The file alone counts: what somebody else writes into the ConfigMap goes at the next look. A file that cannot
be understood leaves the mirrors as they were, and its trouble is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from ...api.core import ConfigMap
from ...api.meta import Key, Metadata, Resource
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...controllers.mirrors import KEY, NAME, NAMESPACE, TROUBLE, without_secrets
from ...errors import AlreadyExists, Conflict, NotFound, WrongUse
from ..mirrorfile import mirrors_in

EVERY = 1.0
"""Seconds between two looks at the file."""
PLACE = Key(NAMESPACE, NAME)


def concerns(old: Resource | None, new: Resource | None) -> bool:
    """Whether a change is one of the ConfigMap that is kept: each look reads the file."""
    found = new or old
    return found is not None and found.key == PLACE


class MirrorKeeping:
    def __init__(self, client: Client, maps: Informer[ConfigMap], file: Path) -> None:
        self._client, self._maps, self._file = client, maps, file

    async def look(self) -> None:
        found = self._maps.get(PLACE)
        have = found.data if found else {}
        want = wanted(self._file, have)
        if want == have:
            return
        try:
            if found is None:
                await self._client.create(
                    ConfigMap(metadata=Metadata(name=NAME, namespace=NAMESPACE), data=want)
                )
            else:
                gone = dict.fromkeys(have.keys() - want.keys())
                await self._client.patch(ConfigMap, PLACE, {"data": {**gone, **want}})
        except (AlreadyExists, Conflict, NotFound):
            return  # the next look sees what is there


def wanted(file: Path, have: Mapping[str, str]) -> dict[str, str]:
    """What the ConfigMap is to hold, where it holds *have* now."""
    try:
        table = without_secrets(mirrors_in(file))
    except WrongUse as error:
        kept = {KEY: have[KEY]} if KEY in have else {}
        return {**kept, TROUBLE: f"{error.message}; the mirrors stay as they were"}
    return {KEY: yaml.safe_dump(table, allow_unicode=True)} if table else {}

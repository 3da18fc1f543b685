"""YAML as the JSON it stands for, read so that no text of a few lines can become gigabytes; pure."""

from __future__ import annotations

from typing import Any

import orjson
import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MOST_ALIASES = 100  # a few repeat a part; thousands of them are a bomb


def yaml_object(content: bytes) -> Any:
    """The object; raises `ValueError` or `TypeError` for what JSON cannot say, `YAMLError` for no YAML."""
    aliases = sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(content, LOADER))
    if aliases > MOST_ALIASES:
        raise ValueError(f"it repeats parts of itself {aliases} times; {MOST_ALIASES} is the most")
    return orjson.loads(orjson.dumps(yaml.load(content, LOADER)))

"""Configuration files of the Paddle suites: YAML with bases, tags, and changes from the command line.

A configuration is a tree of dictionaries. What is asked of it and not there, or of the wrong kind, is a
`BadConfiguration` that names the key; what nobody asks for is accepted and left aside.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

Tree = dict[str, Any]
MISSING = object()


class BadConfiguration(Exception):
    """The configuration says what cannot be done; the text says why."""


class Reader(yaml.SafeLoader):
    """Tags name the class of a mapping: `!COCODataSet {…}` is a mapping whose `name` is COCODataSet."""


def tagged(reader: Reader, suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return {"name": suffix, **reader.construct_mapping(node, deep=True)}
    if isinstance(node, yaml.SequenceNode):
        return reader.construct_sequence(node, deep=True)
    return {"name": suffix}


Reader.add_multi_constructor("!", tagged)


def read(path: Path, changes: Iterable[str] = ()) -> Tree:
    """What the file says, with its bases below it and the *changes* (`Global.epoch_num=10`) above it."""
    tree = loaded(path)
    for text in changes:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise BadConfiguration(f"-o {text} is not of the form KEY=VALUE")
        put(tree, key, parsed(value, text))
    return tree


def loaded(path: Path) -> Tree:
    try:
        said = yaml.load(path.read_text(encoding="utf-8"), Reader)
    except OSError as error:
        raise BadConfiguration(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{path} is no YAML: {error}") from error
    if not isinstance(said, dict):
        raise BadConfiguration(f"{path} is not a mapping of keys to values")
    tree: Tree = {}
    for base in said.pop("_BASE_", None) or ():
        merge(tree, loaded(path.parent / str(base)))
    merge(tree, said)
    return tree


def merge(tree: Tree, over: Tree) -> None:
    """Put *over* over *tree*; mappings are joined, everything else is replaced."""
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(tree.get(key), dict):
            merge(tree[key], value)
        else:
            tree[key] = value


def parsed(value: str, text: str) -> Any:
    try:
        return yaml.load(value, Reader)
    except yaml.YAMLError as error:
        raise BadConfiguration(f"-o {text}: the value is no YAML") from error


def put(tree: Any, key: str, value: Any) -> None:
    """Set what a path of keys names; numbers name elements of lists."""
    *outer, last = key.split(".")
    place = tree
    for word in outer:
        if isinstance(place, dict):
            place = place.setdefault(word, {})
            continue
        place = element(place, word, key)
    if isinstance(place, dict):
        place[last] = value
    else:
        element(place, last, key)
        place[int(last)] = value


def element(place: Any, word: str, key: str) -> Any:
    if not isinstance(place, list) or not word.isdigit() or int(word) >= len(place):
        raise BadConfiguration(f"-o {key}: there is no {word} to change")
    return place[int(word)]


def get(tree: Any, key: str, default: Any = MISSING) -> Any:
    """What a path of keys names; an empty value is absent. Raises `BadConfiguration` without default."""
    place = tree
    for word in key.split("."):
        place = place.get(word) if isinstance(place, dict) else None
    if place is not None:
        return place
    if default is MISSING:
        raise BadConfiguration(f"the configuration has no {key}")
    return default


def number(tree: Any, key: str, default: Any = MISSING, least: float = 0) -> float:
    """A number that is not below *least*; YAML reads `1e-3` as a text, which is one too."""
    value = get(tree, key, default)
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise BadConfiguration(f"{key} is {value!r}, which is no number") from None
    if isinstance(value, bool) or not found >= least:
        raise BadConfiguration(f"{key} is {value!r}; a number from {least:g} on is needed")
    return found


def whole(tree: Any, key: str, default: Any = MISSING, least: int = 0) -> int:
    found = number(tree, key, default, least)
    if found != int(found):
        raise BadConfiguration(f"{key} is {found:g}; a whole number is needed")
    return int(found)


def path_of(tree: Any, key: str) -> Path | None:
    value = get(tree, key, None)
    return Path(str(value)) if value else None


def step_of(transforms: Any, name: str) -> Tree:
    """What a list of transforms says about one of them; empty where it does not name it."""
    for entry in transforms or ():
        if isinstance(entry, dict) and name in entry:
            return entry[name] or {}
    return {}

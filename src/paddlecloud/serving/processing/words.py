"""Texts as ids of their characters, and tags of characters as words.

Pure. A character that the vocabulary does not have gets the id of the unknown one; no text is refused for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...errors import BadRequest, Failed

UNKNOWN = "OOV"
LONGEST = 4096
BEGIN = ("B", "S")
"""Tags, or ends of tags, with which a word begins."""


def read_vocabulary(file: Path) -> dict[str, int]:
    """`id<TAB>character` a line, or one character a line in the order of their ids. Raises `Failed`."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Failed(f"cannot read the vocabulary in {file}: {error}") from error
    result = {}
    for number, line in enumerate(lines):
        index, tab, character = line.partition("\t")
        result[character if tab else line] = int(index) if tab and index.isdigit() else number
    return result


def characters(text: object, where: str) -> list[str]:
    """Raises `BadRequest` that names *where*."""
    if not isinstance(text, str) or not text.strip():
        raise BadRequest(f"{where} must be a text")
    if len(text) > LONGEST:
        raise BadRequest(f"{where} has {len(text)} characters, at most {LONGEST} are taken")
    return list(text.strip())


def ids(letters: Sequence[str], vocabulary: Mapping[str, int]) -> list[int]:
    unknown = vocabulary.get(UNKNOWN, 0)
    return [vocabulary.get(letter, unknown) for letter in letters]


def joined(letters: Sequence[str], tags: Sequence[str], separator: str = "|") -> str:
    """The words that the tags mark, as `我|爱|北京|天安门`."""
    words: list[str] = []
    for letter, tag in zip(letters, tags, strict=False):
        if words and not tag.endswith(BEGIN):
            words[-1] += letter
        else:
            words.append(letter)
    return separator.join(words)

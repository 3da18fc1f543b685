"""Label files of PaddleOCR: `path TAB label` a line; what they say wrong is a sentence with the line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from kit.configuration import BadConfiguration, get

UNREADABLE = ("*", "###")


@dataclass(frozen=True)
class Page:
    image: Path
    polygons: list[np.ndarray]
    ignored: list[bool]


@dataclass(frozen=True)
class Word:
    image: Path
    said: str


def pages(config: Any, split: str) -> list[Page]:
    found = []
    for file, line, image, label in lines(config, split):
        try:
            entries = json.loads(label)
            polygons = [np.array(entry["points"], "float64").reshape(-1, 2) for entry in entries]
            ignored = [entry["transcription"] in UNREADABLE for entry in entries]
        except (ValueError, KeyError, TypeError) as error:
            raise BadConfiguration(
                f"{file} line {line}: the label is not a list of transcriptions with points ({error})"
            ) from error
        found.append(Page(image, polygons, ignored))
    return found


def words(config: Any, split: str) -> list[Word]:
    return [Word(image, label) for _, _, image, label in lines(config, split)]


def lines(config: Any, split: str) -> Iterator[tuple[Path, int, Path, str]]:
    """File, line, path of the picture, and label of every entry of a split."""
    folder = Path(str(get(config, f"{split}.dataset.data_dir")))
    files = get(config, f"{split}.dataset.label_file_list")
    count = 0
    for file in [Path(str(name)) for name in (files if isinstance(files, list) else [files])]:
        try:
            content = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise BadConfiguration(
                f"{split}.dataset.label_file_list: {file} cannot be read ({reason}); "
                "python make_data.py makes a small data set"
            ) from error
        for number, line in enumerate(content, 1):
            path, tab, label = line.partition("\t")
            if not tab:
                raise BadConfiguration(f"{file} line {number} is not of the form `path TAB label`")
            if not (folder / path).is_file():
                raise BadConfiguration(
                    f"{file} line {number}: {folder / path} is not there ({split}.dataset.data_dir)"
                )
            count += 1
            yield file, number, folder / path, label
    if not count:
        raise BadConfiguration(f"{split}.dataset.label_file_list names no picture")

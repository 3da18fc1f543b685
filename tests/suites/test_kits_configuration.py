"""Configuration files of the suites: bases, tags, changes, and sentences for what they say wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.suites.kits import CODE, module

configuration = module("kit.configuration")
Bad = configuration.BadConfiguration


@pytest.mark.parametrize(
    "change, key, value",
    [
        ("Global.epoch_num=10", "Global.epoch_num", 10),
        ("Global.pretrained_model=./a/b=c", "Global.pretrained_model", "./a/b=c"),
        ('Train.files=["/mnt/a.txt"]', "Train.files", ["/mnt/a.txt"]),
        ("Global.use_gpu=false", "Global.use_gpu", False),
        ("New.key.deep=1e-3", "New.key.deep", "1e-3"),
        ("list.1.size=7", "list", [1, {"size": 7}]),
        ("list.0=2", "list", [2, {"size": 3}]),
    ],
)
def test_a_change_replaces_one_value(tmp_path: Path, change: str, key: str, value: Any) -> None:
    (tmp_path / "c.yml").write_text("Global: {epoch_num: 1, use_gpu: true}\nlist: [1, {size: 3}]\n")
    assert configuration.get(configuration.read(tmp_path / "c.yml", [change]), key) == value


def test_bases_lie_below_and_tags_name_what_a_mapping_is(tmp_path: Path) -> None:
    (tmp_path / "base.yml").write_text("epoch: 12\nreader: {size: 8, shuffle: true}\n")
    (tmp_path / "c.yml").write_text(
        "_BASE_: [base.yml]\nreader: {size: 4}\n"
        "data: !COCODataSet\n  image_dir: images\nrest: [!Cosine {a: 1}]\n"
    )
    assert configuration.read(tmp_path / "c.yml") == {
        "epoch": 12,
        "reader": {"size": 4, "shuffle": True},
        "data": {"name": "COCODataSet", "image_dir": "images"},
        "rest": [{"name": "Cosine", "a": 1}],
    }


@pytest.mark.parametrize(
    "text, changes, said",
    [
        ("[1, 2]", [], "is not a mapping"),
        ("a: [", [], "is no YAML"),
        ("_BASE_: [gone.yml]", [], "gone.yml cannot be read"),
        ("a: 1", ["a"], "not of the form KEY=VALUE"),
        ("a: 1", ["a=["], "the value is no YAML"),
        ("a: [1]", ["a.3=1"], "there is no 3 to change"),
        ("a: 1", ["a.b.c=1"], "there is no b to change"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(tmp_path: Path, text: str, changes: list[str], said: str) -> None:
    (tmp_path / "c.yml").write_text(text)
    with pytest.raises(Bad, match=said):
        configuration.read(tmp_path / "c.yml", changes)


@pytest.mark.parametrize(
    "value, least, said",
    [("1e-3", 0, None), (True, 0, "a number from 0 on"), ("fast", 0, "no number"), (0, 1, "from 1 on")],
)
def test_a_number_is_one_or_its_key_is_named(value: Any, least: int, said: str | None) -> None:
    tree = {"Optimizer": {"lr": value}}
    if said is None:
        assert configuration.number(tree, "Optimizer.lr", least=least) == 0.001
    else:
        with pytest.raises(Bad, match=rf"Optimizer\.lr is .*{said}"):
            configuration.number(tree, "Optimizer.lr", least=least)


@pytest.mark.parametrize("file", sorted(str(p.relative_to(CODE)) for p in CODE.rglob("*.y*ml")))
def test_every_shipped_configuration_can_be_read(file: str) -> None:
    assert configuration.read(CODE / file)

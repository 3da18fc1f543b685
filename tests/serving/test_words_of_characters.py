"""Texts to ids and tags to words."""

from pathlib import Path

import pytest

from paddlecloud.errors import BadRequest
from paddlecloud.serving.processing.words import characters, ids, joined, read_vocabulary


@pytest.mark.parametrize(
    "tags, words",
    [
        ("B B B I B I I", "我|爱|北京|天安门"),
        ("r-B v-B LOC-B LOC-I LOC-B LOC-I LOC-I", "我|爱|北京|天安门"),
        ("S S B E B M E", "我|爱|北京|天安门"),
        ("I I I I I I I", "我爱北京天安门"),
    ],
)
def test_tags_mark_where_words_begin(tags: str, words: str) -> None:
    assert joined("我爱北京天安门", tags.split()) == words


@pytest.mark.parametrize("lines", ["0\tOOV\n7\t北\n9\t京\n", "OOV\n北\n京\n"], ids=["numbered", "in order"])
def test_an_unknown_character_has_an_id_too(tmp_path: Path, lines: str) -> None:
    (tmp_path / "word.dic").write_text(lines, encoding="utf-8")
    vocabulary = read_vocabulary(tmp_path / "word.dic")
    assert ids("北京城", vocabulary) == [vocabulary["北"], vocabulary["京"], 0]


@pytest.mark.parametrize(
    "text, told", [(3, "must be a text"), (" ", "must be a text"), ("长" * 5000, "5000")]
)
def test_what_is_no_text_is_refused_by_its_field(text: object, told: str) -> None:
    with pytest.raises(BadRequest, match=rf'"feed"\[0\]\.words .*{told}'):
        characters(text, '"feed"[0].words')

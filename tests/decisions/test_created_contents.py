"""What `pdc create` makes of files and texts."""

from pathlib import Path

import pytest

from paddlecloud.cli.creating import collected, config_map
from paddlecloud.errors import WrongUse


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text("a: 1\n")
    (tmp_path / "b.bin").write_bytes(b"\xff\x00")
    (tmp_path / "below").mkdir()
    return tmp_path


def test_a_file_has_its_name_or_the_one_it_is_given_and_a_folder_gives_all_its_files(folder: Path) -> None:
    assert collected((f"{folder}/a.yaml",), ()) == {"a.yaml": b"a: 1\n"}
    assert collected((f"other={folder}/a.yaml",), ("x=y=z",)) == {"other": b"a: 1\n", "x": b"y=z"}
    assert set(collected((str(folder),), ())) == {"a.yaml", "b.bin"}


def test_what_is_no_text_is_kept_as_bytes(folder: Path) -> None:
    made = config_map("m", "n", collected((str(folder),), ()))
    assert (made.data, made.binary_data) == ({"a.yaml": "a: 1\n"}, {"b.bin": "/wA="})


@pytest.mark.parametrize(
    "files, literals, told",
    [
        (("nowhere",), (), "nowhere cannot be read"),
        ((), ("text",), "write KEY=TEXT"),
        ((), ("=text",), "write KEY=TEXT"),
        ((), ("a=1", "a=2"), "two contents are to be called a"),
    ],
)
def test_what_cannot_be_made_is_said(files: tuple[str, ...], literals: tuple[str, ...], told: str) -> None:
    with pytest.raises(WrongUse, match=told):
        collected(files, literals)

"""Mount options: from a SampleSet to the text of a volume, and from there to arguments."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.mountoptions import cache_dirs, joined, parsed
from paddlecloud.cache.juicefs.options import arguments
from paddlecloud.errors import WrongUse


@pytest.mark.parametrize(
    "asked, folders, text",
    [
        ({}, ["/a"], "cache-dir=/a"),
        ({"writeback": False, "attr-cache": 0, "cache-dir": "", "sub-dir": None}, ["/a"], "cache-dir=/a"),
        ({"cache-dir": "/x"}, ["/a/", "/b", "/a"], "cache-dir=/a:/b"),
        (
            {"writeback": True, "enable-xattr": True, "free-space-ratio": "0.2", "sub-dir": "/x"},
            ["/a"],
            "cache-dir=/a,enable-xattr,free-space-ratio=0.2,sub-dir=/x,writeback",
        ),
    ],
)
def test_options_become_one_text_that_is_read_again(
    asked: dict[str, Any], folders: list[str], text: str
) -> None:
    assert joined(asked, folders) == text
    assert ":".join(cache_dirs(parsed(text))) in text


@pytest.mark.parametrize(
    "asked, folders, why",
    [
        ({"free-space-ratio": "1.0"}, [], "at least 0 and less than 1"),
        ({"free-space-ratio": "nan"}, [], "at least 0 and less than 1"),
        ({"free-space-ratio": "much"}, [], "at least 0 and less than 1"),
        ({}, ["relative"], "not an absolute path"),
        ({}, ["/a/../etc"], "not an absolute path"),
        ({}, ["/"], "not an absolute path"),
        ({}, ["/a,o=b"], "a comma or a space"),
        ({"sub-dir": "/a b"}, [], "a comma or a space"),
        ({"prefetch": "3"}, [], "a whole number"),
        ({"prefetch": -1}, [], "a whole number"),
        ({"writeback": "yes"}, [], "true or false"),
        ({"consul": "x"}, [], "not known"),
        ({"log": ""}, [], "not known"),
    ],
)
def test_options_no_mount_can_be_made_with(asked: dict[str, Any], folders: list[str], why: str) -> None:
    with pytest.raises(WrongUse, match=why):
        joined(asked, folders)


@pytest.mark.parametrize(
    "text, found",
    [
        ("", {}),
        ("writeback, prefetch=3,", {"writeback": True, "prefetch": "3"}),
        ("writeback=false,prefetch=3,prefetch=4", {"writeback": False, "prefetch": "4"}),
        ("cache-dir=/a/b,cache-size=7", {"cache-dir": "/a/b", "cache-size": "7"}),
    ],
)
def test_the_text_of_a_volume_is_read(text: str, found: dict[str, object]) -> None:
    assert parsed(text) == found


@pytest.mark.parametrize(
    "text, why",
    [
        ("--force", "not known"),
        ("update-fstab", "not known"),
        ("writeback=1", "has no value"),
        ("prefetch", "needs a value"),
        ("prefetch=many", "a whole number"),
        ("cache-dir=/a:../b", "not an absolute path"),
        ("free-space-ratio=2", "at least 0 and less than 1"),
    ],
)
def test_a_text_that_no_mount_can_be_made_with(text: str, why: str) -> None:
    with pytest.raises(WrongUse, match=why):
        parsed(text)


def test_arguments_name_the_flags_of_the_client_and_the_folders_given() -> None:
    said = parsed("sub-dir=/x,writeback,enable-xattr=false,cache-dir=/a:/b,cache-size=5")
    assert arguments(said, ["/n/a", "/n/b"]) == [
        "--cache-dir=/n/a:/n/b", "--cache-size=5", "--metrics=127.0.0.1:0", "--subdir=/x", "--writeback",
    ]  # fmt: skip

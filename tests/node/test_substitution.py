from __future__ import annotations

from pathlib import Path

import pytest

from paddlecloud.embedded.node.obstacles import VolumeMissing
from paddlecloud.embedded.node.substitution import Paths, checked_mount_path, expand

PATHS = Paths(
    {"/mnt/data": Path("/real/data"), "/mnt/data/deep": Path("/real/deep"), "/mnt": Path("/real/mnt/data")}
)


@pytest.mark.parametrize(
    "text, result",
    [
        ("/mnt/data", "/real/data"),
        ("/mnt/data/", "/real/data/"),
        ("/mnt/data/x.csv", "/real/data/x.csv"),
        ("/mnt/data/deep/x", "/real/deep/x"),
        ("/mnt/data/deeper", "/real/data/deeper"),
        ("/mnt/database", "/real/mnt/data/database"),
        ("/mnt/data.old", "/real/mnt/data/data.old"),
        ("/mntx", "/mntx"),
        ("/x/mnt/data", "/x/mnt/data"),
        ("x/mnt/data", "x/mnt/data"),
        ("./mnt/data", "./mnt/data"),
        ("~/mnt/data", "~/mnt/data"),
        ("${ROOT}/mnt/data", "${ROOT}/mnt/data"),
        ("$(ROOT)/mnt/data", "$(ROOT)/mnt/data"),
        ("--data=/mnt/data", "--data=/real/data"),
        ("file:///mnt/data/x", "file:///real/data/x"),
        ("/mnt/data:/mnt/data/deep:/usr", "/real/data:/real/deep:/usr"),
        (
            "cat '/mnt/data/a b' > /mnt/data/c; ls /mnt/data",
            "cat '/real/data/a b' > /real/data/c; ls /real/data",
        ),
        ("数据/mnt/data", "数据/mnt/data"),
        ("", ""),
    ],
)
def test_paths_of_volumes_become_real_ones_by_whole_components(text: str, result: str) -> None:
    assert PATHS.apply(text) == result


def test_what_was_put_in_is_not_replaced_again() -> None:
    assert Paths({"/a": Path("/b"), "/b": Path("/a/x")}).apply("/a /b") == "/b /a/x"


def test_without_volumes_nothing_changes() -> None:
    assert Paths({}).apply("/mnt/data") == "/mnt/data"


@pytest.mark.parametrize(
    "text, result",
    [
        ("$(A)", "1"),
        ("x$(A)y$(B)", "x1y$(A)"),
        ("$(UNKNOWN)", "$(UNKNOWN)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$A ${A}", "$A ${A}"),
        ("$(A", "$(A"),
        ("100$", "100$"),
        ("$(date +%s)", "$(date +%s)"),
    ],
)
def test_variables_are_expanded_as_kubernetes_does(text: str, result: str) -> None:
    assert expand(text, {"A": "1", "B": "$(A)"}) == result


@pytest.mark.parametrize("path", ["..", "", "/", "//", "/.", "/a/.."])
def test_a_mount_path_that_is_the_root_is_refused(path: str) -> None:
    with pytest.raises(VolumeMissing):
        checked_mount_path(path)


@pytest.mark.parametrize(
    "path, normal",
    [
        ("/mnt/data/", "/mnt/data"),
        ("//mnt//data", "/mnt/data"),
        ("data", "/data"),
        ("./data", "/data"),
        ("/a/../b", "/b"),
        ("../../b", "/b"),
    ],
)
def test_a_mount_path_is_read_from_the_root_as_a_kubelet_does(path: str, normal: str) -> None:
    assert checked_mount_path(path) == normal

from __future__ import annotations

from pathlib import Path

import pytest

from paddlecloud.embedded.node import suites
from paddlecloud.embedded.node.obstacles import ImageUnknown
from paddlecloud.errors import WrongUse


def a_suite(root: Path, name: str, *images: str, more: str = "") -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "suite.yaml").write_text(f"name: {name}\nimages: [{', '.join(images)}]\n{more}")
    return folder


@pytest.mark.parametrize(
    "image",
    [
        "paddlecloud/shapes",
        "paddlecloud/shapes:latest",
        "paddlecloud/shapes@sha256:0123",
        "paddlecloud/shapes:1.0@sha256:0123",
        "hub.example.com:5000/team/shapes:2",
    ],
)
def test_a_suite_answers_to_its_names_whatever_the_tag(tmp_path: Path, image: str) -> None:
    a_suite(tmp_path, "shapes", "paddlecloud/shapes", "hub.example.com:5000/team/shapes")
    assert suites.resolve(image, [tmp_path]).name == "shapes"


@pytest.mark.parametrize("image", ["shapes", "other.example.com/paddlecloud/shapes", "team/shapes"])
def test_another_registry_or_path_is_another_image(tmp_path: Path, image: str) -> None:
    a_suite(tmp_path, "shapes", "paddlecloud/shapes")
    with pytest.raises(ImageUnknown, match="closest: paddlecloud/shapes"):
        suites.resolve(image, [tmp_path])


def test_an_unknown_image_is_refused_with_the_closest_names_and_what_exists(tmp_path: Path) -> None:
    a_suite(tmp_path, "shapes", "paddlecloud/shapes")
    a_suite(tmp_path, "ocr", "paddlecloud/ocr")
    with pytest.raises(ImageUnknown) as caught:
        suites.resolve("paddlecloud/shape:1", [tmp_path])
    assert "paddlecloud/shape:1; closest: paddlecloud/shapes" in caught.value.message
    assert "paddlecloud/ocr, paddlecloud/shapes" in caught.value.next_step
    assert caught.value.reason == "ErrImagePull"


def test_a_folder_of_the_users_wins_over_a_shipped_one(tmp_path: Path) -> None:
    a_suite(tmp_path / "shipped", "shapes", "paddlecloud/shapes")
    own = a_suite(tmp_path / "own", "shapes", "paddlecloud/shapes")
    assert suites.resolve("paddlecloud/shapes", [tmp_path / "own", tmp_path / "shipped"]).folder == own
    assert suites.folders(f"{tmp_path}:/x")[:2] == [tmp_path, Path("/x")]


def test_a_misspelled_description_is_refused_with_its_path(tmp_path: Path) -> None:
    folder = a_suite(tmp_path, "shapes", "paddlecloud/shapes", more="requirement: x\n")
    with pytest.raises(WrongUse, match=f"{folder}/suite.yaml"):
        suites.resolve("paddlecloud/shapes", [tmp_path])


def test_a_description_that_changed_is_read_again(tmp_path: Path) -> None:
    folder = a_suite(tmp_path, "shapes", "paddlecloud/shapes")
    assert suites.read(folder).says.at == "/workspace"
    (folder / "suite.yaml").write_text("name: shapes\nimages: [paddlecloud/shapes]\nat: /elsewhere\n")
    assert suites.read(folder).says.at == "/elsewhere"

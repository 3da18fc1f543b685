"""Names of published images."""

from __future__ import annotations

import importlib.util

import pytest

from paddlecloud.settings import shipped

SPEC = importlib.util.spec_from_file_location("image_tag", shipped("suites") / "kits" / "image_tag.py")
assert SPEC and SPEC.loader
image_tag = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(image_tag)


@pytest.mark.parametrize(
    "toolkit, branch, paddle, commit, stem",
    [
        (
            "PaddleOCR",
            "release/2.5",
            "2.3.0-gpu-cuda10.2-cudnn7",
            "efbb0a9c1d",
            "paddleocr:2.5-gpu-cuda10.2-cudnn7",
        ),
        ("PaddleOCR", "release/2.5", "2.3.0", "efbb0a9c1d", "paddleocr:2.5-cpu"),
        ("PaddleNLP", "develop", "2.3.0", "efbb0a", "paddlenlp:develop-cpu"),
        ("PaddleRec", "master", "2.3.0-rocm4.0", "efbb0a", "paddlerec:master-rocm4.0"),
    ],
)
def test_the_name_of_an_image_says_what_it_was_built_from(
    toolkit: str, branch: str, paddle: str, commit: str, stem: str
) -> None:
    assert image_tag.image_names("paddlecloud", toolkit, branch, paddle, commit) == (
        f"paddlecloud/{stem}-efbb0a",
        f"paddlecloud/{stem}-latest",
    )

"""The names of a suite's image, by the rule that published images follow.

    python image_tag.py REGISTRY TOOLKIT BRANCH PADDLE_TAG COMMIT

`release/2.5` is 2.5, the kind of machine is what follows the version of Paddle, `cpu` where nothing does, and
a commit is its first six digits: paddlecloud/paddleocr:2.5-gpu-cuda10.2-cudnn7-efbb0a.
"""

from __future__ import annotations

import sys


def image_names(registry: str, toolkit: str, branch: str, paddle_tag: str, commit: str) -> tuple[str, str]:
    """The name of exactly this commit, and the one of the latest."""
    version = branch[-3:] if branch.startswith("release") else branch
    machine = paddle_tag.partition("-")[2] or "cpu"
    stem = f"{registry}/{toolkit.lower()}:{version}-{machine}"
    return f"{stem}-{commit[:6]}", f"{stem}-latest"


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(f"usage: {sys.argv[0]} REGISTRY TOOLKIT BRANCH PADDLE_TAG COMMIT")
    print("\n".join(image_names(*sys.argv[1:])))

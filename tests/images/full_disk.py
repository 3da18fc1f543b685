"""Unpacks a layer with more files than the file system has room for, and tells how that ended."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from tests.images.making import file, sha, tar

from paddlecloud.images import layers
from paddlecloud.images.failures import ImageFailure
from paddlecloud.images.layout import Store
from paddlecloud.images.manifests import Descriptor


def main(root: Path) -> None:
    content = tar(file(f"file-{number}") for number in range(200))
    packed = gzip.compress(content)
    store = Store(root / "images")
    store.put(packed)
    try:
        layers.unpack(store, Descriptor(sha(packed), len(packed)), sha(content))
    except ImageFailure as failure:
        print(type(failure).__name__)
    print("left:", [p.name for f in ("tmp", "layers") for p in (root / "images" / f).glob("*")])


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""The test images of a data set as questions with their answers, for whoever asks a served model.

    python questions.py DATA FILE

One JSON object a line: `{"feed": {"image": [[[0, 13, …], …]]}, "answer": 2}`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def main() -> int:
    data, file = map(Path, sys.argv[1:])
    lines = [json.dumps(question, separators=(",", ":")) for question in questions(data)]
    file.write_text("".join(f"{line}\n" for line in lines))
    print(f"{len(lines)} questions in {file}")
    return 0


def questions(data: Path) -> Iterator[dict[str, Any]]:
    import numpy as np
    from PIL import Image

    for line in (data / "test_list.txt").read_text().splitlines():
        path, _, label = line.rpartition(" ")
        with Image.open(data / path) as image:
            yield {"feed": {"image": [np.asarray(image.convert("L")).tolist()]}, "answer": int(label)}


if __name__ == "__main__":
    sys.exit(main())

"""The test rows of a data set as questions with their answers, for whoever asks a served model.

    python questions.py DATA FILE

One JSON object a line: `{"feed": {"C1": [17], …, "dense_input": [0.05, …]}, "answer": 1}`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import make_data


def main() -> int:
    data, file = map(Path, sys.argv[1:])
    lines = [json.dumps(question, separators=(",", ":")) for question in questions(data)]
    file.write_text("".join(f"{line}\n" for line in lines))
    print(f"{len(lines)} questions in {file}")
    return 0


def questions(data: Path) -> Iterator[dict[str, Any]]:
    for line in (data / make_data.FOLDERS["test"] / "part-0").read_text().splitlines():
        words = [word.partition(":")[::2] for word in line.split()]
        dense = [float(value) for name, value in words if name == "dense_feature"]
        slots = {f"C{name}": [int(value)] for name, value in words if name.isdigit()}
        yield {"feed": {**slots, "dense_input": dense}, "answer": int(dict(words)["click"])}


if __name__ == "__main__":
    sys.exit(main())

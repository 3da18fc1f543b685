"""Data sets beside other programs: copying, epochs, a slow link, and what they cost at rest.

    .venv/bin/python -m benchmarks.data [--quick] [--rounds N] [--only sync|large|warm|cold|status|rest]
                                        [--figure FILE] [--json]

Peers run in the same run and in turns with ours. Needs a machine that lets us mount (FUSE) for the rows of
`juicefs`. On a machine that others use the ratios say more than the seconds. `--figure` draws the epochs over
the slow link.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path

import uvloop

from benchmarks import dataepochs, datarest, datasync
from benchmarks.datafigure import draw
from benchmarks.datarows import Row, show

PARTS = ("sync", "large", "warm", "cold", "status", "rest")


def main() -> None:
    parser = argparse.ArgumentParser(description="Data sets beside other programs.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the files, one round")
    parser.add_argument("--rounds", type=int, help="of the parts that take turns with a peer")
    parser.add_argument("--only", choices=PARTS, action="append", help="these parts alone")
    parser.add_argument("--figure", type=Path, help="where to draw the epochs over the slow link")
    parser.add_argument("--json", action="store_true")
    wish = parser.parse_args()
    # No program of the suites may look for images or keys elsewhere.
    os.environ.setdefault("PADDLECLOUD_REGISTRIES", "local")
    rows: list[Row] = []
    notes: list[str] = []
    for part in wish.only or PARTS:
        with tempfile.TemporaryDirectory(prefix="data-") as folder:
            found, said = measured(part, Path(folder), wish)
            rows += found
            notes += said
    if wish.json:
        print(json.dumps({"notes": notes, "rows": [asdict(row) | {"ratio": row.ratio} for row in rows]}))
    else:
        show(rows, notes)


def measured(part: str, folder: Path, wish: argparse.Namespace) -> tuple[list[Row], list[str]]:
    divisor, rounds = (10, 1) if wish.quick else (1, 3)
    rounds = wish.rounds or rounds
    if part == "sync":
        return datasync.synced(folder, datasync.Bucket("small", 10_000 // divisor, datasync.SMALL), rounds)
    if part == "large":
        return datasync.synced(folder, datasync.Bucket("big", 1, datasync.BIG // divisor), rounds)
    if part == "warm":
        return dataepochs.warm(folder / "warm", divisor, rounds), []
    if part == "cold":
        rows, times = dataepochs.cold(folder, divisor)
        if wish.figure:
            draw(times, wish.figure)
        return rows, []
    if part == "status":
        return datarest.status(folder, divisor), []
    return uvloop.run(datarest.rest(folder, divisor, 20.0 if wish.quick else 60.0)), []


if __name__ == "__main__":
    main()

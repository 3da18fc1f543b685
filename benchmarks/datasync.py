"""Copying from an S3 server: many small files and one large, by our engines and by the peers, in turns."""

from __future__ import annotations

import shutil
import statistics
from dataclasses import dataclass
from pathlib import Path

from tests.cache.sources_of_others import KEYS

from benchmarks import datapeers, datastage
from benchmarks.datarows import Row

SMALL, BIG = 10 << 10, 1 << 30


@dataclass(frozen=True)
class Bucket:
    prefix: str
    files: int
    size: int

    @property
    def words(self) -> str:
        return (
            f"{self.files:,} × {self.size >> 10:,} KiB" if self.files > 1 else f"1 × {self.size >> 20:,} MiB"
        )


def synced(folder: Path, bucket: Bucket, rounds: int) -> tuple[list[Row], list[str]]:
    """The rows, and what was left out."""
    datastage.make_files(folder / "buckets" / "data" / bucket.prefix, bucket.files, bucket.size)
    others, lacking = datapeers.peers()
    with datastage.s3(folder / "s3", folder / "buckets") as host:
        rows = [into_local(folder, host, bucket, others, rounds), into_juicefs(folder, host, bucket, rounds)]
    return rows, lacking


def into_local(
    folder: Path, host: str, bucket: Bucket, others: dict[str, datapeers.Copy], rounds: int
) -> Row:
    times: dict[str, list[float]] = {name: [] for name in ("ours", *others)}
    for number in range(rounds):
        # In turns, so that what disturbs the machine disturbs all.
        for name in times:
            target = folder / f"{bucket.prefix}-{name}-{number}"
            if name == "ours":
                with datastage.runtime(made(target)) as runtime:
                    took = runtime.carry_out(
                        "sync", source=f"s3://{host}/data/{bucket.prefix}", keys=datastage.SECRET
                    )
                    seen = runtime.info()["cachedFiles"]
            else:
                took = datapeers.copied(others[name], host, bucket.prefix, target)
                seen = sum(path.is_file() for path in target.rglob("*"))
            assert seen == bucket.files, f"{name} brought {seen} of {bucket.files} files"
            times[name].append(took)
            print(f"sync of {bucket.words}, {name}: {took:.2f} s", flush=True)
            shutil.rmtree(target)
    middle = {name: statistics.median(taken) for name, taken in times.items()}
    best = min(others, key=lambda name: middle[name])
    rest = ", ".join(f"{name} {middle[name]:.2f} s" for name in others if name != best)
    return Row(f"sync of {bucket.words} into `local`", middle["ours"], best, middle[best], 0.9, rest)


def into_juicefs(folder: Path, host: str, bucket: Bucket, rounds: int) -> Row:
    ours, theirs = [], []
    for number in range(rounds):
        root = folder / f"jfs-{bucket.prefix}-{number}"
        system = datastage.in_folder("bench", root / "store")
        with (
            datastage.mounted(system, root) as at,
            datastage.runtime(root, data=at, engine="juicefs") as runtime,
        ):
            source = f"minio://{host}/data/{bucket.prefix}/"
            keys = {"AWS_ACCESS_KEY_ID": KEYS.access, "AWS_SECRET_ACCESS_KEY": KEYS.secret}
            keys |= {"MINIO_ACCESS_KEY": KEYS.access, "MINIO_SECRET_KEY": KEYS.secret}
            (at / "theirs").mkdir()
            command = ["sync", "--metrics=127.0.0.1:0", source, f"{at}/theirs/"]
            # The second of the two finds a larger file system.
            for mine in (True, False) if number % 2 == 0 else (False, True):
                if mine:
                    wish = {"source": source, "keys": datastage.SECRET, "destination": "ours"}
                    ours.append(runtime.carry_out("sync", **wish))
                else:
                    theirs.append(datastage.finished(command, keys))
            print(
                f"sync of {bucket.words} into juicefs: {ours[-1]:.2f} s, alone {theirs[-1]:.2f} s", flush=True
            )
        shutil.rmtree(root)
    words = f"sync of {bucket.words} into `juicefs`"
    return Row(words, statistics.median(ours), "juicefs sync", statistics.median(theirs), 0.9)


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder

"""Epochs of a Paddle DataLoader with two readers: on a plain folder, on both engines, over a slow link."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.cache.sources_of_others import KEYS
from tests.suites import environments

from benchmarks import datalink, datastage
from benchmarks.datarows import Row

SAMPLE = 100 << 10
READERS, BATCH = 2, 20
COMPUTE = 5.0
SLOW = 50_000_000 / 8
PROGRAM = """
import json, os, sys, time
import numpy, paddle
folder, readers, batch, compute, epochs = sys.argv[1], *map(float, sys.argv[2:])
files = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
class Samples(paddle.io.Dataset):
    def __len__(self):
        return len(files)
    def __getitem__(self, number):
        with open(files[number], "rb") as file:
            return (numpy.frombuffer(file.read(), "uint8"),)
paddle.set_device("cpu")
loader = paddle.io.DataLoader(Samples(), batch_size=int(batch), shuffle=True, num_workers=int(readers))
took = []
for epoch in range(int(epochs)):
    began, seen = time.perf_counter(), 0
    for samples in loader:
        seen += samples[0].shape[0]
        # A device computes while the readers go on.
        time.sleep(compute / 1000 * samples[0].shape[0])
    took.append(time.perf_counter() - began)
    assert seen == len(files), (seen, len(files))
print(json.dumps(took))
"""


@dataclass(frozen=True)
class Cold:
    """Seconds of each epoch."""

    cold: list[float]
    local: list[float]
    juicefs: list[float]


def epochs(folder: Path, compute: float = 0.0, number: int = 1) -> list[float]:
    """The seconds of each epoch, from the first batch asked for to the last one used."""
    words = [str(folder), str(READERS), str(BATCH), str(compute), str(number)]
    done = subprocess.run(
        [environments.python("paddle"), "-c", PROGRAM, *words],
        env=environments.variables("paddle"), capture_output=True, text=True, timeout=datastage.LONGEST,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-1000:])
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def warm(folder: Path, divisor: int, rounds: int) -> list[Row]:
    """Each engine beside the same files in a plain folder, in turns."""
    files = 10_000 // divisor
    plain = folder / "plain"
    datastage.make_files(plain, files, SAMPLE)
    root, system = folder / "jfs", datastage.in_folder("bench", folder / "jfs" / "store")
    kept = (folder / "local").resolve()
    kept.mkdir()
    with (
        datastage.runtime(kept) as local,
        datastage.mounted(system, root, *datastage.READ_ONLY) as at,
        datastage.runtime(root, data=at, engine="juicefs") as juicefs,
    ):
        for runtime in (local, juicefs):
            runtime.carry_out("sync", source=f"file://{plain}")
            runtime.carry_out("warmup", threads=16)
        places = {"disk": plain, "local": kept / "set" / "data", "juicefs": at}
        raw: dict[str, list[float]] = {name: [] for name in places}
        slow: dict[str, list[float]] = {"disk": [], "juicefs": []}
        for place in places.values():
            # The first fills the page cache, as the first epoch of a job does.
            epochs(place)
        for _ in range(rounds):
            for name, place in places.items():
                raw[name] += epochs(place)
                print(f"epoch of {files:,} files, {name}: {raw[name][-1]:.2f} s", flush=True)
            for name in slow:
                slow[name] += epochs(places[name], COMPUTE)
                print(f"the same with {COMPUTE:g} ms a sample, {name}: {slow[name][-1]:.2f} s", flush=True)
    shutil.rmtree(folder)
    middle = {name: statistics.median(taken) for name, taken in raw.items()}
    words = f"warm epoch of {files:,} × 100 KiB"
    return [
        Row(f"{words}, `local`", middle["local"], "the disk", middle["disk"], 0.95),
        Row(f"{words}, `juicefs`", middle["juicefs"], "the disk", middle["disk"], 0.35),
        Row(
            f"the same, {COMPUTE:g} ms a sample, `juicefs`",
            statistics.median(slow["juicefs"]),
            "the disk",
            statistics.median(slow["disk"]),
            0.95,
        ),
    ]


def cold(folder: Path, divisor: int) -> tuple[list[Row], Cold]:
    """Samples in a bucket behind a link of 50 Mbit/s: read from there, and read when they are near."""
    files = 2_000 // divisor
    datastage.make_files(folder / "buckets" / "data" / "set", files, SAMPLE)
    (folder / "buckets" / "objects").mkdir()
    with datastage.s3(folder / "s3", folder / "buckets") as host, datalink.link(host) as link:
        near = f"127.0.0.1:{link.port}"
        system, root = datastage.in_bucket("bench", folder / "jfs" / "store", near), folder / "jfs"
        with datastage.mounted(system, root) as at:
            keys = {"MINIO_ACCESS_KEY": KEYS.access, "MINIO_SECRET_KEY": KEYS.secret}
            datastage.finished(["sync", "--metrics=127.0.0.1:0", f"minio://{host}/data/set/", f"{at}/"], keys)
            datastage.finished(["warmup", "--evict", str(at)])
            link.rate = SLOW
            far = epochs(at)
            print(f"cold epoch of {files:,} files: {far[0]:.1f} s", flush=True)
            with datastage.runtime(root, data=at, engine="juicefs") as runtime:
                runtime.carry_out("warmup", threads=16)
            juicefs = epochs(at, number=3)
            with datastage.runtime(made(folder / "local")) as runtime:
                runtime.carry_out("sync", source=f"s3://{near}/data/set", keys=datastage.SECRET)
            local = epochs(folder / "local" / "set" / "data", number=3)
            print(f"warm: juicefs {juicefs}, local {local}", flush=True)
    words = f"epoch of {files:,} × 100 KiB behind 50 Mbit/s, warm"
    return [
        Row(f"{words}, `juicefs`", juicefs[0], "cold", far[0], 3.33),
        Row(f"{words}, `local`", local[0], "cold", far[0], 3.33),
    ], Cold(far, local, juicefs)


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder

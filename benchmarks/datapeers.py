"""Programs of others that copy a bucket into a folder: s5cmd, rclone, obstore; each as its manual has it.

s5cmd and rclone are taken from the PATH or the user's cache, else built there once from their Go modules.
What cannot be had is said, and left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.cache.sources_of_others import KEYS
from tests.suites import environments

MODULES = {
    "s5cmd": ("github.com/peak/s5cmd/v2", "v2.3.0"),
    "rclone": ("github.com/rclone/rclone", "v1.68.2"),
}
AT_ONCE = 64
OBSTORE = f"""
import asyncio, os, sys, pathlib
import obstore
from obstore.store import S3Store
host, prefix, folder = sys.argv[1:4]
store = S3Store("data", endpoint="http://" + host, region="us-east-1", virtual_hosted_style_request=False,
    client_options={{"allow_http": True}}, access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
    secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"])
async def copied(meta, gate):
    async with gate:
        path = pathlib.Path(folder, meta["path"].removeprefix(prefix + "/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            async for chunk in (await obstore.get_async(store, meta["path"])).stream(min_chunk_size=8 << 20):
                file.write(chunk)
async def main():
    gate = asyncio.Semaphore({AT_ONCE})
    async for page in obstore.list(store, prefix):
        await asyncio.gather(*(copied(meta, gate) for meta in page))
asyncio.run(main())
"""
Copy = Callable[[str, str, Path], list[str]]
"""The command that copies a prefix of the bucket `data` at a host into a folder."""


def s5cmd(program: str) -> Copy:
    def command(host: str, prefix: str, folder: Path) -> list[str]:
        # Its default are 256 workers.
        return [program, "--endpoint-url", f"http://{host}", "cp", f"s3://data/{prefix}/*", f"{folder}/"]

    return command


def rclone(program: str) -> Copy:
    def command(_: str, prefix: str, folder: Path) -> list[str]:
        return [
            program,
            "copy",
            f"peer:data/{prefix}",
            str(folder),
            f"--transfers={AT_ONCE}",
            "--config=/dev/null",
        ]

    return command


def obstore() -> Copy:
    def command(host: str, prefix: str, folder: Path) -> list[str]:
        return [environments.python("data"), "-c", OBSTORE, host, prefix, str(folder)]

    return command


def peers() -> tuple[dict[str, Copy], list[str]]:
    """Those that can be had, and why others cannot."""
    found: dict[str, Copy] = {"obstore": obstore()}
    lacking: list[str] = []
    for name, make in (("s5cmd", s5cmd), ("rclone", rclone)):
        try:
            found[name] = make(program(name))
        except (OSError, subprocess.SubprocessError) as error:
            lacking.append(f"{name} was not to be had: {error}")
    return found, lacking


def program(name: str) -> str:
    """Where it is; built now unless it is there."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paddlecloud" / "peers"
    if found := shutil.which(name) or shutil.which(name, path=str(folder)):
        return found
    module, version = MODULES[name]
    print(f"building {module} {version}, which takes minutes", flush=True)
    with tempfile.TemporaryDirectory() as at:
        # Not `go install`: that asks for a list of versions, which not every mirror gives.
        Path(at, "go.mod").write_text(f"module peer\n\ngo 1.22\n\nrequire {module} {version}\n")
        command = ["go", "build", "-mod=mod", "-o", str(folder / name), module]
        environ = {**os.environ, "CGO_ENABLED": "0"}
        subprocess.run(command, cwd=at, env=environ, check=True, capture_output=True, timeout=1800)
    return str(folder / name)


def copied(copy: Copy, host: str, prefix: str, folder: Path) -> float:
    """Seconds that a peer took."""
    environ = {
        "PATH": "/usr/bin:/bin", "HOME": str(folder.parent), "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ACCESS_KEY_ID": KEYS.access, "AWS_SECRET_ACCESS_KEY": KEYS.secret, "AWS_REGION": "us-east-1",
        "RCLONE_CONFIG_PEER_TYPE": "s3", "RCLONE_CONFIG_PEER_PROVIDER": "Minio",
        "RCLONE_CONFIG_PEER_ENV_AUTH": "true", "RCLONE_CONFIG_PEER_ENDPOINT": f"http://{host}",
    }  # fmt: skip
    folder.mkdir(parents=True)
    began = time.perf_counter()
    done = subprocess.run(
        copy(host, prefix, folder), env=environ, capture_output=True, text=True, timeout=1800
    )
    if done.returncode:
        raise RuntimeError(f"{done.args[0]} ended with {done.returncode}: {done.stderr[-1000:]}")
    return time.perf_counter() - began

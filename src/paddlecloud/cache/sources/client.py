"""Sources that only the JuiceFS client speaks to: it brings them into a folder, which then is the source.

Keys that the client takes from its command line alone are refused: everybody on the machine can read those.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from ...errors import Failed
from ..engine import Keys, Unfit
from .folder import Folder
from .source import Address

SCHEMES = ("hdfs", "wasb", "ufile", "qingstor", "qiniu", "b2", "ceph", "swift", "tikv", "nfs", "sftp", "etcd")
END = 10.0


def program() -> str:
    """The client beside the interpreter, else on the path. Raises `Unfit` where there is none."""
    beside = Path(sys.executable).with_name("juicefs")
    found = str(beside) if beside.exists() else shutil.which("juicefs")
    if not found:
        raise Unfit(
            "sources of this kind are read by the JuiceFS client, which is not installed here",
            next_step="use the image paddlecloud/data, or copy the samples to S3",
        )
    return found


def brought(address: Address, scratch: Path, check: Callable[[], None]) -> Folder:
    """All files of *address* in a folder below *scratch*. *check* may raise to end it."""
    folder = scratch / "brought"
    folder.mkdir(parents=True)
    source = address.uri if address.uri.endswith("/") else address.uri + "/"
    command = [program(), "sync", "--no-color", "--metrics", "127.0.0.1:0"]
    command += ["--no-https"] if address.no_https else []
    environment = variables(address.scheme, address.keys, os.environ)
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [*command, source, f"file://{folder}/"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
        try:
            while process.poll() is None:
                check()
                try:
                    process.wait(0.2)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            end(process)
        said.seek(0)
        if process.returncode:
            raise Failed(f"{address.shown} cannot be read: {last_words(said.read(), address.keys)}")
    return Folder(folder.resolve())


def variables(scheme: str, keys: Keys | None, inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment of the client. Raises `Unfit` for keys that cannot be given in it."""
    kept = {name: value for name, value in inherited.items() if name in ("PATH", "HOME", "TMPDIR", "LANG")}
    kept |= {n: v for n, v in inherited.items() if n.lower().endswith("_proxy") or n.startswith("HADOOP_")}
    # Without keys the client would ask the machine's cloud for some that nobody meant it to use.
    kept["AWS_EC2_METADATA_DISABLED"] = "true"
    if keys is None or not (keys.access or keys.secret):
        return kept
    if scheme == "hdfs" and not keys.secret:
        return kept | {"HADOOP_USER_NAME": keys.access}
    raise Unfit(
        f"the JuiceFS client takes keys for {scheme}:// from its command line alone, for all to read",
        next_step="copy the samples to a source that takes keys otherwise, such as S3",
    )


def last_words(said: bytes, keys: Keys | None) -> str:
    """The end of what the client said, without the keys, should it have repeated them."""
    lines = [
        line for line in said.decode(errors="replace").splitlines() if "<FATAL>" in line or "<ERROR>" in line
    ]
    text = lines[-1].partition(">: ")[2] if lines else "the JuiceFS client gave up without a word"
    for key in (keys.access, keys.secret) if keys else ():
        text = text.replace(key, "…") if key else text
    return text.rpartition(" [")[0] or text


def end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

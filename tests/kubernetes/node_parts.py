"""What a real node needs beside Kubernetes itself: a container runtime and images, in the user's cache.

The runtime comes from the packages of this Debian, unpacked and never installed. `source` is written last:
without it, or with another one, there are no parts.

    python -m tests.kubernetes.node_parts       fetches what is missing; exit code 3 where this machine cannot
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.kubernetes import node_images
from tests.kubernetes.build_go import GIGABYTE, CannotBuild, check_disk, locked

from paddlecloud.errors import PaddleCloudError

PACKAGES = (
    "containerd", "runc", "libseccomp2", "containernetworking-plugins",
    "nftables", "libnftables1", "libnftnl11", "libmnl0", "libjansson4", "libxtables12",
    "busybox-static",
)  # fmt: skip
TOOLS = ("apt-get", "dpkg-deb", "ip")
LIBRARIES = "usr/lib/x86_64-linux-gnu"
NFT = """#!/bin/sh
# The program and its libraries are unpacked, not installed.
export LD_LIBRARY_PATH={libraries}
exec {program} "$@"
"""


def main() -> int:
    try:
        print(f"the parts of a node are ready in {build()}", flush=True)
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def folder() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "paddlecloud" / "node"


def built() -> Path | None:
    """The folder with the parts, if they are complete and up to date."""
    stamp = folder() / "source"
    return folder() if stamp.is_file() and stamp.read_text() == digest() else None


def build() -> Path:
    """The folder with the parts; raises `CannotBuild` where this machine cannot have a node."""
    if found := built():
        return found
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        raise CannotBuild(
            f"a real node cannot be made here: {', '.join(missing)} not found",
            next_step="run this on a Debian 12 with iproute2",
        )
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    with locked(place / "lock"):
        return built() or _build_in(place)


def digest() -> str:
    """Of what the parts are made from."""
    parts = [" ".join(PACKAGES), NFT, Path(node_images.__file__).read_text(), node_images.sources()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _build_in(place: Path) -> Path:
    check_disk([place], GIGABYTE, "the parts of a node")
    print("fetching the parts of a node: about 40 MB and a minute", flush=True)
    for name in ("source", "root", "bin", "images"):
        remove(place / name)
    unpack(PACKAGES, place / "root")
    link_programs(place / "root", place / "bin")
    node_images.make_all(place / "root" / "bin" / "busybox", place / "images")
    (place / "source").write_text(digest())
    return place


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def unpack(packages: tuple[str, ...], target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="pdc-packages-") as kept:
        command = ["apt-get", "-qq", "download", *packages]
        done = subprocess.run(command, cwd=kept, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise CannotBuild(
                f"the packages of a container runtime cannot be fetched: {done.stderr.strip()[-500:]}",
                next_step="run `apt-get update`, and see that this machine reaches its package archive",
            )
        for archive in sorted(Path(kept).glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", str(archive), str(target)], check=True, timeout=120)


def link_programs(root: Path, target: Path) -> None:
    """One folder with everything a PATH needs."""
    target.mkdir()
    for program in (*(root / "usr/bin").iterdir(), root / "usr/sbin/runc"):
        link = target / program.name
        link.unlink(missing_ok=True)
        link.symlink_to(program)
    nft = target / "nft"
    nft.write_text(NFT.format(libraries=root / LIBRARIES, program=root / "usr/sbin/nft"))
    nft.chmod(0o755)


if __name__ == "__main__":
    sys.exit(main())

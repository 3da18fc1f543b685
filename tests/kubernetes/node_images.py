"""The images of a real node, made of files of this machine under the names that suites of ours answer to.

`busybox` is Debian's static one; `python` is the suite of that name as `pdc image build` packs it. Nothing
comes from a registry, so the same manifests run on both kinds of nodes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.images import making
from tests.images.making import Member

ROOT = Path(__file__).parent.parent.parent
PAUSE = "localhost/pause:1"
SHELL = "docker.io/library/busybox:latest"
PASSWD = b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
GROUP = b"root:x:0:\nnogroup:x:65534:\n"


def sources() -> str:
    """What the images are made from, as far as it is ours."""
    suite = ROOT / "suites" / "python"
    files = sorted(path for path in suite.rglob("*") if path.is_file())
    return "\0".join([sys.version, *(path.read_text() for path in files)])


def make_all(busybox: Path, target: Path) -> None:
    target.mkdir()
    system = list(small_system(busybox))
    # Containers of a pod join its namespaces; whoever holds them has nothing to do.
    pause = making.image(system, run={"Entrypoint": ["/bin/tail", "-f", "/dev/null"]})
    shell = making.image(system, run={"Env": ["PATH=/bin"], "Cmd": ["sh"]})
    making.archive(target / "pause.tar", making.docker_files(pause, PAUSE))
    making.archive(target / "busybox.tar", making.docker_files(shell, SHELL))
    with tempfile.TemporaryDirectory(prefix="pdc-images-") as home:
        build_suite("python", Path(home), target / "python.tar")


def small_system(busybox: Path) -> list[Member]:
    applets = subprocess.run([busybox, "--list"], check=True, capture_output=True, text=True, timeout=30)
    names = [name for name in applets.stdout.split() if name != "busybox"]
    folders = ("bin", "dev", "etc", "proc", "root", "sys", "usr", "var")
    return [
        *(making.folder(name) for name in folders),
        making.folder("tmp", mode=0o1777),
        making.file("etc/passwd", PASSWD),
        making.file("etc/group", GROUP),
        making.file("bin/busybox", busybox.read_bytes(), mode=0o755),
        *(making.link(f"bin/{name}", "busybox") for name in names),
        making.link("usr/bin", "/bin"),
    ]


def build_suite(name: str, home: Path, archive: Path) -> None:
    """As a user builds it."""
    program = [sys.executable, "-m", "paddlecloud.cli.main", "--home", str(home)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [*program, "image", "build", name, "-o", str(archive)]
    subprocess.run(command, env=environ, check=True, capture_output=True, timeout=600)

"""The other users of the machine see nothing of a cluster: no key, no socket, no object."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddlecloud.embedded.identity import establish
from paddlecloud.settings import Home

NOBODY = 65534
TRY = """
import os, socket, sys
os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
path = sys.argv[1]
try:
    if path.endswith(".sock"):
        socket.socket(socket.AF_UNIX).connect(path)
    else:
        os.listdir(path) if os.path.isdir(path) else open(path).read()
except PermissionError:
    sys.exit(13)
"""


@pytest.fixture
def home() -> Iterator[Home]:
    if os.geteuid() != 0:
        pytest.skip("only root can try as somebody else")
    # Everybody may look into the folder above, and the home itself was made carelessly.
    with tempfile.TemporaryDirectory(prefix="pdc-test-") as folder:
        os.chmod(folder, 0o755)
        root = Path(folder) / "home"
        root.mkdir(mode=0o755)
        made = Home(root)
        establish(made)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(made.run / "node.sock"))
            listener.listen()
            made.store.touch()
            yield made


def tried(path: Path, uid: int) -> int:
    return subprocess.run([sys.executable, "-c", TRY, str(path), str(uid)], check=False).returncode


@pytest.mark.parametrize(
    "name",
    [
        "",
        "kubeconfig",
        "cluster.json",
        "store.db",
        "pki",
        "pki/ca.key",
        "pki/admin.key",
        "pki/tokens.json",
        "pki/tokens.key",
        "run/controllers.kubeconfig",
        "run/node.sock",
        "logs",
    ],
)
def test_another_user_is_refused(home: Home, name: str) -> None:
    path = home.root / name
    assert path.exists()
    assert tried(path, NOBODY) == 13
    assert tried(path, os.getuid()) == 0

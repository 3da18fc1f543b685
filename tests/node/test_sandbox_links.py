"""Links that the machine has at the mount paths of a pod: those of other clusters come and go at any time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.node.isolation_levels import SANDBOXED, levels_or_skip
from tests.node.pod_yard import Yard

# Nobody looks at the path before it is said: what a file system remembers of a link would hide that it went.
LATER = "echo up; until [ -e /signals/go ]; do sleep 0.02; done; cat {path}/file; ls /usr/bin/env"
VOLUMES = [{"name": "v", "emptyDir": {}}, {"name": "signals", "emptyDir": {}}]


@pytest.fixture(params=SANDBOXED)
async def yard(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Yard]:
    it = Yard(tmp_path, levels_or_skip(request.param))
    yield it
    await it.close()


@pytest.fixture
def seen() -> Iterator[Path]:
    """A folder of the machine that containers see: no temporary one is."""
    if not os.access("/var/lib", os.W_OK):
        pytest.skip("only root puts links where containers see them")
    with tempfile.TemporaryDirectory(prefix="paddlecloud-test-", dir="/var/lib") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.parametrize(
    "target, mounted",
    [
        ("/home/somebody/volumes/v", "data"),  # a plain cluster of the machine, below a folder that is hidden
        ("gone/away", "data"),
        ("/usr", "data"),
        ("data", "data"),  # a link to itself
        ("/home/somebody/volumes/v", "data/deep"),
        ("gone/away", "data/deep"),
    ],
)
async def test_a_volume_stays_at_its_path_whatever_link_the_machine_has_there(
    yard: Yard, seen: Path, target: str, mounted: str
) -> None:
    link, path = seen / "data", seen / mounted
    link.symlink_to(target)
    mounts = [{"name": "v", "mountPath": str(path)}, {"name": "signals", "mountPath": "/signals"}]
    yard.run("sh", "-c", LATER.format(path=path), volumes=VOLUMES, container={"volumeMounts": mounts})
    await yard.until(lambda: "up" in yard.log() or yard.now().finished)
    volumes = yard.home.pods("one") / "uid-p" / "volumes"
    (volumes / "v" / "file").write_text("kept\n")
    link.unlink()
    (volumes / "signals" / "go").touch()
    await yard.finished()
    assert yard.log() == "up\nkept\n/usr/bin/env\n", yard.now().status

"""What the READMEs tell a newcomer to type, typed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.suites.environments import ROOT as ENVIRONMENTS

ROOT = Path(__file__).parent.parent.parent
ENGLISH, CHINESE = ROOT / "README.md", ROOT / "README.zh-CN.md"
PATIENCE = 600
FOLDERS = "/tmp/paddlecloud-"
"""Where the commands put their data: on a machine of several users those of the first."""


def commands(readme: Path) -> list[str]:
    """The commands of all blocks, without their comments."""
    blocks = re.findall(r"```bash\n(.*?)```", readme.read_text(), re.DOTALL)
    lines = (re.sub(r"\s+# .*", "", line) for block in blocks for line in block.splitlines())
    return [line for line in lines if line.strip()]


def test_both_languages_tell_the_same_commands() -> None:
    assert commands(ENGLISH) == commands(CHINESE)


def test_the_first_two_commands_are_all_the_set_up_there_is() -> None:
    assert commands(ENGLISH)[:2] == ["make run", "make test"]


def own_tree(folder: Path) -> Path:
    """What the commands name of the tree, with folders of data below *folder*."""
    (folder / "suites").symlink_to(ROOT / "suites")
    shutil.copytree(ROOT / "examples", folder / "examples")
    for manifest in (folder / "examples" / "walk").iterdir():
        manifest.write_text(manifest.read_text().replace(FOLDERS, f"{folder}/"))
    return folder


def test_every_other_command_does_what_it_says(tmp_path: Path) -> None:
    # The first two are this very run and the scenario of the walk.
    script = "set -eux\n" + "\n".join(commands(ENGLISH)[2:]).replace(FOLDERS, f"{tmp_path}/")
    environ = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PADDLECLOUD_HOME": str(tmp_path / "home"),
        "PADDLECLOUD_ENVIRONMENTS": str(ENVIRONMENTS),
    }
    try:
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=own_tree(tmp_path),
            env=environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    finally:
        subprocess.run([sys.executable, "-m", "paddlecloud.cli.main", "down"], env=environ, check=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"shapes-by-hand +Completed +Collective", done.stdout)
    assert re.search(r"class \d probability [01]\.\d+", done.stdout)
    assert "paddleservice/shapes-by-hand: Ready" in done.stdout

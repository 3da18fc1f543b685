"""The guide to pipelines: its files are written down and its commands typed, in the order of the page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.pipelines.environment import run
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.embedded.identity import known
from paddlecloud.pipelines.components.all import COMPONENTS

GUIDE = Path(__file__).parent.parent.parent / "docs" / "pipelines.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"# ([\w.]+)\n")


@pytest.mark.long
def test_every_command_of_the_guide_does_what_it_says(cluster: PdcHome, tmp_path: Path) -> None:
    script = ["set -eux", f'pdc() {{ "{sys.executable}" -m paddlecloud.cli.main "$@"; }}']
    for language, text in BLOCK.findall(GUIDE.read_text()):
        if language == "bash":
            script.append(text)
        else:
            name = NAME.match(text)
            assert name, f"a block of {language} that is no file: {text[:80]}"
            (tmp_path / name[1]).write_text(text)
    environ = {**cluster.environ, "PADDLECLOUD_HOME": str(cluster.home)}
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
    )  # fmt: skip
    said = done.stdout
    assert done.returncode == 0, said

    assert "✔ say  succeeded (from the cache)" in said and "hello Paddle" in said
    assert yaml.safe_load((tmp_path / "again.yaml").read_text())["pipelineInfo"] == {"name": "greet"}
    assert re.search(r"^greet-1 +greet +Succeeded +1/1", said, re.MULTILINE)
    identity = known(cluster.home)
    assert identity is not None
    client = run(2, tmp_path / "client.py", identity.pipelines, home=tmp_path)
    assert "ended as SUCCEEDED" in client.stdout, client.stdout + client.stderr
    nightly = run(2, tmp_path / "nightly.py", identity.pipelines, home=tmp_path)
    assert "every night: DISABLED" in nightly.stdout, nightly.stdout + nightly.stderr


def test_the_guide_names_every_component() -> None:
    table = GUIDE.read_text().partition("## Components")[2].partition("## Steps")[0]
    named = set(re.findall(r"`(\w+)`", table))
    assert {c.name for c in COMPONENTS} <= named

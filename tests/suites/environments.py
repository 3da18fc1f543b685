"""The environments of the shipped suites, for tests that run what they hold; made once a machine."""

import asyncio
import os
import tempfile
from functools import cache
from pathlib import Path

from paddlecloud.embedded.node.environments import Environments
from paddlecloud.embedded.node.suites import Suite, resolve
from paddlecloud.settings import shipped, value

# Under the user's own name: what another user of the machine made is not ours to run.
ROOT = Path(
    value("environments") or Path(tempfile.gettempdir()) / f"paddlecloud-test-environments-{os.getuid()}"
)


def suite(name: str) -> Suite:
    return resolve(f"paddlecloud/{name}", [shipped("suites")])


@cache
def variables(name: str) -> dict[str, str]:
    """What a process of the suite is started with: nothing is inherited."""
    made = asyncio.run(Environments(ROOT).ensure(suite(name), lambda _: None))
    says = suite(name).says.env
    return {**says, "PATH": f"{made.bin}:{says.get('PATH', '/usr/bin:/bin')}", **made.variables}


def python(name: str) -> str:
    return variables(name)["PATH"].partition(":")[0] + "/python"

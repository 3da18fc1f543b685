from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from paddlecloud.embedded.node.environments import COMPLETE, Environment, Environments, digest, make
from paddlecloud.embedded.node.obstacles import EnvironmentBroken
from paddlecloud.embedded.node.suites import Description, Suite

SIX = (
    "six==1.17.0"
    " --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274"
    " --hash=sha256:ff70335d468e7eb6ec65b95b99d3a2836546063f63acc5171de367e834932a81\n"
)


def a_suite(folder: Path, lock: str = "", **says: object) -> Suite:
    (folder / "requirements.lock").write_text(lock)
    return Suite(
        folder,
        Description.model_validate(
            {"name": "tried", "images": ["tried"], "requirements": "requirements.lock", **says}
        ),
    )


def python(environment: Environment, code: str) -> str:
    run = subprocess.run(
        [environment.bin / "python", "-c", code], env=environment.variables, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def ignore(_: str) -> None:
    pass


async def test_self_means_the_interpreter_of_paddlecloud(tmp_path: Path) -> None:
    environment = await Environments(tmp_path / "e").ensure(a_suite(tmp_path, python="self"), ignore)
    assert environment.bin == Path(sys.executable).parent
    assert environment.variables == {}


async def test_the_package_and_nothing_beside_it_is_importable_on_request(tmp_path: Path) -> None:
    environments = Environments(tmp_path / "e")
    environment = await environments.ensure(a_suite(tmp_path, python="self", paddlecloud=True), ignore)
    again = await environments.ensure(a_suite(tmp_path, python="self", paddlecloud=True), ignore)
    assert environment == again
    folder = Path(environment.variables["PYTHONPATH"])
    assert [path.name for path in folder.iterdir()] == ["paddlecloud"]
    assert python(environment, "import paddlecloud.errors; print(paddlecloud.__path__[0])").startswith(
        str(folder)
    )


async def test_a_lock_becomes_an_environment_once_for_all_who_ask(tmp_path: Path) -> None:
    suite = a_suite(tmp_path, SIX)
    first, second = Environments(tmp_path / "e"), Environments(tmp_path / "e")
    told: list[str] = []
    made = await asyncio.gather(
        first.ensure(suite, told.append), first.ensure(suite, told.append), second.ensure(suite, told.append)
    )
    assert made[0] == made[1] == made[2]
    assert python(made[0], "import six; print(six.__version__)") == "1.17.0"
    assert sum("six==1.17.0" in line for line in told) == 1
    told.clear()
    await first.ensure(suite, told.append)
    assert told == []


async def test_what_a_crash_left_half_made_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / digest("")
    (folder / "bin").mkdir(parents=True)
    (folder / "rubbish").touch()
    await make(folder, "", ignore)
    assert (folder / COMPLETE).exists() and (folder / "bin" / "python").exists()
    assert not (folder / "rubbish").exists()


async def test_a_lock_without_hashes_is_refused_in_uvs_words_and_leaves_nothing(tmp_path: Path) -> None:
    suite = a_suite(tmp_path, "six==1.17.0\n")
    with pytest.raises(EnvironmentBroken, match="hash"):
        await Environments(tmp_path / "e").ensure(suite, ignore)
    assert not (tmp_path / "e" / digest(suite.lock())).exists()


async def test_a_pod_that_goes_away_does_not_stop_the_work_of_the_others(tmp_path: Path) -> None:
    environments = Environments(tmp_path / "e")
    suite = a_suite(tmp_path)
    asked = asyncio.Event()
    hasty = asyncio.create_task(environments.ensure(suite, lambda _: asked.set()))
    await asked.wait()
    patient = asyncio.create_task(environments.ensure(suite, ignore))
    await asyncio.sleep(0)
    hasty.cancel()
    environment = await patient
    assert (environment.bin / "python").exists()


def test_another_lock_is_another_environment() -> None:
    assert digest("a") != digest("b")

"""The shape of the tree: layers, sizes, names, and files that must follow from others."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "src").rglob("*.py"))
VAGUE = {"base", "common", "handler", "handlers", "helper", "helpers", "manager", "misc", "util", "utils"}
LONGEST = 400


def name_of(module: Path) -> str:
    return str(module.relative_to(ROOT / "src"))


def test_imports_go_downwards_only() -> None:
    program = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_a_module_is_short_enough_to_be_read_at_once(module: Path) -> None:
    lines = len(module.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{name_of(module)} has {lines} lines: it holds two ideas"


def test_names_of_modules_say_what_is_in_them() -> None:
    vague = [name_of(m) for m in MODULES if VAGUE & {*m.relative_to(ROOT).parts[:-1], m.stem}]
    assert vague == []


def test_a_module_opens_with_its_idea() -> None:
    silent = [
        name_of(m)
        for m in MODULES
        if (text := m.read_text(encoding="utf-8")).strip() and not text.startswith(('"""', 'r"""', "#!"))
    ]
    assert silent == []


def test_the_definitions_in_deploy_are_those_of_the_classes() -> None:
    generator = load(ROOT / "tools" / "generate_crds.py")
    assert generator.differences(ROOT / "deploy" / "crds") == [], "run `make generate`"


def test_the_rights_in_deploy_are_those_the_controllers_need() -> None:
    generator = load(ROOT / "tools" / "generate_operator.py")
    assert generator.differences() == [], "run `make generate`"


def test_a_definition_that_was_edited_is_found(tmp_path: Path) -> None:
    generator = load(ROOT / "tools" / "generate_crds.py")
    generator.write(tmp_path)
    assert generator.differences(tmp_path) == []
    (tmp_path / "models.hub.paddlepaddle.org.yaml").write_text("kind: Something")
    (tmp_path / "left-over.yaml").write_text("")
    assert generator.differences(tmp_path) == ["left-over.yaml", "models.hub.paddlepaddle.org.yaml"]
    generator.write(tmp_path)
    assert generator.differences(tmp_path) == []


def test_every_dependency_says_what_it_saves_us() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = text.partition("\ndependencies = [\n")[2].partition("\n]")[0]
    lines = [line.strip() for line in block.splitlines() if line.strip().startswith('"')]
    assert len(lines) > 5, "the list of dependencies was not found"
    assert [line for line in lines if not re.search(r'",\s+# \w+', line)] == []


@pytest.mark.parametrize("lock", ["core", "dev"])
def test_a_lock_file_names_no_index_and_every_package_has_its_hash(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.lock").read_text(encoding="utf-8")
    assert "://" not in text
    packages = re.findall(r"^([a-z0-9._-]+)==.*\\\n\s+--hash=sha256:", text, re.M)
    assert len(packages) == len(re.findall(r"^\S+==", text, re.M)) > 10


def load(path: Path) -> ModuleType:
    """A program that lies outside any package, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

import re

import pytest
from tests.suites.environments import suite

NAMES = (
    "core",
    "data",
    "paddle",
    "paddle-ubuntu",
    "paddleclas",
    "paddledetection",
    "paddlenlp",
    "paddleocr",
    "paddlerec",
    "resnet",
    "serving",
    "serving-paddle",
    "shapes",
    "visualdl",
    "wide-and-deep",
)
LOCKED = ("data", "paddle", "serving", "serving-paddle", "visualdl", "wide-and-deep")


@pytest.mark.parametrize("name", NAMES)
def test_each_image_has_its_suite(name: str) -> None:
    assert suite(name).name == name and suite(name).says.entrypoint


@pytest.mark.parametrize("name", LOCKED)
def test_a_lock_has_exact_versions_with_hashes_and_names_no_index(name: str) -> None:
    lock = suite(name).lock()
    entries = [entry for entry in re.split(r"\n(?=\S)", lock.strip())]
    assert len(entries) > 10
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==\S+( ; [^\\]+)? \\\n    --hash=sha256:", entry), entry
    assert "://" not in lock and "--index" not in lock


@pytest.mark.parametrize("name", LOCKED)
def test_everything_asked_for_is_locked(name: str) -> None:
    asked = (suite(name).folder / "requirements.in").read_text()
    wanted = {re.split(r"[=<>]", line)[0] for line in asked.splitlines() if line and line[0] != "#"}
    assert wanted <= {line.partition("==")[0] for line in suite(name).lock().splitlines()}

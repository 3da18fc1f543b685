"""Which containers start from a process that has imported their modules already."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddlecloud.embedded.node.environments import Environment
from paddlecloud.embedded.node.suites import Description, Suite
from paddlecloud.embedded.node.warmstarts import warmth_of

SERVER = "paddlecloud.serving.server"
ENVIRONMENT = Environment(Path("/env/bin"), {"PYTHONPATH": "/packages"})


def a_suite(**says: object) -> Suite:
    body = {"name": "s", "images": ["s"], "warm": ["paddle", SERVER], "env": {"OMP_NUM_THREADS": "1"}}
    return Suite(Path("/suite"), Description.model_validate(body | says))


@pytest.mark.parametrize(
    "argv, warm",
    [
        (["python", "-m", SERVER, "--port", "1"], True),
        (["python3", "-m", SERVER], True),
        (["/usr/bin/python3", "-m", SERVER], False),  # another interpreter than the suite's
        (["python", "-m", "http.server"], False),
        (["python", "-m"], False),
        (["python", "serve.py"], False),
        (["sh", "-c", f"python -m {SERVER}"], False),
        ([], False),
    ],
)
def test_a_container_starts_warm_whose_command_is_such_a_module(argv: list[str], warm: bool) -> None:
    found = warmth_of(a_suite(), ENVIRONMENT, {"argv": argv})

    assert (found is not None) is warm
    if found:
        assert (str(found.python), found.path) == ("/env/bin/python", ("/packages",))


def test_containers_of_one_suite_share_a_parent_and_others_do_not() -> None:
    order = {"argv": ["python", "-m", SERVER]}
    one, same = (warmth_of(a_suite(), ENVIRONMENT, order) for _ in range(2))
    other = warmth_of(a_suite(env={}), ENVIRONMENT, order)

    assert one and same and other and one.name == same.name != other.name
    assert warmth_of(a_suite(warm=[]), ENVIRONMENT, order) is None

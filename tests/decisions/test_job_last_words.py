"""What a step tells of the Job it waited for: the container that failed, and what it said last."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.batch import Job
from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Metadata
from paddlecloud.pipelines.jobs import last_words, outspoken


def ended(name: str, code: int, message: str = "") -> dict[str, Any]:
    return {"name": name, "state": {"terminated": {"exitCode": code, "message": message}}}


FAILED = ended("deposit", 1, "1\n2\n3\nno such bucket\n")


@pytest.mark.parametrize(
    "status, said",
    [
        ({"containerStatuses": [FAILED]}, ", in deposit: 2 / 3 / no such bucket"),
        ({"initContainerStatuses": [ended("draw", 2)]}, ", in draw: exit code 2"),
        ({"initContainerStatuses": [ended("draw", 0)], "message": "out of memory"}, ": out of memory"),
        ({}, ""),
    ],
)
def test_the_last_words_of_a_job(status: dict[str, Any], said: str) -> None:
    assert last_words([Pod(metadata=Metadata(name="p"), status=status)]) == said


def test_every_container_leaves_its_last_words_unless_it_says_otherwise() -> None:
    spec = {
        "initContainers": [{"name": "a"}],
        "containers": [{"name": "b", "terminationMessagePolicy": "File"}],
    }
    job = outspoken(Job(metadata=Metadata(name="j"), spec={"backoffLimit": 0, "template": {"spec": spec}}))
    pod = job.spec["template"]["spec"]

    assert pod["initContainers"][0]["terminationMessagePolicy"] == "FallbackToLogsOnError"
    assert pod["containers"][0]["terminationMessagePolicy"] == "File" and job.spec["backoffLimit"] == 0

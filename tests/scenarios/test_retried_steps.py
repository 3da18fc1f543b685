"""What a step left behind when it failed does not stand for what it is asked to do the second time."""

from __future__ import annotations

from typing import Any

import pytest
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.batch import Job
from paddlecloud.api.meta import Key, Metadata
from paddlecloud.api.paddlejob import PaddleJob, PaddleJobSpec, Role
from paddlecloud.errors import Failed
from paddlecloud.pipelines.components.training import forget_failure
from paddlecloud.pipelines.jobs import run_to_end
from paddlecloud.sdk.waiting import wait_for


def pod(command: str) -> dict[str, Any]:
    return {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "main", "image": "busybox", "command": ["sh", "-c", command]},
    ]}}  # fmt: skip


def test_a_job_that_failed_is_made_again(cluster: PdcHome, name: str) -> None:
    with cluster.client() as client:

        def job(command: str) -> Job:
            spec = {"backoffLimit": 0, "template": pod(command)}
            return Job(metadata=Metadata(name=name, namespace="default"), spec=spec)

        with pytest.raises(Failed, match=f"wrong: Job default/{name} failed, in main: no such bucket"):
            run_to_end(client, job("echo no such bucket; false"), 60, "it went wrong")
        assert client.get(Job, "default", name).holds("Failed"), "its log can be read"

        run_to_end(client, job("true"), 60, "it went wrong")
        assert client.find(Job, "default", name) is None


def test_a_training_that_failed_is_forgotten_and_one_that_runs_is_not(cluster: PdcHome, name: str) -> None:
    key = Key("default", name)
    with cluster.client() as client:
        spec = PaddleJobSpec(worker=Role(replicas=1, template=pod("false")))
        client.create(PaddleJob(metadata=Metadata(name=name, namespace="default"), spec=spec))
        forget_failure(client, key)
        assert client.find(PaddleJob, *key) is not None

        wait_for(client, PaddleJob, key, lambda j: j.status.phase.final, 60)
        forget_failure(client, key)
        assert client.find(PaddleJob, *key) is None

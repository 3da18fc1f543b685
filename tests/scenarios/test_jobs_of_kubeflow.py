"""PaddleJobs of Kubeflow on a running cluster: done by ours, told in their words, gone together."""

from __future__ import annotations

from tests.kubernetes.waiting import until
from tests.scenarios.manifests import Body, shell
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.kubeflow import JobCondition, KubeflowPaddleJob
from paddlecloud.api.meta import Key
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.sdk.client import Client


def kubeflow_job(name: str, script: str) -> Body:
    role = {"restartPolicy": "Never", "template": {"spec": {"containers": [shell(script)]}}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": name},
        "spec": {"paddleReplicaSpecs": {"Master": role, "Worker": role}},
    }


def ended(client: Client, name: str) -> JobCondition:
    """The last condition of the job, once it says how the job ended."""

    def last() -> JobCondition | None:
        conditions = client.get(KubeflowPaddleJob, "default", name).status.conditions
        return conditions[-1] if conditions and conditions[-1].type in ("Succeeded", "Failed") else None

    return until(last, what=f"the end of {name}")


def test_a_job_of_kubeflow_is_done_and_told_in_its_words(cluster: PdcHome) -> None:
    with cluster.client() as client:
        cluster.apply(
            kubeflow_job("kubeflow-good", 'echo "rank $PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM"'),
            kubeflow_job("kubeflow-bad", 'echo "no such file"; exit 3'),
        )

        assert ended(client, "kubeflow-good").type == "Succeeded"
        status = client.get(KubeflowPaddleJob, "default", "kubeflow-good").status
        assert status.replica_statuses and status.replica_statuses.worker
        assert status.replica_statuses.worker.succeeded == 2
        said = cluster.ok("logs", "job/kubeflow-good")
        assert "rank 0 of 2" in said and "rank 1 of 2" in said

        failed = ended(client, "kubeflow-bad")
        assert failed.type == "Failed"
        assert "exit code 3" in failed.message and "no such file" in failed.message

        for name in ("kubeflow-good", "kubeflow-bad"):
            client.delete(KubeflowPaddleJob, Key("default", name))
        left = client.find
        until(lambda: left(PaddleJob, "default", "kubeflow-good") is None, what="the end of ours")
        until(lambda: left(PaddleJob, "default", "kubeflow-bad") is None, what="the end of ours")

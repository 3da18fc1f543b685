"""The pipelines service by the names that Kubeflow gives it, from inside of pods; on a cluster that is up."""

from __future__ import annotations

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome

pytestmark = pytest.mark.long
PROGRAM = """
import urllib.error, urllib.request
token = open("/var/run/secrets/kubernetes.io/serviceaccount/token").read()
for host in ("ml-pipeline.kubeflow:8888", "ml-pipeline-ui.kubeflow"):
    for headers in ({"Authorization": "Bearer " + token}, {}):
        request = urllib.request.Request(f"http://{host}/apis/v2beta1/runs", headers=headers)
        try:
            print(urllib.request.urlopen(request, timeout=30).status)
        except urllib.error.HTTPError as error:
            print(error.code)
"""


@pytest.mark.parametrize("namespace, code", [("kubeflow", "200"), ("default", "403")])
def test_a_pod_is_answered_as_far_as_its_account_may(cluster: PdcHome, namespace: str, code: str) -> None:
    container = {"name": "main", "image": "python:3.11", "command": ["python", "-c", PROGRAM]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "asking", "namespace": namespace},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    cluster.apply(pod)
    until(
        lambda: "Completed" in cluster.ok("get", "pod", "asking", "-n", namespace),
        what="the end of the pod that asks",
    )

    assert cluster.ok("logs", "pod/asking", "-n", namespace).split() == [code, "401"] * 2
    cluster.ok("delete", "pod", "asking", "-n", namespace)

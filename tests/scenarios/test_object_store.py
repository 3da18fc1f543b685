"""The S3 server of an embedded cluster: asleep until it is called, then a store of models like any other."""

from __future__ import annotations

import io
import shutil
import socket
import tarfile
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.apps import Deployment
from paddlecloud.api.core import ConfigMap, Secret, Service
from paddlecloud.api.meta import Key
from paddlecloud.api.model import ModelVersion
from paddlecloud.controllers import hub

TESTS = Path(__file__).parent.parent
LAYOUT = TESTS / "serving" / "weighted"
STORE = "s3://model-center/hub?endpoint=http://minio-service.kubeflow:9000&secret=model-store"


def test_the_first_call_wakes_it_and_models_go_there(home: PdcHome, tmp_path: Path) -> None:
    home.ok("up", "--detach")
    with home.client() as client:
        until(lambda: client.find(Service, "kubeflow", "minio-service"), what="the parts of the object store")
        until(lambda: client.find(ConfigMap, hub.NAMESPACE, hub.NAME), what="the place of models")
        assert client.get(Deployment, "kubeflow", "minio").replicas == 0
        client.patch(ConfigMap, Key(hub.NAMESPACE, hub.NAME), {"data": {hub.KEY: STORE}})
        keys = client.get(Secret, "kubeflow", "model-store").data
        address = client.get(Service, "kubeflow", "minio-service").spec["clusterIP"]
    if not reached(address):
        pytest.skip("programs of this user do not reach the addresses of Services")
    model = shutil.copytree(LAYOUT, tmp_path / "plain" / "server")
    (model / "serving_server_conf.prototxt").write_text("")

    said = home.ok("model", "push", str(model.parent), "--name", "weighted", "-n", "kubeflow")
    assert "weighted-1 is Ready" in said
    home.ok("model", "pull", "weighted", "-o", str(tmp_path / "out"), "-n", "kubeflow")
    assert (tmp_path / "out" / "server" / "model.json").read_bytes() == (LAYOUT / "model.json").read_bytes()
    with home.client() as client:
        version = client.get(ModelVersion, "kubeflow", "weighted-1")
        assert version.status.storage.startswith("s3://model-center/hub/kubeflow?")
        assert not any(key in str(version.wire()) for key in keys.values())

    told = home.ok("model", "publish", "weighted", "-n", "kubeflow").split()[-1]
    assert told == "http://minio-service.kubeflow:9000/model-center/weighted/latest/weighted.tar.gz"
    here = f"http://{address}:9000/model-center"
    with urllib.request.urlopen(f"{here}/weighted/latest/weighted.tar.gz", timeout=30) as answer:
        content = io.BytesIO(answer.read())
    with tarfile.open(fileobj=content) as archive:
        assert "weighted/server/model.pdiparams" in archive.getnames()
    with pytest.raises(urllib.error.HTTPError, match="403") as refused:
        urllib.request.urlopen(f"{here}/hub/kubeflow/models/weighted/weighted-1.json", timeout=30)
    refused.value.close()


def reached(address: str) -> bool:
    try:
        socket.create_connection((address, 9000), timeout=60).close()
    except OSError:
        return False
    return True

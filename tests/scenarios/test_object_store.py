"""The S3 server of an embedded cluster: asleep until it is called, then a store of models like any other."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from urllib.parse import urlsplit

from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.apps import Deployment
from paddlecloud.api.core import ConfigMap, Secret, Service
from paddlecloud.api.meta import Key
from paddlecloud.api.model import ModelVersion
from paddlecloud.cluster.kubeconfig import from_kubeconfig
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
    model = shutil.copytree(LAYOUT, tmp_path / "plain" / "server")
    (model / "serving_server_conf.prototxt").write_text("")
    called = watched(home, tmp_path)

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
    status, content = asked(home, "/model-center/weighted/latest/weighted.tar.gz")
    assert status == 200
    assert asked(home, "/model-center/hub/kubeflow/models/weighted/weighted-1.json")[0] == 403
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        assert "weighted/server/model.pdiparams" in archive.getnames()
    # The address of a Service may be a stranger's outside of the cluster: the API alone is called.
    api = urlsplit(from_kubeconfig(home.home.kubeconfig).server)
    assert set(called.read_text().splitlines()) == {f"{api.hostname} {api.port}"}


def test_a_call_by_the_name_of_the_service_wakes_it(home: PdcHome) -> None:
    home.ok("up", "--detach")
    with home.client() as client:
        until(lambda: client.find(Service, "kubeflow", "minio-service"), what="the parts of the object store")
    home.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "caller", "namespace": "default"},
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "c", "image": "python", "command": ["python", "-c", CALL]}],
            },
        }
    )
    home.ok("wait", "pod/caller", "--for", "Succeeded")
    assert "<Code>AccessDenied</Code>" in home.ok("logs", "caller")


CALL = """
import urllib.error, urllib.request
try:
    urllib.request.urlopen("http://minio-service.kubeflow:9000/nobody/nothing", timeout=60)
except urllib.error.HTTPError as error:
    print(error.read().decode())
"""
WATCH = """
import os, sys

def heard(event, given):
    if event == "socket.connect" and isinstance(given[1], tuple):
        with open({file!r}, "a") as file:
            print(*given[1][:2], file=file)

sys.addaudithook(heard)
"""


def watched(home: PdcHome, folder: Path) -> Path:
    """The file where every address is written that a command of *home* calls from now on."""
    file = folder / "called"
    (folder / "watch").mkdir()
    (folder / "watch" / "sitecustomize.py").write_text(WATCH.format(file=str(file)))
    home.environ["PYTHONPATH"] = f"{folder / 'watch'}:{home.environ['PYTHONPATH']}"
    return file


ASK = """
import http.client, sys
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.sdk.client import Client
from paddlecloud.sdk.serviceways import way_to
with Client(from_kubeconfig(sys.argv[1])) as client:
    line = http.client.HTTPConnection("minio-service.kubeflow:9000", timeout=30)
    line.sock = way_to(client, "minio-service.kubeflow", 9000, {})()
    line.request("GET", sys.argv[2])
    answer = line.getresponse()
    sys.stdout.buffer.write(str(answer.status).encode() + b" " + answer.read())
"""


def asked(home: PdcHome, path: str) -> tuple[int, bytes]:
    """The answer of the store to a program without keys."""
    command = [sys.executable, "-c", ASK, str(home.home.kubeconfig), path]
    said = subprocess.run(command, env=home.environ, stdout=subprocess.PIPE, check=True, timeout=120).stdout
    status, _, body = said.partition(b" ")
    return int(status), body

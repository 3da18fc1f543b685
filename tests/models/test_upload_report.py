"""The report of an upload in a pod: a ConfigMap, made or filled in with the pod's own access."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.kubernetes.rest import Rest


@pytest.fixture
def pod(rest: Rest, namespace: str, tmp_path: Path) -> dict[str, str]:
    """The variables and files a pod finds its cluster by; it may do what any pod there may."""
    account = tmp_path / "account"
    account.mkdir()
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
    (account / "token").write_text(rest.post(path, {"spec": {}}).expect(201)["status"]["token"])
    (account / "ca.crt").write_text(rest.ca)
    server = urlsplit(rest.server)
    return {
        **os.environ,
        "KUBERNETES_SERVICE_HOST": str(server.hostname),
        "KUBERNETES_SERVICE_PORT": str(server.port),
        "KUBERNETES_SERVICEACCOUNT": str(account),
    }


def upload(folder: Path, report: str, environ: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "model.json").write_text("program")
    command = [
        sys.executable,
        "-m",
        "paddlecloud.pipelines.components.upload",
        "--model",
        "m",
        "--version",
        "m-1",
    ]
    places = ["--source", str(folder / "model"), "--store", (folder / "objects").as_uri(), "--report", report]
    return subprocess.run([*command, *places], env=environ, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("there", [False, True], ids=["made", "filled in"])
def test_the_manifest_is_reported(
    rest: Rest, namespace: str, pod: dict[str, str], tmp_path: Path, there: bool
) -> None:
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    if there:
        rest.post(
            maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m-1-manifest"}}
        ).expect(201)

    for _ in range(2):
        done = upload(tmp_path, f"configmap:{namespace}/m-1-manifest", pod)
        assert done.returncode == 0, done.stderr
    told = json.loads(rest.get(f"{maps}/m-1-manifest").expect(200)["data"]["manifest.json"])
    assert (told["version"], [f["path"] for f in told["files"]]) == ("m-1", ["model.json"])


def test_a_cluster_that_refuses_is_a_sentence(namespace: str, pod: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "account" / "token").write_text("wrong")
    done = upload(tmp_path, f"configmap:{namespace}/m-1-manifest", pod)
    assert done.returncode == 1 and done.stderr and "Traceback" not in done.stderr


def test_a_report_that_names_no_config_map_is_refused_before_the_upload(tmp_path: Path) -> None:
    done = upload(tmp_path, "configmap:m-1-manifest", dict(os.environ))
    assert done.returncode == 2 and "configmap:NAMESPACE/NAME" in done.stderr
    assert not (tmp_path / "objects").exists()

"""The services of the requirement documents, as printed: their files, their looks and their `curl` calls.

What they download comes from a pod of the cluster, named in `mirrors.yaml`: no other host is asked.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kubectl import Kubectl, own_program
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome, fresh_home
from tests.serving.pictures import picture, png
from tests.suites.environments import python, suite, variables

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "serving"
SPACE = "paddleservice-system"
LIMIT = 120.0
RESNET = (
    'curl -H "host:paddleservice-sample.paddleservice-system.example.com" -H "Content-Type:application/json" '
    '-X POST -d \'{"feed":[{"image": "https://paddle-serving.bj.bcebos.com/imagenet-example/daisy.jpg"}], '
    '"fetch": ["score"]}\' http://<IP-address>:<Port>/image/prediction'
)
LAC = (
    'curl -H "Host: paddleservice-sample.paddleservice-system.example.com" '
    '-H "Content-Type:application/json" -X POST -d \'{"feed":[{"words": "我爱北京天安门"}], '
    '"fetch":["word_seg"]}\' http://<IP-address>:<Port>/lac/prediction'
)
"""As printed."""
WRITER = """
import sys
from pathlib import Path
import paddle, network, workers
paddle.seed(7)
shape = network.Shape()
workers.write(network.WideDeep(shape), shape, Path(sys.argv[1]) / "rec_inference")
"""


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the two hosts of the documents have."""
    folder = tmp_path_factory.mktemp("public")
    (folder / "imagenet-example").mkdir()
    (folder / "imagenet-example" / "daisy.jpg").write_bytes(png(daisy, 32))
    return folder


@pytest.fixture(scope="module")
def home(public: Path) -> Iterator[PdcHome]:
    with fresh_home() as home:
        home.ok("up", "--detach")
        home.home.mirrors.write_text(
            yaml.safe_dump({f"https://{host}": "http://files.default.svc.cluster.local:8000" for host in (
                "paddle-serving.bj.bcebos.com", "paddleflow-public.hkg.bcebos.com")})
        )  # fmt: skip
        home.apply(*file_server(public))
        yield home


@pytest.fixture
def kubectl(home: PdcHome, tmp_path: Path) -> Kubectl:
    program = own_program().path
    if program is None:
        pytest.skip("kubectl is not built: make test-kubernetes builds it")
    return Kubectl(program, home.home.kubeconfig, SPACE, tmp_path)


def file_server(folder: Path) -> list[dict[str, Any]]:
    labels = {"app": "files"}
    container = {
        "name": "files",
        "image": "python:3.12",
        "command": ["sh", "-c", "exec python3 -m http.server 8000 --bind $POD_IP --directory /public"],
        "volumeMounts": [{"name": "public", "mountPath": "/public"}],
    }
    spec = {
        "containers": [container],
        "volumes": [{"name": "public", "hostPath": {"path": str(folder)}}],
    }
    metadata = {"name": "files", "namespace": "default", "labels": labels}
    service = {"selector": labels, "ports": [{"port": 8000}]}
    return [
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec},
        {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": service},
    ]


def daisy(x: int, y: int) -> tuple[int, int, int]:
    distance = ((x - 16) ** 2 + (y - 16) ** 2) ** 0.5
    return (250, 200, 20) if distance < 4 else (250, 250, 250) if distance < 13 else (40, 120, 40)


def brown(x: int, y: int) -> tuple[int, int, int]:
    return (139, 90, 43) if 8 <= x < 18 and 4 <= y < 10 else (40, 120, 40)


def place_of_gateway(kubectl: Kubectl) -> tuple[str, str]:
    """By the questions that the documents print."""
    path = "jsonpath={.items[0].status.hostIP}"

    def address() -> str:
        return kubectl.run("get", "po", "-l", "istio=ingressgateway", "-n", "istio-system", "-o", path).stdout

    host = until(address, what="the pod of the gateway")
    shown = kubectl("get", "service", "istio-ingressgateway", "--namespace=istio-system")
    assert "NodePort" in shown and "80:" in shown
    port = 'jsonpath={.spec.ports[?(@.name=="http2")].nodePort}'
    return host, kubectl("-n", "istio-system", "get", "service", "istio-ingressgateway", "-o", port)


def curl(printed: str, place: tuple[str, str]) -> Any:
    """What the printed line answers, with the two gaps filled."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    line = printed.replace("<IP-address>", place[0]).replace("<Port>", place[1])
    done = subprocess.run([*shlex.split(line), "-sS"], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_resnet_example_shares_its_requests_with_its_canary(kubectl: Kubectl, home: PdcHome) -> None:
    kubectl("apply", "-f", str(EXAMPLES / "sample_service.yaml"))
    place = place_of_gateway(kubectl)
    home.ok("wait", "paddleservice.elasticserving.paddlepaddle.org/paddleservice-sample", "-n", SPACE,
            "--for", "condition=Ready", "--timeout", "120")  # fmt: skip
    answers = [curl(RESNET, place)["result"] for _ in range(16)]

    canaries = [a for a in answers if a.get("isCanary") == ["true"]]
    others = [a for a in answers if "isCanary" not in a]
    assert len(canaries) + len(others) == 16 and canaries and others
    assert all(a["label"] == ["daisy"] and 0.8 < a["prob"][0] <= 1 for a in answers)
    shown = kubectl("get", "ksvc", "paddleservice-sample", "-n", SPACE)
    assert re.search(
        r"^paddleservice-sample +http://paddleservice-sample.paddleservice-system.example.com +.* True",
        shown,
        re.M,
    )
    pods = kubectl("get", "pods", "-n", SPACE, "-o", "name").split()
    assert "ready: image" in kubectl("logs", pods[0], "-n", SPACE, "-c", "paddleserving")


def test_the_chinese_words_of_the_lac_example(kubectl: Kubectl) -> None:
    """It has the name of the example before, whose place it takes."""
    kubectl("apply", "-f", str(EXAMPLES / "lac.yaml"))
    place = place_of_gateway(kubectl)

    def words() -> Any:
        answer = curl(LAC, place)
        return answer if "word_seg" in str(answer) else None

    assert until(words, what="an answer of the new default") == {
        "result": [{"word_seg": "\u6211|\u7231|\u5317\u4eac|\u5929\u5b89\u95e8"}]
    }
    private = kubectl("get", "svc", "paddleservice-sample-default-private", "-n", SPACE)
    assert re.search(r"^paddleservice-sample-default-private +ClusterIP +[\d.]+ ", private, re.M)


def test_the_yolov3_request_is_answered_with_keys_and_values(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", str(EXAMPLES / "yolov3.yaml"))
    body = json.dumps({"key": ["image"], "value": [picture(brown, 32)]})
    line = (
        f"curl -H 'Host: yolov3.{SPACE}.example.com' -d '{body}' http://<IP-address>:<Port>/yolov3/prediction"
    )
    place = place_of_gateway(kubectl)

    answer = until(lambda: next((a for a in [curl(line, place)] if "err_no" in a), None), what="an answer")

    assert answer | {"value": []} == {
        "err_no": 0,
        "err_msg": "",
        "key": ["bbox_result"],
        "value": [],
        "tensors": [],
    }
    assert [found["category_id"] for found in ast.literal_eval(answer["value"][0])] == [16]


@pytest.mark.long
def test_wide_and_deep_is_fetched_converted_and_served(kubectl: Kubectl, public: Path) -> None:
    model = public / "models" / "wide-deep"
    model.mkdir(parents=True)
    code = suite("wide-and-deep").folder / "code"
    subprocess.run(
        [python("wide-and-deep"), "-c", WRITER, str(model)],
        cwd=code, env=variables("wide-and-deep"), check=True, timeout=LIMIT, stdout=sys.stderr,
    )  # fmt: skip
    with tarfile.open(model / "wide-deep.tar.gz", "w:gz") as archive:
        for file in sorted(model.glob("rec_inference.*")):
            archive.add(file, f"wide-deep/{file.name}")
    kubectl("apply", "-f", str(EXAMPLES / "wide-deep-serving.yaml"))
    name = "wide-deep-serving"

    def address() -> str:
        return kubectl.run(
            "get", "svc", f"{name}-default-private", "-n", SPACE, "-o", "jsonpath={.spec.clusterIP}"
        ).stdout

    assert until(address, what="the private Service")
    feed = {f"C{n}": [n] for n in range(1, 27)} | {"dense_input": [0.1] * 13}
    body = json.dumps({"feed": [feed], "fetch": []})
    line = (
        f"curl -H 'Host: {name}.{SPACE}.example.com' -d '{body}' http://<IP-address>:<Port>/wide/prediction"
    )
    place = place_of_gateway(kubectl)

    answer = until(
        lambda: next((a for a in [curl(line, place)] if "result" in a), None), what="an answer", limit=LIMIT
    )
    [values] = answer["result"].values()
    assert 0 < values[0][0] < 1
    assert kubectl("get", "svc", "-n", SPACE).count(name) >= 2

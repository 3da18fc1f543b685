"""One server with several models, asked in every protocol that goes over HTTP."""

import gzip
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.serving.modelservers import ROWS, ask, exchange, metric, models, serving

FLAT = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
X = {"name": "x", "datatype": "FP32", "shape": [1, 2, 3], "data": FLAT}
N = {"name": "n", "datatype": "INT64", "shape": [1], "data": [4]}
SPLIT = "Inference-Header-Content-Length"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving("--models", str(models())) as address:
        yield address


def infer(address: str, *inputs: dict[str, Any], **more: Any) -> tuple[int, dict[str, Any]]:
    status, answer = ask(f"{address}/v2/models/sums/infer", {"inputs": list(inputs), **more})
    return status, json.loads(answer)


def test_health_and_metadata_of_the_open_inference_protocol(address: str) -> None:
    assert ask(f"{address}/v2/health/live")[0] == ask(f"{address}/v2/health/ready")[0] == 200
    assert json.loads(ask(f"{address}/v2")[1])["extensions"] == ["binary_tensor_data", "model_repository"]
    for path in ("sums", "sums/versions/1"):
        assert json.loads(ask(f"{address}/v2/models/{path}")[1])["platform"] == "onnxruntime_onnx"
        assert ask(f"{address}/v2/models/{path}/ready")[0] == 200
    ready = [{"name": n, "version": "1", "state": "READY"} for n in ("colours", "mixed", "sums")]
    assert json.loads(ask(f"{address}/v2/repository/index", {})[1]) == ready


def test_tensors_in_json(address: str) -> None:
    status, answer = infer(address, X, N, id="7")
    assert (status, answer) == (
        200,
        {
            "model_name": "sums",
            "model_version": "1",
            "id": "7",
            "outputs": [
                {"name": "total", "datatype": "FP32", "shape": [1], "data": [21.0]},
                {"name": "twice", "datatype": "INT64", "shape": [1], "data": [8]},
            ],
        },
    )


def test_only_the_outputs_that_were_asked_for(address: str) -> None:
    _, answer = infer(address, X, N, outputs=[{"name": "twice"}])
    assert [o["name"] for o in answer["outputs"]] == ["twice"]


@pytest.mark.parametrize(
    "change, told",
    [
        ({"datatype": "FP64"}, "inputs[0].datatype is FP64, the model takes FP32"),
        ({"shape": [1, 3, 2]}, "inputs[0].shape is [1, 3, 2]"),
        ({"shape": "x"}, "inputs[0].shape must be a list"),
        ({"shape": [2, 2, 3]}, "inputs[0].shape [2, 2, 3] needs 12 values, there are 6"),
        ({"data": ["a"] * 6}, "inputs[0].data must hold numbers"),
        ({"data": [1e300] * 6}, "inputs[0].data has numbers that are no float32"),
        ({"name": "y"}, "inputs lacks x"),
        ({"name": None}, "inputs[0] must be an object with a name"),
        ({"parameters": {"binary_data_size": 24}}, "binary_data_size is 24, 0 bytes follow"),
    ],
)
def test_a_tensor_that_does_not_fit_is_refused_by_its_field(
    address: str, change: dict[str, Any], told: str
) -> None:
    status, answer = infer(address, {**X, **change}, N)
    assert status == 400 and told in answer["error"]


def test_tensors_as_bytes_behind_the_json(address: str) -> None:
    x = {**X, "parameters": {"binary_data_size": 24}}
    del x["data"]
    asked = [{"name": "total", "parameters": {"binary_data": True}}, {"name": "twice"}]
    head = json.dumps({"inputs": [x, N], "outputs": asked}).encode()
    body = head + struct.pack("<6f", *FLAT)
    status, content, headers = exchange(f"{address}/v2/models/sums/infer", body, {SPLIT: str(len(head))})
    length = int(headers[SPLIT.lower()])
    outputs = json.loads(content[:length])["outputs"]
    assert status == 200 and outputs[0]["parameters"] == {"binary_data_size": 4}
    assert outputs[1]["data"] == [8] and struct.unpack("<f", content[length:]) == (21.0,)
    for wrong in (body + b"x", body[:-1]):
        assert ask(f"{address}/v2/models/sums/infer", wrong, {SPLIT: str(len(head))})[0] == 400
    assert ask(f"{address}/v2/models/sums/infer", body, {SPLIT: "99999"})[0] == 400


@pytest.mark.parametrize(
    "path, told",
    [
        ("/v2/models/none/infer", "there is no model none; served are: colours, mixed, sums"),
        ("/none/prediction", "there is no model none"),
        ("/v2/models/sums/other", "Not Found: POST"),
    ],
)
def test_what_is_not_there_is_404_with_what_is(address: str, path: str, told: str) -> None:
    status, answer = ask(f"{address}{path}", {})
    assert status == 404 and told in json.loads(answer)["error"]


def test_a_prediction_has_to_be_posted(address: str) -> None:
    assert ask(f"{address}/v2/models/sums/infer")[0] == ask(f"{address}/sums/prediction")[0] == 405


@pytest.mark.parametrize(
    "body, answer",
    [
        (
            {"key": ["x", "n"], "value": [str(ROWS), "[4]"]},
            {
                "err_no": 0,
                "err_msg": "",
                "key": ["total", "twice"],
                "value": ["[21.0]", "[8]"],
                "tensors": [],
            },
        ),
        (
            {
                "tensors": [
                    {"name": "x", "shape": [1, 2, 3], "float_data": FLAT},
                    {"name": "n", "shape": [1], "int64_data": [4]},
                ]
            },
            {
                "err_no": 0,
                "err_msg": "",
                "key": ["total", "twice"],
                "value": ["[21.0]", "[8]"],
                "tensors": [],
            },
        ),
    ],
    ids=["texts", "tensors"],
)
def test_the_pipeline_form_of_paddle_serving(address: str, body: Any, answer: dict[str, Any]) -> None:
    status, got = ask(f"{address}/sums/prediction", body)
    assert (status, json.loads(got)) == (200, answer)


@pytest.mark.parametrize(
    "body, told",
    [
        ({"key": ["x"], "value": []}, '"key" has 1 entries and "value" 0'),
        ({"key": "x", "value": ["1"]}, '"key" must be a list of texts'),
        ({"key": [], "value": []}, "empty"),
        ({"key": ["x"], "value": ["[1]"]}, "lacks n"),
        ({"tensors": [{"name": "x", "float_data": [1], "shape": [2]}]}, '"tensors"[0].shape [2] needs 2'),
        ({"tensors": [{"float_data": [1]}]}, '"tensors"[0] needs a name'),
        ({"tensors": [{"name": "x"}]}, '"tensors"[0] needs exactly one list'),
    ],
)
def test_a_pipeline_request_that_does_not_fit_has_an_error_number(address: str, body: Any, told: str) -> None:
    before = metric(address, 'protocol="pipeline"', 'code="400"')
    status, got = ask(f"{address}/sums/prediction", body)
    answer = json.loads(got)
    assert status == 200 and answer["err_no"] == 5000 and told in answer["err_msg"]
    assert metric(address, 'protocol="pipeline"', 'code="400"') == before + 1


def test_the_http_access_of_the_c_server() -> None:
    tensors = [
        {"alias_name": "x", "shape": [1, 2, 3], "elem_type": 1, "float_data": FLAT},
        {"name": "n", "shape": [1], "elem_type": 0, "int64_data": [4]},
    ]
    with serving("--model", f"sums={models() / 'sums'}") as address:
        url = f"{address}/GeneralModelService/inference"
        status, got = ask(url, {"tensor": tensors, "fetch_var_names": ["twice"], "log_id": 1})
        answer = json.loads(got)
        twice = {"int64_data": [8], "elem_type": 0, "shape": [1], "name": "twice", "alias_name": "twice"}
        assert status == 200 and answer["err_no"] == 0
        assert answer["outputs"] == [{"tensor": [twice], "engine_name": "sums"}]
        status, got = ask(url, {"tensor": tensors[:1], "fetch_var_names": []})
        assert status == 400 and '"tensor" lacks n' in json.loads(got)["err_msg"]


@pytest.mark.parametrize(
    "given, kept", [("a-1", True), ("", False), ("x" * 200, False)], ids=["kept", "made", "too long"]
)
def test_every_answer_has_the_id_of_its_request(address: str, given: str, kept: bool) -> None:
    for path in ("/healthz", "/nowhere"):
        _, _, headers = exchange(f"{address}{path}", headers={"X-Request-Id": given})
        identity = headers["x-request-id"]
        assert identity == given if kept else len(identity) == 32 and identity != given


@pytest.mark.parametrize(
    "encoding, content, status",
    [
        ("gzip", gzip.compress, 200),
        ("deflate", zlib.compress, 200),
        ("identity", bytes, 200),
        ("gzip", lambda body: gzip.compress(body)[:-9], 400),
        ("gzip", bytes, 400),
        ("br", bytes, 415),
        ("gzip", lambda body: gzip.compress(body + b" " * (65 << 20), 1), 413),
    ],
    ids=["gzip", "deflate", "plain", "cut short", "not packed", "another way", "blown up"],
)
def test_packed_bodies(address: str, encoding: str, content: Callable[[bytes], bytes], status: int) -> None:
    body = content(json.dumps({"inputs": [X, N]}).encode())
    assert ask(f"{address}/v2/models/sums/infer", body, {"Content-Encoding": encoding})[0] == status

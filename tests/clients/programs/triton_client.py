"""Asks a model server through tritonclient, over HTTP and over gRPC; prints what it learned as JSON."""

import json
import sys

import numpy as np
import tritonclient.grpc
import tritonclient.http
from google.protobuf.json_format import MessageToJson
from tritonclient.utils import InferenceServerException


def main() -> None:
    host = sys.argv[1]
    said = {}
    for name, module in (("http", tritonclient.http), ("grpc", tritonclient.grpc)):
        client = module.InferenceServerClient(host)
        said[name] = {**health(client), **inference(client, module, name), **refusals(client, module)}
        client.close()
    print(json.dumps(said))


def health(client):
    return {
        "live": client.is_server_live(),
        "ready": client.is_server_ready(),
        "model": client.is_model_ready("sums"),
        "other": client.is_model_ready("none"),
    }


def inputs(module, width=3):
    x = module.InferInput("x", [2, 2, width], "FP32")
    x.set_data_from_numpy(np.arange(2 * 2 * width, dtype="float32").reshape(2, 2, width))
    n = module.InferInput("n", [2], "INT64")
    n.set_data_from_numpy(np.array([4, 5]))
    return [x, n]


def inference(client, module, name):
    described = client.get_model_metadata("sums")
    if name == "grpc":
        described = json.loads(MessageToJson(described))
    result = client.infer("sums", inputs(module), request_id="7")
    wanted = [module.InferRequestedOutput("twice")]
    return {
        "takes": [t["name"] for t in described["inputs"]],
        "total": result.as_numpy("total").tolist(),
        "twice": result.as_numpy("twice").tolist(),
        "only": client.infer("sums", inputs(module), outputs=wanted).as_numpy("total") is None,
    }


def refusals(client, module):
    said = {}
    for case, model, width in (("shape", "sums", 4), ("unknown", "none", 3)):
        try:
            client.infer(model, inputs(module, width))
        except InferenceServerException as error:
            said[case] = error.message()
    return said


if __name__ == "__main__":
    main()

"""KServe's Python server with the same engine, over the Open Inference Protocol.

python kserve_server.py MODEL.onnx PORT
"""

import sys

import onnxruntime
from kserve import InferOutput, InferResponse, Model, ModelServer


class Predictor(Model):
    def __init__(self, file):
        super().__init__("model")
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(file, settings, providers=["CPUExecutionProvider"])
        self.ready = True

    def predict(self, payload, headers=None, response_headers=None):
        y = self.session.run(None, {"x": payload.inputs[0].as_numpy()})[0]
        output = InferOutput("y", list(y.shape), "FP32")
        output.set_data_from_numpy(y, binary_data=False)
        return InferResponse(payload.id or "1", "model", [output])


if __name__ == "__main__":
    file, port = sys.argv[1:3]
    sys.argv = sys.argv[:1]
    ModelServer(http_port=int(port), workers=1, enable_grpc=False, access_log_format=None).start(
        [Predictor(file)]
    )

"""BentoML's server with the same engine; batchable, as its documents advise for models.

bentoml serve bentoml_service:Predictor --port PORT      (MODEL names the file)
"""

import os

import bentoml
import numpy as np
import onnxruntime


@bentoml.service(workers=1, traffic={"timeout": 30})
class Predictor:
    def __init__(self):
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        model = os.environ["MODEL"]
        self.session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])

    @bentoml.api(batchable=True, max_batch_size=32, max_latency_ms=1000)
    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.session.run(None, {"x": x.astype("float32")})[0]

"""FastAPI with the same engine, written for speed: orjson, uvloop, httptools, inference on the loop.

python fastapi_server.py MODEL.onnx PORT
"""

import sys

import numpy as np
import onnxruntime
import orjson
import uvicorn
from fastapi import FastAPI, Request, Response

settings = onnxruntime.SessionOptions()
settings.intra_op_num_threads = settings.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], settings, providers=["CPUExecutionProvider"])
shape = [1, *session.get_inputs()[0].shape[1:]]
app = FastAPI()


@app.post("/predict")
async def predict(request: Request):
    body = await request.body()
    if request.headers.get("content-type") == "application/octet-stream":
        x = np.frombuffer(body, "float32").reshape(shape)
    else:
        x = np.asarray(orjson.loads(body)["x"], "float32").reshape(shape)
    y = session.run(None, {"x": x})[0]
    return Response(orjson.dumps({"y": y}, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error", access_log=False)

"""The engine without a server: how often it computes one sample in a loop, on one thread.

python raw.py MODEL.onnx SECONDS SIZE…
"""

import json
import sys
import time

import numpy as np
import onnxruntime


def main():
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(sys.argv[1], settings, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(0).random([1, *map(int, sys.argv[3:])], "float32")
    session.run(None, {"x": x})
    times, until = [], time.perf_counter() + float(sys.argv[2])
    before = time.process_time()
    while (began := time.perf_counter()) < until:
        session.run(None, {"x": x})
        times.append(time.perf_counter() - began)
    print(json.dumps({"times": times, "processor": time.process_time() - before}))


if __name__ == "__main__":
    main()

"""Writes the models that are served: an MLP 64-256-256-10 and a network of ResNet18's size, random weights.

python models.py FOLDER      (needs onnx)
"""

import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

RNG = np.random.default_rng(0)


class Graph:
    """Collects nodes and weights; every method returns the name of what it adds."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def weight(self, *shape):
        name = f"w{len(self.weights)}"
        values = RNG.normal(0, (2 / np.prod(shape[1:])) ** 0.5 if len(shape) > 1 else 0.01, shape)
        self.weights.append(numpy_helper.from_array(values.astype("float32"), name))
        return name

    def add(self, kind, *inputs, output=None, **attributes):
        output = output or f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def convolution(self, x, inputs, outputs, size, stride):
        pads = [size // 2] * 4
        weights = self.weight(outputs, inputs, size, size), self.weight(outputs)
        return self.add("Conv", x, *weights, kernel_shape=[size, size], strides=[stride, stride], pads=pads)

    def block(self, x, inputs, outputs, stride):
        inner = self.add("Relu", self.convolution(x, inputs, outputs, 3, stride))
        inner = self.convolution(inner, outputs, outputs, 3, 1)
        around = x if inputs == outputs else self.convolution(x, inputs, outputs, 1, stride)
        return self.add("Relu", self.add("Add", inner, around))

    def save(self, file, shape, classes):
        value = helper.make_tensor_value_info
        takes = value("x", TensorProto.FLOAT, ["batch", *shape])
        gives = value("y", TensorProto.FLOAT, ["batch", classes])
        graph = helper.make_graph(self.nodes, "model", [takes], [gives], self.weights)
        file.parent.mkdir(parents=True, exist_ok=True)
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(file))


def mlp(file):
    graph, x = Graph(), "x"
    for inputs, outputs in ((64, 256), (256, 256)):
        x = graph.add("Gemm", x, graph.weight(inputs, outputs), graph.weight(outputs))
        x = graph.add("Relu", x)
    graph.add("Gemm", x, graph.weight(256, 10), graph.weight(10), output="y")
    graph.save(file, [64], 10)


def cnn(file):
    graph = Graph()
    x = graph.add("Relu", graph.convolution("x", 3, 64, 7, 2))
    x = graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    before = 64
    for width in (64, 128, 256, 512):
        x = graph.block(x, before, width, 1 if width == 64 else 2)
        x = graph.block(x, width, width, 1)
        before = width
    x = graph.add("Flatten", graph.add("GlobalAveragePool", x))
    graph.add("Gemm", x, graph.weight(512, 1000), graph.weight(1000), output="y")
    graph.save(file, [3, 224, 224], 1000)


if __name__ == "__main__":
    mlp(Path(sys.argv[1]) / "mlp" / "model.onnx")
    cnn(Path(sys.argv[1]) / "cnn" / "model.onnx")

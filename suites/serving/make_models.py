"""Writes the models of the examples: small ones that stand for those nobody can carry around.

    python make_models.py [CODE_FOLDER]      (needs onnx; the suite paddle has it)

*Words*: two neighbours belong to one word when some word of the list has them side by side. *Flowers*: how
much of a picture is white, yellow, red, pink or dark decides which one it shows. *Things*: a dog is where a
picture is brown. The same bytes every time.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

CODE = Path(__file__).parent / "code"
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
COLOURS = {
    "white": ((1.0, 1.0, 1.0), -2.2),
    "yellow": ((1.0, 1.0, -2.0), -0.9),
    "red": ((1.0, -1.2, -0.6), -0.3),
    "pink": ((1.0, -1.6, 0.7), -0.45),
    "dark": ((-1.0, -1.0, -1.0), 0.9),
}
"""Weights of red, green and blue, and what is added: above zero where a pixel has the colour."""
FLOWERS = {
    "daisy": {"white": 30, "yellow": 4},
    "dandelion": {"yellow": 24, "white": -20, "dark": -10},
    "rose": {"red": 24, "pink": -10},
    "sunflower": {"yellow": 16, "dark": 12, "white": -20},
    "tulip": {"pink": 30, "red": 8},
}

THINGS = (
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light",
    "fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat", "dog",
)  # fmt: skip
"""The first labels of COCO, whose numbers the answers of the example have."""
BROWN, STEEP = (1.0, 0.0, -1.0, -0.25), 30.0
NEVER = -20.0


def main():
    code = Path(sys.argv[1]) if len(sys.argv) > 1 else CODE
    words(code / "lac_model", (CODE / "lac_model" / "words.txt").read_text(encoding="utf-8").split())
    flowers(code / "Serving" / "python" / "examples" / "imagenet" / "ResNet50_vd_model")
    things(code / "yolov3")


def words(folder, known):
    letters = ["OOV", *sorted({letter for word in known for letter in word})]
    ids = {letter: number for number, letter in enumerate(letters)}
    inner = sorted({ids[a] * len(letters) + ids[b] for word in known for a, b in pairwise(word)})
    nodes = [
        helper.make_node("Slice", ["words", "zero", "minus_one", "axis"], ["before"]),
        helper.make_node("Slice", ["words", "one", "most", "axis"], ["after"]),
        helper.make_node("Mul", ["before", "letters"], ["scaled"]),
        helper.make_node("Add", ["scaled", "after"], ["pairs"]),
        helper.make_node("Unsqueeze", ["pairs", "last"], ["column"]),
        helper.make_node("Equal", ["column", "inner"], ["equal"]),
        helper.make_node("Cast", ["equal"], ["matches"], to=TensorProto.INT32),
        helper.make_node("ReduceMax", ["matches"], ["joined"], axes=[2], keepdims=0),
        helper.make_node("Cast", ["joined"], ["rest"], to=TensorProto.INT64),
        helper.make_node("Slice", ["words", "zero", "one", "axis"], ["first"]),
        helper.make_node("Mul", ["first", "zero"], ["begin"]),
        helper.make_node("Concat", ["begin", "rest"], ["inside"], axis=1),
    ]
    numbers = {"zero": [0], "one": [1], "minus_one": [-1], "most": [2**31], "axis": [1], "last": [2],
               "letters": [len(letters)], "inner": inner}  # fmt: skip
    weights = [numpy_helper.from_array(np.array(v, "int64"), k) for k, v in numbers.items()]
    takes = helper.make_tensor_value_info("words", TensorProto.INT64, ["texts", "letters"])
    gives = helper.make_tensor_value_info("inside", TensorProto.INT64, ["texts", "letters"])
    write(folder, helper.make_graph(nodes, "words", [takes], [gives], weights))
    (folder / "word.dic").write_text("".join(f"{n}\t{c}\n" for c, n in ids.items()), encoding="utf-8")


def flowers(folder):
    # Pictures come normalised: the weights of the colours are brought to that scale.
    kernel = np.stack([np.array(rgb) * DEVIATION for rgb, _ in COLOURS.values()])
    offset = np.array([plus + np.dot(rgb, MEAN) for rgb, plus in COLOURS.values()])
    scores = np.array([[says.get(colour, 0) for colour in COLOURS] for says in FLOWERS.values()])
    weights = {"kernel": kernel[:, :, None, None], "offset": offset, "scores": scores.T}
    nodes = [
        helper.make_node("Conv", ["image", "kernel", "offset"], ["shades"], kernel_shape=[1, 1]),
        helper.make_node("Relu", ["shades"], ["colours"]),
        helper.make_node("GlobalAveragePool", ["colours"], ["amounts"]),
        helper.make_node("Flatten", ["amounts"], ["flat"]),
        helper.make_node("MatMul", ["flat", "scores"], ["sums"]),
        helper.make_node("Softmax", ["sums"], ["score"]),
    ]
    initial = [numpy_helper.from_array(v.astype("float32"), k) for k, v in weights.items()]
    takes = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["pictures", 3, 224, 224])
    gives = helper.make_tensor_value_info("score", TensorProto.FLOAT, ["pictures", len(FLOWERS)])
    write(folder, helper.make_graph(nodes, "flowers", [takes], [gives], initial))
    (folder / "labels.txt").write_text("".join(f"{name}\n" for name in FLOWERS), encoding="utf-8")


def things(folder):
    kernel, offset = np.zeros((len(THINGS), 3, 1, 1)), np.full(len(THINGS), NEVER)
    dog = THINGS.index("dog")
    kernel[dog, :, 0, 0], offset[dog] = np.array(BROWN[:3]) * STEEP, BROWN[3] * STEEP
    nodes = [
        helper.make_node("Conv", ["image", "kernel", "offset"], ["sums"], kernel_shape=[1, 1]),
        helper.make_node("Sigmoid", ["sums"], ["heat"]),
    ]
    weights = {"kernel": kernel, "offset": offset}
    initial = [numpy_helper.from_array(v.astype("float32"), k) for k, v in weights.items()]
    takes = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["pictures", 3, 128, 128])
    gives = helper.make_tensor_value_info("heat", TensorProto.FLOAT, ["pictures", len(THINGS), 128, 128])
    write(folder, helper.make_graph(nodes, "things", [takes], [gives], initial))
    (folder / "label_list.txt").write_text("".join(f"{name}\n" for name in THINGS), encoding="utf-8")


def write(folder, graph):
    folder.mkdir(parents=True, exist_ok=True)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save(model, str(folder / "model.onnx"))


if __name__ == "__main__":
    main()

"""PaddleClas, PaddleDetection and PaddleNLP: each learns, exports and is served, by its own commands."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.serving.modelservers import ask, serving
from tests.suites.kits import module, run

from paddlecloud.controllers.trainlines import read

make_data = module("make_data")
CLASSES = "ppcls/configs/quick_start/ShuffleNetV2_x0_25.yaml"
THINGS = "configs/picodet/picodet_s_320_coco_lcnet.yml"
SENTENCES = "applications/text_classification/multi_class/train.py"
SHAPES = """
import numpy as np, paddle
from clas.classification import resnet
from det.finder import Finder, losses
from det.precision import average_precision
from det.suppression import overlaps, things
from nlp.sentiment import Judge, encoded, tokens, vocabulary

assert resnet(4)(paddle.rand([2, 3, 32, 32])).shape == [2, 4]
scores, boxes = Finder(4, 96)(paddle.rand([2, 3, 96, 96]))
assert scores.shape == [2, 144, 4] and boxes.shape == [2, 144, 4]
assert bool((boxes[:, :, 2:] >= boxes[:, :, :2]).all())
nothing = losses(scores, boxes, paddle.zeros([2, 144, 4]), paddle.zeros([2, 144, 4]))
assert float(nothing["loss_bbox"]) == 0 and np.isfinite(float(nothing["loss"]))

box = np.array([10.0, 10, 30, 30])
assert overlaps(np.stack([box, box + 10, box + 50]), box).round(3).tolist() == [1, 0.143, 0]
chances = np.array([[0.9, 0], [0.8, 0], [0.7, 0.6]])
found = things(chances, np.stack([box, box + 1, box + 40]))
assert [(label, score) for label, score, _ in found] == [(0, 0.9), (0, 0.7), (1, 0.6)]
assert average_precision([[(0, 0.9, box)]], [[(0, box)]], 2) == {"ap": 1.0, "ap50": 1.0}
assert average_precision([[(0, 0.9, box + 5)]], [[(0, box)]], 1)["ap"] == 0.0
half = average_precision([[(0, 0.9, box)], []], [[(0, box)], [(0, box)]], 1)
assert 0.49 < half["ap"] < 0.52
assert average_precision([[]], [[]], 3) == {"ap": 0.0, "ap50": 0.0}

words = vocabulary(["good day", "good 好书"])
assert words[:3] == ["[PAD]", "[UNK]", "good"] and tokens("Good 好书") == ["good", "好", "书"]
numbers = {word: n for n, word in enumerate(words)}
assert encoded("good what", numbers, 4).tolist() == [2, 1, 0, 0]
judge = Judge(len(words), 4, 2)
judge.eval()
short, long = (paddle.to_tensor(np.stack([encoded("good", numbers, 4)] * n)) for n in (1, 3))
assert judge(long).shape == [3, 2] and np.allclose(judge(short).numpy(), judge(long).numpy()[:1], atol=1e-6)
"""


def answered(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def classes(data: Path, output: Path) -> list[str]:
    told = [f"Global.output_dir={output}", f"Infer.PostProcess.class_id_map_file={data / 'labels.txt'}"]
    for split, file in (("Train", "train_list.txt"), ("Eval", "val_list.txt")):
        told += [f"DataLoader.{split}.dataset.image_root={data}"]
        told += [f"DataLoader.{split}.dataset.cls_label_path={data / file}"]
    # As PaddleClas has it: one `-o` a change.
    return [word for change in told for word in ("-o", change)]


def things(data: Path, output: Path) -> list[str]:
    return ["-o", f"TrainDataset.dataset_dir={data}", f"EvalDataset.dataset_dir={data}", f"save_dir={output}"]


def served(model: Path, feed: dict[str, Any]) -> dict[str, Any]:
    with serving("--model", str(model), "--name", "m", suite="serving-paddle") as at:
        status, text = ask(f"{at}/m/prediction", {"feed": [feed], "fetch": []})
    assert status == 200, text
    found: dict[str, Any] = json.loads(text)["result"]
    return found


def encoded(picture: Path) -> str:
    return base64.b64encode(picture.read_bytes()).decode()


def test_networks_and_metrics_are_what_the_training_relies_on() -> None:
    answered(run("paddleclas", "-c", SHAPES))


@pytest.mark.parametrize(
    "command, said",
    [
        (["tools/train.py", "-c", CLASSES], "train_list.txt cannot be read (No such file or directory)"),
        (["tools/train.py", "-c", THINGS], "instances_train2017.json cannot be read"),
        ([SENTENCES, "--do_train", "--data_dir", "/nowhere"], "/nowhere/label.txt cannot be read"),
        (["tools/train.py", "-c", CLASSES, "-o", "Arch.class_num=1"], "a number from 2 on is needed"),
    ],
)
def test_what_cannot_be_trained_is_a_sentence_and_exit_code_two(command: list[str], said: str) -> None:
    done = run("paddleclas", *command)

    assert done.returncode == 2 and done.stderr.startswith("cannot train: ") and said in done.stderr
    assert done.stderr.count("\n") == 1


def test_pictures_are_named_from_training_to_service(tmp_path: Path) -> None:
    data = make_data.make("flowers102", tmp_path / "data", 800, 100)
    told = classes(data, tmp_path / "out")
    learnt = answered(run("paddleclas", "tools/train.py", "-c", CLASSES, *told))
    lines = [found for line in learnt.splitlines() if (found := read(line))]
    moves = [found for found in lines if found.moves]
    assert (moves[-1].epoch, moves[-1].epochs, moves[-1].step, moves[-1].steps) == (4, 4, 25, 25)
    assert max(found.metrics["top1"] for found in lines if found.verdict and "top1" in found.metrics) >= 0.8

    model = tmp_path / "model"
    export = ("-o", f"Global.save_inference_dir={model}")
    answered(run("paddleclas", "tools/export_model.py", "-c", CLASSES, *told, *export))
    path, label = (data / "val_list.txt").read_text().splitlines()[2].split()
    answer = served(model, {"x": encoded(data / path)})
    assert answer["label"] == [(data / "labels.txt").read_text().split()[int(label)]]


@pytest.mark.long
def test_things_are_found_from_training_to_service(tmp_path: Path) -> None:
    data = make_data.make("coco", tmp_path / "data", 200, 40)
    told = things(data, tmp_path / "out")
    curves = ("--use_vdl=true", f"--vdl_log_dir={tmp_path / 'vdl'}", "--eval")
    learnt = answered(run("paddledetection", "tools/train.py", "-c", THINGS, *curves, *told))
    assert float(re.findall(r"Best test bbox ap is ([\d.]+)\.", learnt)[-1]) >= 0.5, learnt
    moves = [found for line in learnt.splitlines() if (found := read(line)) and found.moves]
    assert (moves[-1].step, moves[-1].steps) == (24, 25) and "loss_bbox" in moves[-1].metrics
    assert [p.name.startswith("vdlrecords.") for p in (tmp_path / "vdl").iterdir()] == [True]

    answered(
        run(
            "paddledetection",
            "tools/export_model.py",
            "-c",
            THINGS,
            f"--output_dir={tmp_path / 'model'}",
            *told,
        )
    )
    [picture, *_] = json.loads((data / "annotations" / "instances_val2017.json").read_text())["images"]
    file = data / "val2017" / picture["file_name"]
    [found] = served(tmp_path / "model" / Path(THINGS).stem, {"image": encoded(file)})["things"]
    said = json.loads((data / "annotations" / "instances_val2017.json").read_text())
    names = {kind["id"]: kind["name"] for kind in said["categories"]}
    truth = [names[m["category_id"]] for m in said["annotations"] if m["image_id"] == picture["id"]]
    assert sorted(thing["label"] for thing in found if thing["score"] > 0.5) == sorted(truth)


def test_sentences_are_judged_from_training_to_service(tmp_path: Path) -> None:
    data = make_data.make("reviews", tmp_path / "data", 2000, 200)
    deeds = ("--do_train", "--do_eval", "True", "--do_export", "--device", "gpu")
    learnt = answered(
        run("paddlenlp", SENTENCES, *deeds, "--data_dir", str(data), "--output_dir", str(tmp_path / "out"))
    )
    assert float(re.findall(r"eval loss: [\d.]+, accuracy: ([\d.]+)", learnt)[-1]) >= 0.9, learnt
    moves = [found for line in learnt.splitlines() if (found := read(line)) and found.moves]
    assert (moves[-1].epoch, moves[-1].epochs) == (4, 4)

    answer = served(tmp_path / "out" / "export", {"text": "the food was not good"})
    assert answer["label"] == ["negative"] and answer["prob"][0] > 0.8

"""PaddleOCR's commands: they find and read text, keep and export what they learnt, and say what is wrong."""

from __future__ import annotations

import base64
import json
import re
import socket
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.serving.modelservers import ask, serving
from tests.suites.environments import python, variables
from tests.suites.kits import CODE, module, run, text_detection, text_recognition

from paddlecloud.controllers.trainlines import read
from paddlecloud.embedded.node.recordplaces import Place, own_records
from paddlecloud.embedded.node.records import RecordFile

make_data = module("make_data")
DETECTION, RECOGNITION = "configs/det/det_mv3_db.yml", "configs/rec/rec_icdar15_train.yml"
DISTILLATION = "configs/det/ch_PP-OCRv3/ch_PP-OCRv3_det_cml.yml"
GEOMETRY = """
import numpy as np, paddle
from ocr.boxes import boxes
from ocr.dbnet import Distillation, Finder, Judged, db_loss
from ocr.maps import maps
from ocr.polygons import overlap, score
from ocr.recognition import Reader, codes, spelled

square = np.array([[10, 10], [50, 10], [50, 30], [10, 30]], float)
assert overlap(square, square) == 1
assert abs(overlap(square, square + [20, 0]) - 1 / 3) < 1e-9
assert overlap(square, square[::-1]) == 1 and overlap(square, square + 100) == 0
assert score([[square, square + 100]], [[square]]) == {"precision": 0.5, "recall": 1.0, "hmean": 2 / 3}

# What a page is turned into leads back to its words, turned ones too.
turned = np.array([[60, 100], [120, 120], [114, 138], [54, 118]], float)
found = maps([square, turned], [False, False], 160)
assert {a.shape for a in found} == {(160, 160)} and found.text_mask.all() and 0.3 <= found.border.min()
back = [corners for corners, _ in boxes(found.text, growth=2.6)]
assert len(back) == 2 and all(max(overlap(box, truth) for truth in (square, turned)) > 0.7 for box in back)
unknown = maps([square], [True], 160)
assert not unknown.text.any() and unknown.text_mask[20, 30] == 0 and unknown.text_mask[100, 100] == 1
assert boxes(np.zeros((32, 32), "float32")) == []

image = paddle.rand([2, 3, 64, 64])
finder = Finder()
assert finder(image).shape == [2, 3, 64, 64]
wanted = [paddle.to_tensor(np.stack([a[:64, :64]] * 2)) for a in found]
assert float(db_loss(finder(image), wanted)["loss"]) > 0
finder.eval()
assert finder(image).shape == [2, 1, 64, 64]
taught = Distillation({"Student": False, "Student2": False, "Teacher": True})
assert set(taught(image)) == {"Student", "Student2", "Teacher"}
assert all(p.stop_gradient for p in taught.Teacher.parameters())
assert not taught.Student.parameters()[0].stop_gradient
taught.train()
assert taught.Student.training and not taught.Teacher.training
assert Judged(taught).network is taught.Student

assert Reader(11)(paddle.rand([2, 3, 32, 96])).shape == [2, 12, 11]
known = list("0123abc")
assert codes("1B?", known) == [2, 6] and spelled(np.array([0, 2, 2, 0, 2, 6]), known) == "11b"
"""


def answered(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_geometry_and_networks_are_what_the_training_relies_on() -> None:
    answered(run("paddleocr", "-c", GEOMETRY))


def test_a_short_training_tells_its_progress_and_goes_on(tmp_path: Path) -> None:
    data = make_data.make("icdar2015", tmp_path / "data", 16, 2)
    told = [*text_detection(data, tmp_path / "out"), "Global.print_batch_step=1"]
    first = answered(run("paddleocr", "tools/train.py", "-c", DETECTION, "-o", *told, "Global.epoch_num=1"))
    latest = f"Global.checkpoints={tmp_path / 'out' / 'latest'}"
    second = answered(
        run("paddleocr", "tools/train.py", "-c", DETECTION, "-o", *told, latest, "Global.epoch_num=2")
    )

    assert "trains on a small network of PaddleCloud's" in first
    lines = [found for line in (first + second).splitlines() if (found := read(line)) and found.moves]
    assert [(line.epoch, line.epochs, line.step) for line in lines] == [
        (1, 1, 1), (1, 1, 2), (2, 2, 3), (2, 2, 4),
    ]  # fmt: skip
    assert {"loss", "loss_shrink_maps", "lr"} <= set(lines[0].metrics) and lines[-1].left == 0
    verdicts = [found for line in first.splitlines() if (found := read(line)) and found.verdict]
    assert {"precision", "recall", "hmean"} <= set(verdicts[0].metrics)
    kept = {p.name for p in (tmp_path / "out").iterdir()}
    assert kept == {
        "vdl",
        *(f"latest.{kind}" for kind in ("pdparams", "pdopt", "states")),
        *(f"best_accuracy.{kind}" for kind in ("pdparams", "pdopt", "states")),
    }
    curves = [RecordFile(found) for found in own_records([Place(tmp_path / "out")], 0)]
    for curve in curves:
        curve.read_on(1 << 20)
    assert {"TRAIN/loss", "TRAIN/lr", "EVAL/hmean"} <= set(curves[-1].newest)


def test_the_weights_of_the_documents_lie_in_the_suite(tmp_path: Path) -> None:
    address = "https://paddleocr.bj.bcebos.com/PP-OCRv3/chinese/ch_PP-OCRv3_det_distill_train.tar"
    subprocess.run(
        [str(CODE / "bin" / "wget"), "-c", "-P", str(tmp_path), address],
        env=variables("paddleocr"),
        check=True,
        timeout=30,
        capture_output=True,
    )
    with tarfile.open(tmp_path / "ch_PP-OCRv3_det_distill_train.tar") as tar:
        name = "ch_PP-OCRv3_det_distill_train/best_accuracy.pdparams"
        assert tar.getnames() == [name]
        content = tar.extractfile(name)
        assert content is not None
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(content.read())
    data = make_data.make("icdar2015", tmp_path / "data", 8, 2)
    given = f"Global.checkpoints={tmp_path / 'ch_PP-OCRv3_det_distill_train' / 'best_accuracy'}"
    judged = answered(
        run("paddleocr", "tools/eval.py", "-c", DISTILLATION, "-o", *text_detection(data, tmp_path), given)
    )
    assert re.search(r"hmean:(0\.[5-9]|1\.0)", judged), judged


@pytest.mark.parametrize(
    "change, said",
    [
        ("Global.pretrained_model=/nowhere/weights", "no weights can be read from /nowhere/weights.pdparams"),
        ("Global.epoch_num=many", "Global.epoch_num is 'many', which is no number"),
        ("Train.dataset.label_file_list=[/nowhere.txt]", "/nowhere.txt cannot be read"),
        ("Architecture.model_type=cls", "says what is to be learnt"),
    ],
)
def test_what_cannot_be_trained_is_a_sentence_and_exit_code_two(
    tmp_path: Path, change: str, said: str
) -> None:
    data = make_data.make("icdar2015", tmp_path / "data", 2, 2)
    done = run("paddleocr", "tools/train.py", "-c", DETECTION, "-o", *text_detection(data, tmp_path), change)

    assert done.returncode == 2 and done.stderr.startswith("cannot train: ") and said in done.stderr
    assert done.stderr.count("\n") == 1


def served_answer(model: Path, page: Path) -> dict[str, Any]:
    with serving("--model", str(model), "--name", "m", suite="serving-paddle") as at:
        picture = base64.b64encode(page.read_bytes()).decode()
        status, text = ask(f"{at}/m/prediction", {"feed": [{"x": picture}], "fetch": []})
    assert status == 200, text
    found: dict[str, Any] = json.loads(text)["result"]
    return found


@pytest.mark.long
def test_text_is_found_from_training_to_service(tmp_path: Path) -> None:
    data = make_data.make("icdar2015", tmp_path / "data", 160, 40)
    told = text_detection(data, tmp_path / "out")
    learnt = answered(run("paddleocr", "tools/train.py", "-c", DETECTION, "-o", *told))
    best = re.findall(r"best metric, .*hmean: ([\d.]+)", learnt)
    assert float(best[-1]) >= 0.7, learnt
    judged = answered(run("paddleocr", "tools/eval.py", "-c", DETECTION, "-o", *told))
    assert abs(float(re.findall(r"hmean:([\d.]+)", judged)[0]) - float(best[-1])) < 1e-5

    model = tmp_path / "model"
    answered(
        run(
            "paddleocr",
            "tools/export_model.py",
            "-c",
            DETECTION,
            "-o",
            *told,
            f"Global.save_inference_dir={model}",
        )
    )
    assert {"inference.json", "inference.pdiparams", "processor.py"} <= {p.name for p in model.iterdir()}
    page, truth = (data / "test_icdar2015_label.txt").read_text().splitlines()[0].split("\t")
    [boxes] = served_answer(model, data / page)["boxes"]
    assert len(boxes) == len(json.loads(truth))
    corner = json.loads(truth)[0]["points"][0]
    nearest = min(
        abs(box["points"][0][0] - corner[0]) + abs(box["points"][0][1] - corner[1]) for box in boxes
    )
    assert nearest < 15


@pytest.mark.long
def test_text_is_read_from_training_to_service(tmp_path: Path) -> None:
    data = make_data.make("words", tmp_path / "data", 1200, 100)
    told = text_recognition(data, tmp_path / "out")
    learnt = answered(run("paddleocr", "tools/train.py", "-c", RECOGNITION, "-o", *told))
    assert float(re.findall(r"best metric, acc: ([\d.]+)", learnt)[-1]) >= 0.8, learnt

    model = tmp_path / "model"
    answered(
        run(
            "paddleocr",
            "tools/export_model.py",
            "-c",
            RECOGNITION,
            "-o",
            *told,
            f"Global.save_inference_dir={model}",
        )
    )
    right = 0
    for line in (data / "rec_gt_test.txt").read_text().splitlines()[:3]:
        path, said = line.split("\t")
        right += served_answer(model, data / path)["text"] == [said]
    assert right >= 2


@pytest.mark.parametrize("launched", [True, False], ids=["launcher", "operator"])
def test_two_workers_share_the_pages_and_one_speaks(tmp_path: Path, launched: bool) -> None:
    data = make_data.make("icdar2015", tmp_path / "data", 32, 2)
    told = [*text_detection(data, tmp_path / "out"), "Global.epoch_num=1", "Global.print_batch_step=1"]
    train = ["tools/train.py", "-c", DISTILLATION, "-o", *told]
    if launched:
        launcher = [
            "-m",
            "paddle.distributed.launch",
            "--nproc_per_node",
            "2",
            f"--log_dir={tmp_path / 'log'}",
        ]
        answered(run("paddleocr", *launcher, *train))
        logs = [(tmp_path / "log" / f"workerlog.{rank}").read_text() for rank in (0, 1)]
    else:
        logs = side_by_side(train)
    steps = [re.findall(r"global_step: (\d+)", log) for log in logs]
    assert steps == [["1", "2"], []]  # 32 pages, 8 a step and worker
    assert (tmp_path / "out" / "best_accuracy.pdparams").is_file()


def side_by_side(train: list[str]) -> list[str]:
    """Two workers with the variables of an operator, on addresses of their own."""
    addresses, port = ("127.79.0.2", "127.79.0.3"), free_port()
    workers = [
        subprocess.Popen(
            [python("paddleocr"), *train],
            cwd=CODE,
            env=variables("paddleocr")
            | {
                "POD_IP": address, "PADDLE_PORT": str(port), "PADDLE_TRAINER_ID": str(rank),
                "PADDLE_TRAINERS_NUM": "2", "GLOO_SOCKET_IFNAME": "lo", "PYTHONDONTWRITEBYTECODE": "1",
                "PADDLE_TRAINER_ENDPOINTS": ",".join(f"{a}:{port}" for a in addresses),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank, address in enumerate(addresses)
    ]  # fmt: skip
    try:
        logs = [worker.communicate(timeout=180)[0] for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    assert [worker.returncode for worker in workers] == [0, 0], logs
    return logs


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])

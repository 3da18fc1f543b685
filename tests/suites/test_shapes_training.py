"""Real training: two Collective workers on loopback addresses, then the conversion of what they exported."""

import json
import re
import socket
import subprocess
from pathlib import Path

import pytest
from tests.suites.environments import python, suite, variables

from paddlecloud.embedded.node.vdlrecords import scalars, whole_records

PATIENCE = 180
PROGRESS = re.compile(r"epoch \d+/2 step (\d+)/(\d+) loss (\d+\.\d{4}) accuracy [01]\.\d{3} samples/s \d+")


def run(*command: str, **more: str) -> "subprocess.CompletedProcess[str]":
    process = start(*command, **more)
    out, err = process.communicate(timeout=PATIENCE)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def start(program: str, *arguments: str, **more: str) -> "subprocess.Popen[str]":
    owner = "paddle" if program == "convert.py" else "shapes"
    code = suite(owner).folder / "code" / program
    return subprocess.Popen(
        [python("shapes"), str(code), *arguments],
        env=variables("shapes") | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shapes") / "data"
    assert run("make_data.py", str(folder), "--train", "1600", "--test", "100").returncode == 0
    return folder


@pytest.fixture(scope="module")
def trained(data: Path) -> "tuple[Path, list[str]]":
    """The exported model and the log of each worker."""
    addresses, port = ("127.77.0.2", "127.77.0.3"), free_port()
    output = data.parent / "model"
    workers = [
        start(
            "train.py", "--data", str(data), "--output", str(output), "--epochs", "2", "--early", "1",
            "--curves", str(data.parent / "vdl"),
            POD_IP=address, PADDLE_PORT=str(port), PADDLE_TRAINER_ID=str(rank), PADDLE_TRAINERS_NUM="2",
            PADDLE_TRAINER_ENDPOINTS=",".join(f"{a}:{port}" for a in addresses), GLOO_SOCKET_IFNAME="lo",
        )
        for rank, address in enumerate(addresses)
    ]  # fmt: skip
    try:
        logs = [worker.communicate(timeout=PATIENCE) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    assert [worker.returncode for worker in workers] == [0, 0], logs
    return output, [out for out, _ in logs]


def test_two_workers_share_the_steps_and_the_loss_falls(trained: "tuple[Path, list[str]]") -> None:
    rank0, rank1 = trained[1]
    lines = PROGRESS.findall(rank0)

    assert {total for _, total, _ in lines} == {"25"}  # 1600 images, 2 workers, 32 a step
    assert [int(step) for step, _, _ in lines] == 2 * list(range(5, 26, 5))
    assert float(lines[-1][2]) < float(lines[0][2]) / 2
    assert not PROGRESS.search(rank1)


def test_the_export_is_whole_and_good(trained: "tuple[Path, list[str]]") -> None:
    output = trained[0]
    assert {p.name for p in output.iterdir()} == {
        "labels.txt", "metrics.json", "model.json", "model.pdiparams",
    }  # fmt: skip
    assert json.loads((output / "metrics.json").read_text())["accuracy"] > 0.8
    assert [p.name for p in output.parent.iterdir() if p.name.startswith(".")] == []


def test_the_early_model_lies_beside_it_and_the_curves_tell_both_epochs(
    data: Path, trained: "tuple[Path, list[str]]"
) -> None:
    early, last = trained[0].with_name("epoch-1"), trained[0]
    assert {p.name for p in early.iterdir()} == {p.name for p in last.iterdir()}
    assert (early / "model.pdiparams").read_bytes() != (last / "model.pdiparams").read_bytes()
    [file] = (data.parent / "vdl").iterdir()
    content = file.read_bytes()
    told = [one for begin, end in whole_records(content) for one in scalars(content[begin:end])]
    steps = {tag: [one.step for one in told if one.tag == tag] for tag in {one.tag for one in told}}
    assert steps["TRAIN/loss"] == list(range(5, 51, 5)) and steps["EVAL/accuracy"] == [25, 50]


def test_the_test_images_become_questions(data: Path, tmp_path: Path) -> None:
    assert run("questions.py", str(data), str(tmp_path / "asked")).returncode == 0
    asked = [json.loads(line) for line in (tmp_path / "asked").read_text().splitlines()]
    assert [one["answer"] for one in asked] == [n % 4 for n in range(100)]
    [image] = asked[0]["feed"]["image"]
    assert len(image) == 32 and {len(row) for row in image} == {32}


def test_the_conversion_computes_the_same(trained: "tuple[Path, list[str]]", tmp_path: Path) -> None:
    done = run("convert.py", "--model", str(trained[0]), "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "conversion.json").read_text())

    assert report["exact"] is True and 0 <= report["maxDifference"] <= report["tolerance"]
    assert report["signature"] == {
        "inputs": [{"name": "image", "dtype": "float32", "shape": [-1, 1, 32, 32]}],
        "outputs": [{"name": "fetch_name_0", "dtype": "float32", "shape": [-1, 4]}],
    }
    assert (tmp_path / "model.onnx").stat().st_size > 10_000


@pytest.mark.parametrize("content", [None, b"no model"], ids=["no files", "broken files"])
def test_what_cannot_be_converted_is_a_sentence(tmp_path: Path, content: bytes | None) -> None:
    if content:
        (tmp_path / "model.json").write_bytes(content)
        (tmp_path / "model.pdiparams").write_bytes(content)
    done = run("convert.py", "--model", str(tmp_path), "--output", str(tmp_path / "out"))

    assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith("conversion failed: ")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["conversion.json"]
    assert json.loads((tmp_path / "out" / "conversion.json").read_text())["exact"] is False


@pytest.mark.parametrize(
    "files, sentence",
    [
        ({}, "labels.txt cannot be read (No such file or directory)"),
        ({"labels.txt": "one\n"}, "names 1 classes"),
        ({"labels.txt": "a\nb\n", "train_list.txt": ""}, "lists no image"),
        ({"labels.txt": "a\nb\n", "train_list.txt": "x.png\n"}, "line 1 is 'x.png'"),
        ({"labels.txt": "a\nb\n", "train_list.txt": "x.png 2\n"}, "class < 2"),
        ({"labels.txt": "a\nb\n", "train_list.txt": "x.png 1\n"}, "is no image"),
    ],
)
def test_bad_data_is_a_sentence_and_exit_code_two(
    tmp_path: Path, files: dict[str, str], sentence: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = run("train.py", "--data", str(tmp_path), "--output", str(tmp_path / "out"))

    assert done.returncode == 2
    assert done.stderr.startswith("bad data: ") and sentence in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()

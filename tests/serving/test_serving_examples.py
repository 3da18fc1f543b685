"""The examples of Paddle Serving that the requirement documents call, by their own command lines.

`weighted` is a model that Paddle 3.3 wrote: the three numbers of x, times 1, 10 and 100, summed.
"""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.serving.modelservers import PATIENCE, ask, serving
from tests.serving.pictures import picture
from tests.suites.environments import python, suite, variables

CODE = suite("serving").folder / "code"
IMAGENET = CODE / "Serving" / "python" / "examples" / "imagenet"
WEIGHTED = Path(__file__).parent / "weighted"


def daisy(x: int, y: int) -> tuple[int, int, int]:
    """White petals around a yellow middle, on a meadow."""
    distance = ((x - 16) ** 2 + (y - 16) ** 2) ** 0.5
    return (250, 200, 20) if distance < 4 else (250, 250, 250) if distance < 13 else (40, 120, 40)


def predict(address: str, path: str, feed: Any, fetch: list[str]) -> Any:
    status, answer = ask(f"{address}{path}", {"feed": feed, "fetch": fetch})
    assert status == 200, answer
    return json.loads(answer)


def test_chinese_words_are_told_apart_as_printed() -> None:
    with serving("--model", "lac_model/", module="paddle_serving_server.serve", cwd=CODE) as address:
        answer = predict(address, "/lac/prediction", [{"words": "我爱北京天安门"}], ["word_seg"])
        assert answer == {"result": [{"word_seg": "我|爱|北京|天安门"}]}
        texts = [{"words": "我们在北京大学学习机器学习"}, {"words": "好"}]
        answer = predict(address, "/lac/prediction", texts, ["word_seg"])
        assert answer["result"] == [{"word_seg": "我们|在|北京|大学|学习|机器学习"}, {"word_seg": "好"}]


@pytest.mark.parametrize(
    "script, marks", [("resnet50_web_service", {}), ("resnet50_web_service_canary", {"isCanary": ["true"]})]
)
def test_a_daisy_is_a_daisy_and_a_canary_says_so(script: str, marks: dict[str, Any]) -> None:
    command = [python("serving"), f"{script}.py", "ResNet50_vd_model", "cpu", "0"]
    process = subprocess.Popen(
        command, cwd=IMAGENET, env=variables("serving"), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        # Its pod is looked at by its port alone: the port opens when the model is there.
        assert process.stdout.readline().startswith("ready: image")
        address = process.stdout.readline().removeprefix("listening on ").strip()
        answer = predict(address, "/image/prediction", [{"image": picture(daisy, 32)}], ["score"])
        probability = answer["result"].pop("prob")
        assert answer == {"result": {**marks, "label": ["daisy"]}} and 0.8 < probability[0] <= 1
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def brown(x: int, y: int) -> tuple[int, int, int]:
    """A dog of 10 x 6 points on a meadow."""
    return (139, 90, 43) if 8 <= x < 18 and 4 <= y < 10 else (40, 120, 40)


def test_a_dog_has_its_box_and_its_number() -> None:
    with serving("--model", f"yolov3={CODE / 'yolov3'}") as address:
        status, said = ask(f"{address}/yolov3/prediction", {"key": ["image"], "value": [picture(brown, 32)]})
        answer = json.loads(said)
        assert status == 200 and answer.keys() == {"err_no", "err_msg", "key", "value", "tensors"}
        assert (answer["err_no"], answer["key"], answer["tensors"]) == (0, ["bbox_result"], [])
        [dog] = ast.literal_eval(answer["value"][0])
        assert dog["category_id"] == 16 and dog["score"] > 0.6
        assert all(abs(a - b) <= 1 for a, b in zip(dog["bbox"], (8, 4, 10, 6), strict=True))
        refused = json.loads(ask(f"{address}/yolov3/prediction", {"key": ["picture"], "value": ["x"]})[1])
        assert refused["err_no"] == 5000 and '"image"' in refused["err_msg"]


def test_the_models_of_the_examples_are_what_their_program_writes(tmp_path: Path) -> None:
    program = suite("serving").folder / "make_models.py"
    subprocess.run([python("shapes"), str(program), str(tmp_path)], check=True, timeout=60)
    made = [p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file()]
    assert len(made) == 6
    for file in made:
        assert (tmp_path / file).read_bytes() == (CODE / file).read_bytes(), file


def test_a_paddle_model_is_converted_and_served_by_the_two_commands(tmp_path: Path) -> None:
    found = {"PYTHONPATH": f"{variables('serving-paddle')['PYTHONPATH']}:{CODE}"}
    convert = ["-m", "paddle_serving_client.convert", "--dirname", str(WEIGHTED)]
    named = ["--model_filename", "model.json", "--params_filename", "model.pdiparams"]
    subprocess.run(
        [python("serving-paddle"), *convert, *named],
        env={**variables("serving-paddle"), **found},
        cwd=tmp_path,
        check=True,
        timeout=60,
        stdout=sys.stderr,
    )
    options: dict[str, Any] = {"suite": "serving-paddle", "environ": found, "cwd": tmp_path}
    with serving(
        "--model", "serving_server", "--thread", "2", module="paddle_serving_server.serve", **options
    ) as at:
        answer = predict(at, "/wide/prediction", [{"x": [1, 2, 3]}, {"x": [0, 0, 1]}], [])
        assert answer == {"result": {"fetch_name_0": [[321.0], [100.0]]}}
        assert json.loads(ask(f"{at}/v2/models/serving_server")[1])["platform"] == "paddle_inference"
        status, refused = ask(f"{at}/wide/prediction", {"feed": [{"x": [1, 2]}], "fetch": []})
        assert status == 400 and "has the shape [2]" in refused

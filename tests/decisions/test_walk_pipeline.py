"""The walk as a package, and what its answers are worth."""

from __future__ import annotations

import json

import pytest

from paddlecloud.api.meta import Key
from paddlecloud.api.paddleservice import PaddleService
from paddlecloud.errors import Failed, WrongUse
from paddlecloud.pipelines.asking import Answered, meant, questions, scored, versions
from paddlecloud.pipelines.components import deposit, training
from paddlecloud.pipelines.components.promotion import promoted
from paddlecloud.pipelines.reading import package_of
from paddlecloud.pipelines.walk import Way, package, walk

STEPS = (
    "deposit", "dataset", "warm-up", "training", "first-version", "serving", "first-requests",
    "second-version", "canary", "shared-requests", "promotion", "last-requests",
)  # fmt: skip


def way(**more: int) -> Way:
    return Way("shapes", "paddlecloud/shapes", "--train 8 --test 4", **{"epochs": 8, **more})


def test_what_is_submitted_is_read_as_the_graph_that_was_meant() -> None:
    meant = walk("kubeflow", way())
    found = package_of(json.loads(json.dumps(package(meant)))).graph

    assert [step.name for step in meant.steps] == list(STEPS) == [step.name for step in found.steps]
    for before, step in zip(STEPS, found.steps[1:], strict=False):
        assert before in step.needs(), "each waits for the one before it"


@pytest.mark.parametrize("epochs, early", [(8, 2), (4, 1), (40, 10), (1, 1)])
def test_the_first_version_is_of_the_first_quarter(epochs: int, early: int) -> None:
    steps = {step.name: step for step in walk("kubeflow", way(epochs=epochs)).steps}
    assert steps["training"].inputs["arguments"].value == f"--epochs {epochs} --early {early}"
    assert steps["first-version"].inputs["path"].template == f"{{{{output.training.name}}}}/epoch-{early}"
    assert steps["second-version"].inputs["path"].output == "training.model_path"


def test_curves_are_written_where_they_are_shown() -> None:
    given = {
        "name": "j",
        "image": "i",
        "pvc_name": "c",
        **training.COMPONENT.inputs,
        "arguments": "--epochs 2",
    }
    plain = training.command_of(Key("n", "j"), given)
    shown = training.command_of(Key("n", "j"), {**given, "use_visualdl": "True"})
    assert [word for word in shown if word not in plain] == ["--curves", f"{training.CURVES}/j"]


def deposited(**more: str) -> dict[str, str]:
    return {"name": "shapes", "image": "paddlecloud/shapes", **deposit.COMPONENT.inputs, **more}


def test_what_is_drawn_otherwise_lies_elsewhere() -> None:
    first, same, other = (deposit.place(deposited(arguments=a)) for a in ("--seed 7", "--seed 7", "--seed 8"))
    assert first == same != other
    assert first.startswith("minio://minio-service.kubeflow:9000/samples/shapes-")
    assert deposit.address(deposited(arguments="--seed 7"), first) == (
        first.replace("minio:", "http:") + "/questions.jsonl"
    )


def test_keys_of_a_bucket_come_from_a_secret_and_stand_nowhere() -> None:
    said = deposited(arguments="--seed '7 or 8'")
    pod = deposit.make_job(Key("n", "d"), said, deposit.place(said)).spec["template"]["spec"]
    [draws], [puts] = pod["initContainers"], pod["containers"]
    assert "--seed '7 or 8' /mnt/samples/data && " in draws["command"][2]
    assert {v["valueFrom"]["secretKeyRef"]["name"] for v in puts["env"]} == {"model-store"}


def test_an_endpoint_that_is_none_is_refused() -> None:
    with pytest.raises(WrongUse, match="is no address"):
        deposit.place(deposited(endpoint="minio:9000"))


@pytest.mark.parametrize("scores, answer", [([0.4], 0), ([0.6], 1), ([0.1, 0.7, 0.2], 1), ([0.5, 0.5], 0)])
def test_what_scores_mean(scores: list[float], answer: int) -> None:
    assert meant(scores) == answer


@pytest.mark.parametrize("text", ["", "no json", '{"feed": {}}', '{"feed": 3, "answer": 1}'])
def test_what_is_no_question_is_told(text: str) -> None:
    with pytest.raises(Failed, match="question"):
        questions(text)


def service(default: str, canary: str = "") -> PaddleService:
    spec: dict[str, object] = {"default": {"model": f"m@{default}"}}
    status = {"default": {"name": "m-default", "modelVersion": default}}
    if canary:
        spec["canary"] = {"model": f"m@{canary}"}
        status["canary"] = {"name": "m-canary", "modelVersion": canary}
    return PaddleService.read({"metadata": {"name": "m", "namespace": "n"}, "spec": spec, "status": status})


def test_answers_are_counted_by_the_version_that_gave_them() -> None:
    answers = [Answered(n % 2 == 0, float(n), "m-default") for n in range(6)]
    answers += [Answered(True, 9.0, "m-canary"), Answered(True, 9.0, "m-canary")]
    score = scored(answers, versions(service("m-1", "m-2")))

    assert score.by_version == {"m-1": (6, 3), "m-2": (2, 2)}
    assert (score.accuracy, score.share("m-2"), score.share("m-3")) == (5 / 8, 0.25, 0.0)


def test_a_gateway_that_does_not_tell_who_answered_leaves_shares_open() -> None:
    assert scored([Answered(True, 1.0, "")], versions(service("m-1"))).by_version == {}


@pytest.mark.parametrize(
    "now, version, done",
    [(service("m-2"), "m-2", True), (service("m-1", "m-2"), "m-2", False), (service("m-2"), "", False)],
)
def test_a_promotion_that_was_cut_off_is_not_done_twice(now: PaddleService, version: str, done: bool) -> None:
    assert promoted(now, version) is done

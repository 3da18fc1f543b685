"""The objects that `pdc train` makes of a script."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.cli.train import pair
from paddlecloud.errors import WrongUse
from paddlecloud.sdk.scripts import word
from paddlecloud.sdk.training import CODE, IMAGE, LARGEST, Training


def a_training(**fields: Any) -> Training:
    return Training(**{"name": "fit", "script": "fit.py", "files": {"fit.py": "print(1)"}, **fields})


def container(job: PaddleJob, role: str = "worker") -> dict[str, Any]:
    found: dict[str, Any] = job.spec.roles()[role].template["spec"]["containers"][0]
    return found


def test_the_code_is_mounted_where_it_is_run() -> None:
    code, job = a_training(arguments=("--lr", "0.1")).objects()
    found = container(job)
    [volume] = job.spec.roles()["worker"].template["spec"]["volumes"]

    assert code.data == {"fit.py": "print(1)"} and volume["configMap"]["name"] == code.name
    assert found["volumeMounts"] == [{"name": volume["name"], "mountPath": CODE}]
    assert found["command"][-1] == f"{CODE}/fit.py" and found["args"] == ["--lr", "0.1"]
    assert found["image"] == IMAGE and "env" not in found


def test_workers_that_train_together_talk_without_a_gpu_unless_told_otherwise() -> None:
    _, job = a_training(workers=2, env={"A": "b"}).objects()
    assert container(job)["env"] == [
        {"name": "PADDLE_DISTRI_BACKEND", "value": "gloo"}, {"name": "A", "value": "b"},
    ]  # fmt: skip
    _, other = a_training(workers=2, env={"PADDLE_DISTRI_BACKEND": "nccl"}).objects()
    assert container(other)["env"] == [{"name": "PADDLE_DISTRI_BACKEND", "value": "nccl"}]


def test_data_and_servers() -> None:
    _, job = a_training(ps=2, workers=3, image="mine:1", data="clicks", data_path="/d").objects()
    assert {name: role.replicas for name, role in job.spec.roles().items()} == {"ps": 2, "worker": 3}
    assert job.spec.sample_set_ref is not None and job.spec.sample_set_ref.mount_path == "/d"
    assert job.spec.with_gloo == 1


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"files": {"fit.py": "x" * (LARGEST + 1)}}, "can be sent"),
        ({"ps": 1}, "no parameter servers"),
    ],
)
def test_what_cannot_be_made_says_what_to_do(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(WrongUse, match=words) as error:
        a_training(**fields).objects()
    assert "--image" in str(error.value)


@pytest.mark.parametrize(
    "stem, name",
    [
        ("train", "train"),
        ("My_Model v2", "my-model-v2"),
        ("2fast", "job-2fast"),
        ("模型", "job"),
        ("x" * 99, "x" * 40),
    ],
)
def test_a_job_is_called_like_its_script(stem: str, name: str) -> None:
    assert word(stem) == name


@pytest.mark.parametrize("text", ["A", "=b", ""])
def test_a_variable_needs_a_name_and_a_value(text: str) -> None:
    with pytest.raises(WrongUse, match="NAME=VALUE"):
        pair(text)
    assert pair("A=b=c") == ("A", "b=c")

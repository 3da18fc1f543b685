"""The files of our components, and the programs of the documents that load them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.pipelines.environment import HERE, run

from paddlecloud.api.meta import Key
from paddlecloud.errors import WrongUse
from paddlecloud.pipelines.component import check_types
from paddlecloud.pipelines.componentfiles import component_file
from paddlecloud.pipelines.components import samples, visualdl
from paddlecloud.pipelines.components.all import COMPONENTS
from paddlecloud.pipelines.components.training import check_folder, make_job, within
from paddlecloud.pipelines.curves import curves
from paddlecloud.pipelines.reading import read_package
from paddlecloud.pipelines.suitecommands import (
    changes,
    check_project,
    export_command,
    exported,
    overrides,
    train_command,
)

DEMO = HERE.parent.parent / "examples" / "ppocr-detection" / "pipeline-demo.py"
BY_NAME = {c.name: c for c in COMPONENTS}
# The tables of the documents: every field, and the default of those that have one.
CONTRACT: dict[str, dict[str, str | None]] = {
    "dataset": {
        "name": None, "namespace": "kubeflow", "action": "apply", "partitions": "1", "source_uri": "",
        "source_secret": "",
    },
    "training": {
        "name": None, "namespace": "kubeflow", "action": "apply", "project": "", "image": None,
        "config_path": "", "dataset": "", "pvc_name": None, "worker_replicas": "1", "config_changes": "",
        "pretrain_model": "", "train_label": "", "test_label": "", "ps_replicas": "0", "gpu_per_node": "0",
        "use_visualdl": "False", "save_inference": "True", "need_convert": "True",
    },
    "modelhub": {
        "name": "", "namespace": "kubeflow", "action": "apply",
        "endpoint": "http://minio-service.kubeflow:9000", "model_name": None, "model_version": "latest",
        "pvc_name": None,
    },
    "serving": {
        "name": None, "namespace": "kubeflow", "action": "apply", "image": "", "model_name": None,
        "model_version": "latest", "endpoint": "http://minio-service.kubeflow:9000", "port": "9292",
    },
    "visualdl": {
        "name": None, "namespace": "kubeflow", "action": "apply", "pvc_name": None,
        "mount_path": "/mnt/task-center/", "logdir": None, "model": "", "port": "8040", "cache_timeout": "",
        "language": "", "public_path": "", "api_only": "",
    },
    "configure": {"path": None, "filename": None, "content": None},
    "converter": {
        "mount_path": "/mnt/task-center/", "model_name": None, "dirname": "inference", "pdmodel": "",
        "pdiparams": "",
    },
    "uploader": {
        "endpoint": "http://minio-service.kubeflow:9000", "model_file": None, "model_name": None,
        "version": "latest",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRACT)
def test_a_component_has_every_field_of_its_table(name: str) -> None:
    component = BY_NAME[name]
    for field, default in CONTRACT[name].items():
        assert (None if field in component.required else component.inputs[field]) == default, field


def test_an_input_that_is_not_given_is_not_passed() -> None:
    body = yaml.safe_load(component_file(BY_NAME["training"]))
    arguments = body["implementation"]["container"]["args"]

    assert {
        "if": {"cond": {"isPresent": "Project"}, "then": ["--project", {"inputValue": "Project"}]}
    } in arguments
    assert arguments[4:6] == ["--pvc-name", {"inputValue": "PVC Name"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "yaml").mkdir()
    for component in COMPONENTS:
        (tmp_path / "yaml" / f"{component.name}.yaml").write_text(component_file(component))
    return tmp_path


def test_the_program_of_the_documents_compiles_unedited(folder: Path) -> None:
    done = run(1, HERE / "programs" / "compile_pipeline.py", str(DEMO), "ppocr_detection_demo", home=folder)
    assert done.returncode == 0, done.stderr
    compiled = folder / "ppocr_detection_demo.yaml"
    steps = {s.name: s for s in read_package(compiled.read_bytes()).graph.steps}

    assert {n: sorted(s.needs()) for n, s in steps.items()} == {
        "ppocr-detection-pvc": [],
        "dataset": [],
        "training": ["dataset", "ppocr-detection-pvc"],
        "modelhub": ["ppocr-detection-pvc", "training"],
        "serving": ["modelhub"],
    }
    assert not steps["training"].cache.enabled  # max_cache_staleness P0D
    words = words_of(steps["training"].pod)
    assert words[words.index("--project") + 1] == "PaddleOCR" and "--write" in words


def words_of(pod: dict[str, Any]) -> list[str]:
    return list(pod["spec"]["containers"][0]["args"])


def test_a_missing_file_of_a_component_is_named(tmp_path: Path) -> None:
    done = run(1, HERE / "programs" / "compile_pipeline.py", str(DEMO), "ppocr_detection_demo", home=tmp_path)
    assert done.returncode != 0 and "./yaml/dataset.yaml" in done.stderr


TRAINING = {n: d for n, d in BY_NAME["training"].inputs.items()} | {
    "name": "ppocr-det", "image": "i", "pvc_name": "v", "project": "PaddleOCR", "dataset": "icdar2015",
    "config_path": "configs/det/det_mv3_db.yml",
}  # fmt: skip


def test_values_with_quotes_and_commas_reach_the_program_whole() -> None:
    told = {**TRAINING, "config_changes": "A.b=[1,2], C.d='x,y',E=1", "train_label": "a b.txt"}

    assert changes(told["config_changes"]) == ["A.b=[1,2]", "C.d='x,y'", "E=1"]
    assert 'Train.dataset.label_file_list=["/mnt/data-center/icdar2015/a b.txt"]' in overrides(told)


def test_trainings_in_folders_of_their_own_see_nothing_of_each_other() -> None:
    jobs = [
        make_job(Key("ml", "it"), {**TRAINING, "folder": folder}) for folder in ("runs/a", "/runs/b/", "")
    ]
    mounts = [job.spec.roles()["worker"].template["spec"]["containers"][0]["volumeMounts"][0] for job in jobs]

    assert [m.get("subPath") for m in mounts] == ["runs/a", "runs/b", None]
    assert within({**TRAINING, "folder": "runs/a"}, "inference") == "runs/a/inference"
    assert within(TRAINING, "inference") == "inference"
    with pytest.raises(WrongUse, match="is no folder of the volume"):
        check_folder({**TRAINING, "folder": "../other"})


def test_devices_bring_the_distributed_launcher() -> None:
    assert train_command(TRAINING)[:2] == ["python", "tools/train.py"]
    assert train_command({**TRAINING, "gpu_per_node": "2"})[:5] == [
        "python", "-m", "paddle.distributed.launch", "--gpus", "0,1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "project, config, trained, left, model",
    [
        (
            "PaddleOCR", "configs/rec/words.yml",
            'Train.dataset.label_file_list=["/mnt/data-center/d/t.txt"]',
            "Global.pretrained_model=/mnt/task-center/models/best_accuracy", "inference",
        ),
        (
            "PaddleClas", "ppcls/configs/ResNet18.yaml",
            "DataLoader.Train.dataset.cls_label_path=/mnt/data-center/d/t.txt",
            "Global.pretrained_model=/mnt/task-center/models/ResNet18/best_model", "inference",
        ),
        (
            "PaddleDetection", "configs/picodet_s.yml", "TrainDataset.dataset_dir=/mnt/data-center/d/",
            "weights=/mnt/task-center/models/picodet_s/best_model", "inference/picodet_s",
        ),
        ("PaddleNLP", "applications/train.py", "--do_train", "--do_export", "models/export"),
    ],
)  # fmt: skip
def test_every_suite_is_told_in_its_own_words(
    project: str, config: str, trained: str, left: str, model: str
) -> None:
    told = {**TRAINING, "project": project, "config_path": config, "dataset": "d", "train_label": "t.txt"}

    assert trained in train_command(told) and left in export_command(told)
    assert config in train_command(told) and exported(told) == model


def test_changes_of_a_suite_without_configurations_are_flags() -> None:
    told = {**TRAINING, "project": "PaddleNLP", "config_changes": "num_train_epochs=4, seed=7"}
    command = train_command(told)
    assert command[command.index("--num_train_epochs") :][:4] == ["--num_train_epochs", "4", "--seed", "7"]


def test_samples_are_made_by_the_program_of_the_suite_on_the_volume() -> None:
    inputs = {**BY_NAME["samples"].inputs, "image": "i", "pvc_name": "v", "arguments": "words --train 3"}
    pod = samples.make_job(Key("ml", "a-samples"), {**inputs, "path": "samples/x"}).spec["template"]["spec"]

    command = ["python", "make_data.py", "words", "--train", "3", "/mnt/task-center/samples/x"]
    assert pod["containers"][0]["command"] == command
    assert pod["volumes"][0]["persistentVolumeClaim"] == {"claimName": "v"}
    with pytest.raises(WrongUse, match="is no folder of the volume"):
        samples.make_job(Key("ml", "a-samples"), {**inputs, "path": "../x"})


def test_weights_to_begin_with_keep_the_dots_of_their_name() -> None:
    told = {**TRAINING, "pretrain_model": "https://h/Mobile.v3.pdparams"}
    assert "Global.pretrained_model=/mnt/task-center/pretrain_model/Mobile.v3" in overrides(told)


def test_the_server_of_curves_is_told_in_its_own_words() -> None:
    told = {n: d for n, d in BY_NAME["visualdl"].inputs.items()} | {
        "pvc_name": "v", "logdir": "/mnt/task-center/models/vdl/", "cache_timeout": "5",
        "public_path": "/curves", "api_only": "True", "port": "8041",
    }  # fmt: skip
    deployment, service = curves(Key("kubeflow", "ppocr-det-visualdl"), visualdl.said(told))
    [container] = deployment.wire()["spec"]["template"]["spec"]["containers"]

    assert container["args"] == [
        "--logdir", "/mnt/task-center/models/vdl/", "--host", "0.0.0.0", "--port", "8041",
        "--disable-telemetry", "--cache-timeout=5", "--public-path=/curves", "--api-only",
    ]  # fmt: skip
    assert {deployment.name, service.name} == {"ppocr-det-visualdl"}
    selects = service.wire()["spec"]["selector"]
    assert selects == deployment.wire()["spec"]["template"]["metadata"]["labels"]
    assert service.wire()["spec"]["ports"] == [{"name": "http", "port": 8041, "targetPort": 8041}]


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"project": "PaddleFoo"}, "PaddleFoo"),
        ({"config_path": ""}, "needs config_path"),
        ({"worker_replicas": "two"}, "worker_replicas is to be a whole number and is 'two'"),
        ({"use_visualdl": "maybe"}, "use_visualdl is to be True or False"),
        ({"config_changes": "oops"}, "'oops' is no KEY=VALUE"),
    ],
)
def test_wrong_inputs_are_told(wrong: dict[str, str], said: str) -> None:
    told = {**TRAINING, **wrong}
    with pytest.raises(WrongUse) as refused:
        check_types(BY_NAME["training"], told)
        check_project(told)
        overrides(told)
    assert said in str(refused.value)

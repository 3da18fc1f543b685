"""Templates: what they are told, the graph that becomes of it, and the package that runs elsewhere, too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import paddlecloud.templates
from paddlecloud.api.workflowgraph import Graph, Step
from paddlecloud.cli.main import pdc
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.errors import NotFound, PaddleCloudError, WrongUse
from paddlecloud.pipelines.reading import read_package
from paddlecloud.pipelines.templates.description import find, planned_beside, templates
from paddlecloud.pipelines.templates.pipeline import TemplatePipeline, pipeline_of
from paddlecloud.sdk.client import Client
from paddlecloud.settings import shipped

SHIPPED = {
    "image-classification": "paddleclas", "object-detection": "paddledetection", "ranking": "wide-and-deep",
    "sentiment-analysis": "paddlenlp", "text-detection": "paddleocr", "text-recognition": "paddleocr",
}  # fmt: skip
PLANNED = [
    "layout-analysis", "table-recognition", "image-recognition", "reading-comprehension", "translation",
    "dialogue", "content-understanding", "matching", "recall",
]  # fmt: skip
every_template = pytest.mark.parametrize("name", SHIPPED)


def step(graph: Graph, name: str) -> Step:
    return next(s for s in graph.steps if s.name == name)


def test_the_shipped_ones_lie_with_their_suites_and_the_planned_ones_are_named() -> None:
    found = templates([shipped("suites")])
    assert {t.name: t.suite for t in found.values()} == SHIPPED
    assert [p.name for p in planned_beside(found)] == PLANNED


@every_template
def test_without_data_it_draws_its_own_and_ends_with_a_service(name: str) -> None:
    graph = pipeline_of(name, {}).graph
    assert [s.name for s in graph.steps] == ["samples", "dataset", "training", "modelhub", "serving"]
    assert step(graph, "dataset").inputs["source_uri"].output == "samples.uri"
    assert step(graph, "training").inputs["dataset"].output == "dataset.name"
    assert step(graph, "modelhub").inputs["path"].output == "training.model_path"


@every_template
def test_data_of_the_user_is_taken_instead_and_serving_can_be_left_out(name: str) -> None:
    graph = pipeline_of(name, {"data": "s3://bucket/mine", "serve": "no"}).graph
    assert [s.name for s in graph.steps] == ["dataset", "training", "modelhub"]
    assert step(graph, "dataset").inputs["source_uri"].value == "s3://bucket/mine"


def test_another_source_is_another_data_set_of_the_same_model() -> None:
    names = {
        step(pipeline_of("ranking", {"data": uri}).graph, "dataset").inputs["name"].template
        for uri in ("", "s3://bucket/a", "s3://bucket/b")
    }
    assert len(names) == 3 and all(n and n.startswith("{{parameter.name}}-") for n in names)


@every_template
def test_its_samples_are_what_the_program_of_its_suite_makes(name: str, tmp_path: Path) -> None:
    template = find(name)
    folder = shipped("suites") / template.suite
    code = folder / yaml.safe_load((folder / "suite.yaml").read_text())["code"]
    assert (code / "make_data.py").is_file()
    if config := template.says.training.get("config_path"):
        assert (code / config).is_file()
    words = [sys.executable, str(code / "make_data.py"), *template.says.samples.split(), "--train", "4"]
    done = subprocess.run([*words, "--test", "2", str(tmp_path / "data")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for label in ("train_label", "test_label"):
        assert (tmp_path / "data" / template.says.training.get(label, "")).exists()


@every_template
def test_the_package_is_one_of_kfp_and_says_the_same(name: str) -> None:
    pipeline = pipeline_of(name, {"epochs": "3"})
    package = read_package(yaml.safe_dump(pipeline.spec).encode())

    assert package.generation == "v2" and package.graph.parameters == pipeline.graph.parameters
    assert {s.name for s in package.graph.steps} == {s.name for s in pipeline.graph.steps}
    for ours in pipeline.graph.steps:
        read = step(package.graph, ours.name)
        assert read.needs() == ours.needs() and set(ours.inputs) <= set(read.inputs)


def test_values_are_parameters_of_the_pipeline_and_reach_the_training() -> None:
    pipeline = pipeline_of("text-detection", {"epochs": "10", "batch_size": 4})
    assert pipeline.graph.parameters == {
        "name": "text-detection", "data_secret": "", "workers": 1, "epochs": 10, "batch_size": 4,
        "namespace": "kubeflow",
    }  # fmt: skip
    told = step(pipeline.graph, "training").inputs
    assert told["config_changes"].template == (
        "Global.epoch_num={{parameter.epochs}}, Train.loader.batch_size_per_card={{parameter.batch_size}}"
    )
    assert told["worker_replicas"].parameter == "workers" and told["name"].template == "{{run.name}}"
    task = pipeline.spec["root"]["dag"]["tasks"]["training"]["inputs"]["parameters"]
    assert "{{$.inputs.parameters['pipelinechannel--epochs']}}" in str(task["config_changes"])
    assert task["pipelinechannel--epochs"] == {"componentInputParameter": "epochs"}
    assert task["name"] == {"runtimeValue": {"constant": "{{$.pipeline_job_name}}"}}


@pytest.mark.parametrize(
    "given, said",
    [
        ({"epoks": "3"}, "template ranking has no parameter 'epoks'; closest: epochs"),
        ({"epochs": "many"}, "epochs is to be a whole number and is 'many'"),
        ({"epochs": "2.5"}, "epochs is to be a whole number and is '2.5'"),
        ({"epochs": True}, "epochs is to be a whole number and is True"),
        ({"epochs": "0"}, "epochs is to be from 1 to 10000 and is 0"),
        ({"serve": "perhaps"}, "serve is to be true or false and is 'perhaps'"),
        ({"name": "My Model"}, "name 'My Model' cannot be the name of a model"),
        ({"name": 7}, "name is to be a text and is 7"),
        ({"data": "/home/me/data"}, "data '/home/me/data' is no address of data"),
    ],
)
def test_a_wrong_value_is_a_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(WrongUse) as refused:
        pipeline_of("ranking", given)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "name, said",
    [
        ("text-detecton", "there is no template text-detecton; closest: text-detection"),
        *((name, f"template {name} is planned and not there yet") for name in PLANNED),
    ],
)
def test_a_template_that_is_not_there_is_refused_by_name(name: str, said: str) -> None:
    with pytest.raises(NotFound) as refused:
        pipeline_of(name, {})
    assert said in str(refused.value)


OWN = {
    "name": "own-task", "domain": "mine", "description": "Does what I want.",
    "parameters": {"depth": {"type": "integer", "about": "How deep."}},
    "training": {"arguments": "--depth ${depth}"},
}  # fmt: skip


def own_suite(root: Path, says: dict[str, Any], file: str = "own-task") -> list[Path]:
    folder = root / "mine"
    (folder / "templates").mkdir(parents=True)
    (folder / "suite.yaml").write_text("name: mine\nimages: [me/mine]\npython: self\n")
    (folder / "templates" / f"{file}.yaml").write_text(yaml.safe_dump(says))
    return [root]


def test_a_suite_of_the_users_brings_templates(tmp_path: Path) -> None:
    template = find("own-task", own_suite(tmp_path, OWN))
    with pytest.raises(WrongUse, match=r"needs parameter data, which was not given: Address of the data"):
        template.values({"depth": 3})
    with pytest.raises(WrongUse, match=r"needs parameter depth, which was not given: How deep"):
        template.values({"data": "file:///data"})

    graph = TemplatePipeline(template, template.values({"depth": "3", "data": "file:///data"})).graph
    told = step(graph, "training").inputs
    assert told["image"].value == "me/mine" and told["arguments"].template == "--depth {{parameter.depth}}"


def test_what_has_no_default_is_shown_as_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDLECLOUD_SUITES", str(own_suite(tmp_path, OWN)[0]))

    said = said_by("template", "show", "own-task")
    assert "steps: dataset → training → modelhub → serving" in said
    assert [line.split()[:3] for line in said.splitlines() if "(required)" in line] == [
        ["data", "text", "(required)"], ["depth", "integer", "(required)"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "change, said",
    [
        ({"parametres": {}}, "is no template: parametres: Extra inputs are not permitted"),
        ({"name": "another"}, "name 'another' is not the name of its file"),
        ({"training": {"argument": "x"}}, "training has no input 'argument'; closest: arguments"),
        ({"training": {"image": "x"}}, "training.image is not for a template to say"),
        ({"training": {"arguments": "${deep}"}}, "${deep} is no parameter of it; closest: depth"),
        ({"samples": "--train ${depth}"}, "samples takes no parameters"),
        (
            {"parameters": {"a": {"type": "float", "about": "?"}}},
            "parameters.a.type: Input should be 'integer'",
        ),
        (
            {"parameters": {"a": {"type": "integer", "default": 0, "least": 1, "about": "?"}}},
            "the default is to be from 1 on and is 0",
        ),
    ],
)
def test_a_file_that_is_no_template_says_where_it_is_wrong(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(WrongUse) as refused:
        templates(own_suite(tmp_path, OWN | change))
    assert said in str(refused.value) and "own-task.yaml" in str(refused.value)


def test_in_python_every_template_is_a_function() -> None:
    pipeline = paddlecloud.templates.text_detection(epochs=10, workers=2)
    assert pipeline.values["epochs"] == 10 and pipeline.values["workers"] == 2
    assert "text_detection" in dir(paddlecloud.templates) and paddlecloud.templates.names() == list(SHIPPED)
    with pytest.raises(AttributeError, match="closest: text-detection"):
        _ = paddlecloud.templates.text_detecton


def test_the_module_is_a_public_name_of_the_package() -> None:
    assert "templates" in paddlecloud.__all__
    assert all(getattr(paddlecloud, name) for name in paddlecloud.__all__)


def test_a_run_needs_a_name_that_pods_can_have(nobody: Client) -> None:
    for name in ("My_Run", "-x", "x" * 49):
        with pytest.raises(WrongUse, match="cannot be the name of a run and its job"):
            pipeline_of("ranking", {}).run(nobody, name=name)


@pytest.fixture
def nobody() -> Client:
    """A client of a cluster that does not answer: whatever asks it anything fails."""
    return Client(Access("https://127.0.0.1:1", "nowhere"))


def said_by(*words: str) -> str:
    done = CliRunner().invoke(pdc, words)
    if isinstance(done.exception, PaddleCloudError):
        return str(done.exception)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_commands_that_need_no_cluster(tmp_path: Path) -> None:
    listing = said_by("template", "ls")
    assert all(f"{name} " in listing for name in (*SHIPPED, *PLANNED))
    assert len(yaml.safe_load(said_by("template", "ls", "-o", "json"))) == len(SHIPPED) + len(PLANNED)
    assert "steps: samples → dataset → training → modelhub → serving" in said_by(
        "template", "show", "ranking"
    )
    shown = yaml.safe_load(said_by("template", "show", "ranking", "-o", "yaml"))
    assert shown["parameters"]["servers"]["default"] == 0 and shown["suite"] == "wide-and-deep"
    dry = said_by("template", "run", "ranking", "--set", "epochs=3", "--set", "serve=false", "--dry-run")
    assert "nothing was made" in dry and "epochs=3" in dry and "serving" not in dry
    assert "recall is planned" in said_by("template", "run", "recall")
    assert "--set 'epochs' is no NAME=VALUE" in said_by("template", "run", "ranking", "--set", "epochs")

    said_by("template", "export", "ranking", str(tmp_path / "ranking.yaml"), "--set", "epochs=3")
    assert read_package((tmp_path / "ranking.yaml").read_bytes()).graph.parameters["epochs"] == 3

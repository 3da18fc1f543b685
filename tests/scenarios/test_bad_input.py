"""What goes wrong on the user's side ends in a sentence that says what, and mostly what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.kubernetes.waiting import until
from tests.scenarios.manifests import job, sample_set
from tests.scenarios.pdc_home import PdcHome


def test_a_source_that_does_not_exist_is_named_and_heals_when_it_appears(
    cluster: PdcHome, name: str, tmp_path: Path
) -> None:
    source = tmp_path / "missing"
    cluster.apply(sample_set(name, source))

    cluster.ok("wait", f"sampleset/{name}", "--for", "SyncFailed", "--timeout", "120")
    told = cluster.ok("why", f"sampleset/{name}")
    assert f"the source {source.as_uri()} is missing" in told and not source.exists()
    assert "SourceMissing" in cluster.ok("get", "sampleset", name, "-o", "yaml")

    source.mkdir()
    (source / "sample.txt").write_text("one sample")
    cluster.ok("wait", f"sampleset/{name}", "--for", "Ready", "--timeout", "120")
    assert cluster.ok("why", f"sampleset/{name}").strip() == f"sampleset/{name}: Ready"


def test_an_unknown_image_is_told_with_those_that_come_near(cluster: PdcHome, name: str) -> None:
    cluster.apply(job(name, image="paddlecloud/shape"))

    def told() -> bool:
        return 'Failed to pull image "paddlecloud/shape"' in cluster.ok("why", f"job/{name}")

    until(told, what="a word about the image")
    text = cluster.ok("why", f"job/{name}")
    assert "did you mean paddlecloud/shapes" in text and "ErrImagePull" in text
    cluster.ok("delete", f"job/{name}")


def test_a_failing_script_ends_the_job_with_its_last_lines(cluster: PdcHome, name: str) -> None:
    cluster.apply(job(name, "echo reading; echo 'no such sample: 17' >&2; exit 3"))

    cluster.ok("wait", f"job/{name}", "--for", "Failed", "--timeout", "120")
    text = cluster.ok("why", f"job/{name}")
    assert f"paddlejob/{name}: Failed" in text
    assert "exit code 3" in text and "no such sample: 17" in text
    assert "no such sample: 17" in cluster.ok("logs", f"job/{name}")


def test_a_misspelled_field_is_refused_and_nothing_is_made(cluster: PdcHome, name: str) -> None:
    path = Path(cluster.home.root) / f"{name}.yaml"
    path.write_text(
        "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\n"
        f"metadata: {{name: {name}}}\nspec: {{wroker: {{replicas: 1}}}}\n"
    )

    said = cluster.pdc("apply", "-f", str(path))

    assert said.code == 1 and 'unknown field "spec.wroker"' in said.text
    assert cluster.pdc("get", "job", name).code == 1


def test_an_object_that_is_refused_does_not_keep_the_others_from_being_made(
    cluster: PdcHome, name: str
) -> None:
    texts = [
        yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": one}, "data": data})
        for one, data in ((f"{name}-a", {"k": "v"}), ("No_Name", {}), (f"{name}-b", {"k": "v"}))
    ]

    said = cluster.pdc("apply", "-f", "-", stdin="---\n".join(texts))

    assert said.code == 1
    assert f"configmap/{name}-a created" in said.text and f"configmap/{name}-b created" in said.text
    assert "No_Name" in said.text and "1 of 3 objects were refused" in said.text


@pytest.mark.parametrize(
    "content, sentence",
    [
        ("kind: [unclosed", "is no YAML"),
        ("just words", "every document needs apiVersion, kind and metadata"),
        (
            "apiVersion: example.com/v1\nkind: Rocket\nmetadata: {name: r}",
            "does not know Rocket in example.com/v1",
        ),
    ],
)
def test_a_file_that_is_no_manifest_is_told_so(
    cluster: PdcHome, tmp_path: Path, content: str, sentence: str
) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(content)

    said = cluster.pdc("apply", "-f", str(file))

    assert said.code in (1, 2) and sentence in said.text
    assert "Traceback" not in said.text


@pytest.mark.parametrize(
    "words, code, sentence",
    [
        (("get", "rockets"), 1, "no kind 'rockets'"),
        (("get", "job", "nobody"), 1, '"nobody" not found'),
        (("logs", "nobody"), 1, '"nobody" not found'),
        (("why", "nobody"), 2, "write KIND/NAME"),
        (("wait", "nobody", "--for", "Ready"), 2, "write KIND/NAME"),
        (("delete", "job"), 2, "name what is to be deleted"),
        (("fly",), 2, "No such command 'fly'"),
        (("get",), 2, "Missing argument 'KIND'"),
        (("up", "--port", "70000"), 2, "70000"),
        (("up", "--node-label", "here"), 2, "no KEY=VALUE"),
        (("apply", "-f", "/does/not/exist.yaml"), 2, "/does/not/exist.yaml cannot be read"),
    ],
)
def test_wrong_use_is_one_sentence_and_a_code(
    cluster: PdcHome, words: tuple[str, ...], code: int, sentence: str
) -> None:
    said = cluster.pdc(*words)

    assert (said.code, sentence in said.text) == (code, True), said
    assert "Traceback" not in said.text


def test_a_wait_that_takes_too_long_ends_with_its_own_code(cluster: PdcHome, name: str) -> None:
    cluster.apply(job(name, "trap 'exit 0' TERM; sleep 600 & wait"))

    said = cluster.pdc("wait", f"job/{name}", "--for", "Completed", "--timeout", "0.5")

    assert said.code == 4 and f"job/{name} has no Completed after 0.5 s" in said.text
    cluster.ok("delete", f"job/{name}")


def test_without_a_cluster_the_answer_is_how_to_start_one(home: PdcHome) -> None:
    said = home.pdc("get", "pods")

    assert said.code == 3 and "pdc up" in said.text
    assert home.pdc("status").code == 3


def test_a_cluster_that_does_not_answer_is_unreachable(cluster: PdcHome, tmp_path: Path) -> None:
    elsewhere = tmp_path / "kubeconfig"
    port = cluster.ok("status").split("127.0.0.1:")[1].split()[0]
    # Port 9 is the discard service, which nobody runs.
    elsewhere.write_text(cluster.home.kubeconfig.read_text().replace(f":{port}", ":9"))

    said = cluster.pdc("--kubeconfig", str(elsewhere), "get", "pods")

    assert said.code == 3 and "does not answer" in said.text

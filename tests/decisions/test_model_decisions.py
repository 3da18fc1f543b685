"""The hub: where files are kept, what a model is the sum of, how a version gets its files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.decisions.builders import (
    NOW,
    STORE,
    a_model,
    a_move,
    a_pod,
    a_service,
    a_version,
    condition_of,
    created,
    deleted,
    log_of,
    named,
    seen,
    the_hub,
    with_stored,
)

from paddlecloud.api.batch import Job
from paddlecloud.api.core import ConfigMap, Pod
from paddlecloud.api.meta import Resource
from paddlecloud.api.model import Model, ModelStatus, ModelVersion, ModelVersionStatus
from paddlecloud.controllers import model, modelconversions, modelpods, modelversion
from paddlecloud.controllers.contract import Decision
from paddlecloud.controllers.hub import store_keys, store_of, store_volume, within
from paddlecloud.controllers.modelusers import FINALIZER
from paddlecloud.controllers.statuses import status_patch

HERE = f"{STORE}/ml"
REPORT = {"files": [{"path": "m.onnx", "size": 5, "sha256": "a"}, {"path": "m.pd", "size": 7, "sha256": "b"}]}


def leaving_too(model: Model) -> Model:
    return model.but(metadata=model.metadata.but(deletion_timestamp=NOW))


def report(content: Any = None) -> ConfigMap:
    made = modelpods.report_of(a_version())
    if content is None:
        return made
    return made.but(data={"manifest.json": content if isinstance(content, str) else json.dumps(content)})


def look(version: ModelVersion, *children: Resource, answers: Any = None, store: bool = True) -> Decision:
    related = [the_hub()] if store else []
    return modelversion.reconcile(version, seen(version, *children, related=related, answers=answers))


def status_of(decision: Decision) -> ModelVersionStatus:
    assert isinstance(decision.status, ModelVersionStatus)
    return decision.status


def upload(phase: str) -> Pod:
    return a_pod("shapes-1-upload", phase)


def test_a_new_version_asks_for_an_empty_report_and_the_pod_that_fills_it() -> None:
    decision = look(a_version())

    assert named(decision) == ["ConfigMap/shapes-1-manifest", "Pod/shapes-1-upload"]
    assert status_of(decision).phase == "Pending"


@pytest.mark.parametrize(
    "children, phase",
    [
        ([report(), upload("Pending")], "Pending"),
        ([report(), upload("Running")], "Uploading"),
        ([report(), upload("Succeeded")], "Pending"),  # without its report there are no files
        ([report(), upload("Failed")], "Failed"),
        ([report(REPORT), upload("Running")], "Ready"),
        ([report(REPORT), upload("Failed")], "Ready"),  # what is stored is stored
        ([report(REPORT)], "Ready"),
    ],
)
def test_the_report_decides_the_pod_only_tells(children: list[Resource], phase: str) -> None:
    assert status_of(look(a_version(), *children)).phase == phase


def test_a_ready_version_has_files_a_size_and_a_place() -> None:
    status = status_of(look(a_version(), report(REPORT)))

    assert (status.size, len(status.files), status.storage, status.ready_time) == (12, 2, HERE, NOW)


@pytest.mark.parametrize(
    "broken", ["{", "[]", "7", '{"files": [{}]}', '{"files": "all"}', '{"signature": 3}']
)
def test_a_report_that_cannot_be_read_is_a_failure_with_a_sentence(broken: str) -> None:
    decision = look(a_version(), report(broken), upload("Succeeded"))

    assert status_of(decision).phase == "Failed"
    assert "cannot be read" in condition_of(decision, "Ready").message


def test_without_a_store_it_waits_and_says_for_what() -> None:
    decision = look(a_version(), store=False)
    told = condition_of(decision, "Progressing")

    assert (told.status, told.reason) == ("False", "NoStore") and "paddlecloud" in told.message
    assert named(decision) == ["ConfigMap/shapes-1-manifest"]


@pytest.mark.parametrize("container", ["convert", "upload"])
def test_a_failure_is_told_with_its_last_lines(container: str) -> None:
    answers = log_of("shapes-1-upload", "a\nb\n", container)
    decision = look(a_version(), report(), upload("Failed"), answers=answers)

    assert condition_of(decision, "Ready").message == f"{container} failed; its last lines:\na\nb"
    assert [n.reason for n in decision.notes] == ["UploadFailed"]


@pytest.mark.parametrize(
    "phase, pod, kept", [("Ready", "Succeeded", 0), ("Ready", "Running", 1), ("Failed", "Failed", 1)]
)
def test_afterwards_the_pod_goes_unless_it_still_works_or_is_evidence(
    phase: str, pod: str, kept: int
) -> None:
    version = a_version(phase=phase)
    children = (report(REPORT), upload(pod))
    decision = look(version, *children)

    assert len(deleted(decision, seen(version, *children))) == 1 - kept
    assert created(decision, seen(version, *children)) == []
    assert status_patch(version, status_of(decision)) == {}


def test_a_ready_version_stays_as_it_was_written() -> None:
    ready = with_stored(a_version(), look(a_version(), report(REPORT)))
    other = report({"files": []})

    assert look(ready, other, store=False).status == ready.status


@pytest.mark.parametrize("form, converts", [("paddle", True), ("onnx", False)])
def test_only_paddle_models_are_converted(form: str, converts: bool) -> None:
    spec = modelpods.make_pod(a_version(format=form), STORE).spec

    assert [c["name"] for c in spec["initContainers"]] == (["convert"] if converts else [])
    assert ("--converted" in spec["containers"][0]["command"]) is converts


@pytest.mark.parametrize(
    "uri, mounts",
    [
        ("file:///objects", [{"name": "store", "mountPath": "/objects", "readOnly": True}]),
        ("file:///my%20objects", [{"name": "store", "mountPath": "/my objects", "readOnly": True}]),
        ("s3://bucket", []),
        ("", []),
    ],
)
def test_a_store_on_a_disk_is_mounted_at_its_own_path(uri: str, mounts: list[Any]) -> None:
    volumes, found = store_volume(uri, read_only=True)

    assert found == mounts
    assert [v["hostPath"]["path"] for v in volumes] == [m["mountPath"] for m in mounts]


def test_the_administrator_says_where_models_go() -> None:
    assert store_of(seen(related=[the_hub()]), "ml") == HERE
    assert store_of(seen(), "ml") == ""
    assert store_of(seen(related=[the_hub().but(data={})]), "ml") == ""


@pytest.mark.parametrize(
    "uri, here",
    [
        ("file:///objects/", "file:///objects/ml"),
        ("s3://b", "s3://b/ml"),
        ("s3://b/p?endpoint=http://h:9000&secret=k", "s3://b/p/ml?endpoint=http://h:9000&secret=k"),
    ],
)
def test_each_namespace_has_a_part_of_the_store(uri: str, here: str) -> None:
    assert within(uri, "ml") == here


def test_keys_come_from_the_secret_that_the_store_names() -> None:
    assert store_keys("file:///objects") == store_keys("s3://b/p") == []
    sources = [v["valueFrom"]["secretKeyRef"] for v in store_keys("s3://b?endpoint=http://h&secret=k")]
    assert sources == [{"name": "k", "key": "access-key"}, {"name": "k", "key": "secret-key"}]


def test_what_was_pushed_is_fetched_from_the_store_first() -> None:
    pod = modelpods.make_pod(a_version(source={"uri": "push:sha256:abc"}), STORE).spec

    assert [c["name"] for c in pod["initContainers"]] == ["fetch", "convert"]
    assert pod["initContainers"][0]["command"][-4:] == ["--pushed", "abc", "--to", "/source"]
    assert {"name": "source", "emptyDir": {}} in pod["volumes"]


def asked(*forms: str, form: str = "paddle", known: tuple[str, ...] = ()) -> ModelVersion:
    version = a_version(
        phase="Ready", format=form, status={"conversions": [{"format": k, "exact": True} for k in known]}
    )
    wishes = {modelconversions.ASKED + f: "" for f in forms}
    return version.but(metadata=version.metadata.but(annotations=wishes))


def a_conversion(content: Any = None, form: str = "serving") -> ConfigMap:
    made = modelconversions.report_of(a_version(), f"shapes-1-to-{form}")
    return made.but(data={} if content is None else {"manifest.json": json.dumps(content)})


def a_job(version: ModelVersion, condition: str = "", form: str = "serving") -> Job:
    made = modelconversions.make_job(version, form, f"shapes-1-to-{form}")
    return made.but(status={"conditions": [{"type": condition, "status": "True"}] if condition else []})


def test_another_format_is_a_job_and_its_report() -> None:
    decision = look(asked("serving"))

    assert named(decision) == ["ConfigMap/shapes-1-to-serving", "Job/shapes-1-to-serving"]
    assert status_of(decision).conversions == []


@pytest.mark.parametrize(
    "form, to, steps",
    [
        ("paddle", "onnx", ["fetch", "to-onnx"]),
        ("paddle", "serving", ["fetch", "to-serving"]),
        ("checkpoint", "paddle", ["fetch", "to-paddle"]),
        ("checkpoint", "serving", ["fetch", "to-paddle", "to-serving"]),
    ],
)
def test_the_way_to_a_format(form: str, to: str, steps: list[str]) -> None:
    pod = modelconversions.make_job(asked(to, form=form), to, "j").spec["template"]["spec"]

    assert [c["name"] for c in pod["initContainers"]] == steps
    assert pod["containers"][0]["command"][-3].endswith(f".{to}")


def test_a_format_that_is_there_is_not_made_again() -> None:
    assert named(look(asked("serving", known=("serving",)))) == []


def test_what_the_job_reported_is_recorded_and_the_job_goes() -> None:
    version = asked("serving", known=("onnx",))
    decision = look(version, a_conversion(REPORT), a_job(version, "Complete"))

    made = status_of(decision).conversions
    assert [(c.format, c.exact, len(c.files)) for c in made] == [("onnx", True, 0), ("serving", True, 2)]
    assert "Job/shapes-1-to-serving" not in named(decision)


def test_an_onnx_model_that_computes_something_else_is_recorded_as_such() -> None:
    said = {"format": "onnx", "exact": False, "maxDifference": 0.5, "tolerance": 0.0001, "message": "far"}
    version = asked("onnx")
    decision = look(version, a_conversion({**REPORT, "conversions": [said]}, "onnx"))

    (made,) = status_of(decision).conversions
    assert (made.exact, made.max_difference, made.tolerance) == (False, 0.5, 0.0001)


@pytest.mark.parametrize(
    "children, words",
    [
        ([a_conversion(), a_job(asked("serving"), "Failed")], "job/shapes-1-to-serving failed"),
        ([a_conversion("no manifest")], "cannot be read"),
        ([a_conversion({"files": [{}]})], "cannot be read"),
    ],
)
def test_a_conversion_that_failed_says_so_once(children: list[Resource], words: str) -> None:
    version = asked("serving")
    (made,) = status_of(look(version, *children)).conversions
    assert not made.exact and words in made.message and not made.files

    again = look(with_stored(version, look(version, *children)), *children)
    assert status_of(again).conversions == [made]


def test_there_is_no_way_from_onnx_to_paddle_serving() -> None:
    (made,) = status_of(look(asked("serving", form="onnx"))).conversions
    assert made.message == "there is no way from onnx to serving"


def summary(*related: Resource) -> ModelStatus:
    status = model.reconcile(a_model(), seen(related=related)).status
    assert isinstance(status, ModelStatus)
    return status


def test_a_model_is_the_sum_of_its_versions() -> None:
    versions = [a_version(2, "Ready"), a_version(10, "Ready"), a_version(11, "Failed"), a_version(3)]
    status = summary(*versions, a_version(99, "Ready", model="other"))

    assert (status.versions, status.latest_version) == (4, "shapes-10")


@pytest.mark.parametrize(
    "ledger, aliases",
    [
        ([], {}),
        ([a_move(1, "latest", "shapes-1")], {"latest": "shapes-1"}),
        ([a_move(10, "latest", "shapes-3"), a_move(9, "latest", "shapes-2")], {"latest": "shapes-3"}),
        ([a_move(1, "latest", "shapes-2"), a_move(1, "stable", "shapes-1")],
         {"latest": "shapes-2", "stable": "shapes-1"}),
        ([a_move(1, "latest", "other-1", model="other")], {}),
    ],
)  # fmt: skip
def test_the_highest_number_of_an_alias_counts(ledger: list[Resource], aliases: dict[str, str]) -> None:
    assert summary(*ledger).aliases == aliases


@pytest.mark.parametrize(
    "reference, version",
    [
        ("shapes", "shapes-2"),
        ("shapes@latest", "shapes-2"),
        ("shapes@stable", "shapes-1"),
        ("shapes@shapes-7", "shapes-7"),
        ("shapes@3", "shapes-3"),
        ("shapes@april", "shapes-3"),
        ("shapes@nobody", ""),
        ("shapes@other-1", ""),
    ],
)
def test_what_a_reference_means(reference: str, version: str) -> None:
    there = [a_version(1, version="march"), a_version(3, version="april"), a_version(2, version="april")]

    assert model.resolve(reference, a_model(latest="shapes-2", stable="shapes-1"), there) == version


def test_a_reference_to_no_model_means_nothing() -> None:
    assert model.resolve("shapes@shapes-1", None, []) == ""


def leaving(version: ModelVersion) -> ModelVersion:
    return version.but(metadata=version.metadata.but(deletion_timestamp=NOW, finalizers=[FINALIZER]))


@pytest.mark.parametrize(
    "users, told",
    [
        ([a_model(production="shapes-1")], "alias production"),
        ([a_service(model="shapes@shapes-1")], "service shapes (default)"),
        (
            [a_service(model="shapes", status={"default": {"modelVersion": "shapes-1"}})],
            "service shapes (default)",
        ),
        ([a_model(production="shapes-2"), a_service(model="shapes@shapes-2")], ""),
        ([leaving_too(a_model(production="shapes-1"))], ""),
        ([], ""),
    ],
)
def test_a_version_that_is_deleted_goes_when_nobody_uses_it(users: list[Resource], told: str) -> None:
    version = leaving(a_version(1, "Ready"))
    decision = modelversion.reconcile(version, seen(version, report(REPORT), related=users))

    assert decision.finalizers == ((FINALIZER,) if told else ())
    if told:
        assert f"nobody uses it any more: {told};" in condition_of(decision, "Progressing").message
        assert named(decision) == ["ConfigMap/shapes-1-manifest"]
        kept = with_stored(version, decision)
        again = modelversion.reconcile(kept, seen(kept, report(REPORT), related=users))
        assert status_patch(kept, status_of(again)) == {} and again.notes == ()


def test_a_version_is_held_from_its_first_moment() -> None:
    assert look(a_version()).finalizers == (FINALIZER,)

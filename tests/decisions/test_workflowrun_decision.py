"""WorkflowRun: which steps may start, what they are given, what the run has come to."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.decisions.builders import (
    NAMESPACE,
    NOW,
    a_graph,
    a_package,
    a_run,
    a_step,
    a_step_pod,
    condition_of,
    created,
    deleted,
    named,
    seen,
    with_stored,
)

from paddlecloud.api.meta import Metadata, Resource
from paddlecloud.api.workflowrun import Graph, WorkflowRun, WorkflowRunStatus
from paddlecloud.api.workflowservice import StepCache, StepCacheSpec
from paddlecloud.controllers.contract import Decision, LogQuestion, ObjectQuestion
from paddlecloud.controllers.statuses import status_patch
from paddlecloud.controllers.workflowpods import launcher, make_pod
from paddlecloud.controllers.workflowrun import asks, known_parameters, reconcile
from paddlecloud.controllers.workflowwalk import Call

DIAMOND = a_graph(a_step("a"), a_step("b", "a"), a_step("c", "a"), a_step("d", "b", "c"))


def waits(reason: str, message: str) -> dict[str, Any]:
    return {"containerStatuses": [{"state": {"waiting": {"reason": reason, "message": message}}}]}


def look(run: WorkflowRun, graph: Graph, *pods: Resource, **more: Any) -> Decision:
    return reconcile(run, seen(run, *pods, related=[a_package(graph)], **more))


def status_of(decision: Decision) -> WorkflowRunStatus:
    assert isinstance(decision.status, WorkflowRunStatus)
    return decision.status


def phases(decision: Decision) -> dict[str, str]:
    return {name: node.phase.value for name, node in status_of(decision).nodes.items()}


@pytest.mark.parametrize(
    "pods, started, phase",
    [
        ({}, ["run-a"], "Pending"),
        ({"a": "Running"}, [], "Running"),
        ({"a": "Succeeded"}, ["run-b", "run-c"], "Running"),
        ({"a": "Succeeded", "b": "Succeeded", "c": "Running"}, [], "Running"),
        ({"a": "Succeeded", "b": "Succeeded", "c": "Succeeded"}, ["run-d"], "Running"),
        ({"a": "Succeeded", "b": "Failed", "c": "Running"}, [], "Running"),  # what runs may end
        ({"a": "Succeeded", "b": "Failed", "c": "Succeeded"}, [], "Failed"),
        ({"a": "Succeeded", "b": "Succeeded", "c": "Succeeded", "d": "Succeeded"}, [], "Succeeded"),
    ],
)
def test_a_step_starts_when_all_it_needs_has_succeeded(
    pods: dict[str, str], started: list[str], phase: str
) -> None:
    run = a_run(DIAMOND)
    existing = [a_step_pod(name, state) for name, state in pods.items()]
    decision = look(run, DIAMOND, *existing)

    assert created(decision, seen(run, *existing)) == started
    assert deleted(decision, seen(run, *existing)) == []
    assert status_of(decision).phase == phase


def test_after_a_failure_the_rest_is_left_out() -> None:
    decision = look(a_run(DIAMOND), DIAMOND, a_step_pod("a", "Failed"))

    assert phases(decision) == {"a": "Failed", "b": "Omitted", "c": "Omitted", "d": "Omitted"}
    progress = status_of(decision).progress
    assert progress is not None and (progress.done, progress.total) == (4, 4)


def test_a_failure_is_told_with_the_last_words_of_the_step() -> None:
    question = LogQuestion(NAMESPACE, "run-a")
    run, pod = a_run(DIAMOND), a_step_pod("a", "Failed")
    assert asks(run, seen(run, pod)) == (question,)

    decision = look(run, DIAMOND, pod, answers={question: "Traceback\nValueError: no\n"})
    assert condition_of(decision, "Succeeded").message == "step a failed: Traceback\nValueError: no"
    assert asks(with_stored(run, decision), seen(run, pod)) == ()


@pytest.mark.parametrize(
    "status, said",
    [
        (waits("ErrImagePull", "Failed to pull image no/such: no such host"), "Failed to pull image no/such"),
        (
            waits(
                "ImagePullBackOff", "Back-off pulling image: ErrImagePull: Failed to pull image no/such: x"
            ),
            "pod run-a cannot start: Failed to pull image no/such",
        ),
        (waits("InvalidImageName", "couldn't parse image name"), "couldn't parse image name"),
        (waits("CreateContainerConfigError", 'secret "keys" not found'), 'secret "keys" not found'),
        (
            {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]},
            "has no node",
        ),
    ],
)
def test_a_step_that_cannot_start_is_told(status: dict[str, Any], said: str) -> None:
    pod = a_step_pod("a", "Pending")
    decision = look(a_run(DIAMOND), DIAMOND, pod.but(status={"phase": "Pending", **status}))

    assert said in status_of(decision).nodes["a"].message
    told = condition_of(decision, "Progressing")
    assert (told.status, told.reason) == ("False", "StepCannotStart") and said in told.message


def test_a_step_that_is_being_made_is_no_trouble() -> None:
    pod = a_step_pod("a", "Pending").but(status={"phase": "Pending", **waits("ContainerCreating", "40 %")})
    decision = look(a_run(DIAMOND), DIAMOND, pod)

    assert condition_of(decision, "Progressing").status == "True"


def test_inputs_come_from_values_parameters_and_outputs() -> None:
    graph = a_graph(
        a_step("a"),
        a_step("b", x={"output": "a.path"}, y={"parameter": "lr"}, z={"value": "fix"}, w={"parameter": "no"}),
        lr="0.1",
    )
    done = a_step_pod("a", "Succeeded", json.dumps({"outputs": {"path": "/data"}}))
    decision = look(a_run(graph, lr="0.5"), graph, done)
    [container] = decision.children[-1].wire()["spec"]["containers"]

    assert container["command"] == ["run", "/data"]
    assert {e["name"]: e["value"] for e in container["env"]} == {
        "WORKFLOW_RUN": "run", "INPUT_x": "/data", "INPUT_y": "0.5", "INPUT_z": "fix", "INPUT_w": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    "message, outputs",
    [
        ('{"outputs": {"a": 1, "b": "x"}}', {"a": "1", "b": "x"}),
        ("", {}),
        ("not json", {}),
        ("[]", {}),
        ('{"outputs": [1]}', {}),
    ],
)
def test_what_a_step_hands_over_is_its_last_message(message: str, outputs: dict[str, str]) -> None:
    graph = a_graph(a_step("a"))
    decision = look(a_run(graph), graph, a_step_pod("a", "Succeeded", message))

    assert status_of(decision).nodes["a"].outputs == outputs


def test_a_step_that_succeeded_is_not_made_again_when_its_pod_is_gone() -> None:
    graph = a_graph(a_step("a"), a_step("b", "a"))
    run = a_run(graph, {"phase": "Running", "nodes": {"a": {"phase": "Succeeded", "outputs": {"o": "1"}}}})
    decision = look(run, graph)

    assert created(decision, seen(run)) == ["run-b"]
    assert status_of(decision).nodes["a"].outputs == {"o": "1"}


def test_a_step_whose_pod_was_taken_away_has_failed() -> None:
    graph = a_graph(a_step("a"))
    run = a_run(graph, {"phase": "Running", "nodes": {"a": {"phase": "Running", "pod": "run-a"}}})
    decision = look(run, graph)

    assert (phases(decision), status_of(decision).phase) == ({"a": "Failed"}, "Failed")
    assert "run-a was deleted" in condition_of(decision, "Succeeded").message


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_run_keeps_its_pods_and_makes_none(phase: str) -> None:
    run = a_run(DIAMOND, {"phase": phase})
    decision = look(run, DIAMOND, a_step_pod("a", "Succeeded"))

    assert named(decision) == ["Pod/run-a"] and status_patch(run, status_of(decision)) == {}


@pytest.mark.parametrize(
    "graph, text, said",
    [
        (DIAMOND, "{", "cannot be read"),
        (DIAMOND, '{"name": "x"}', "cannot be read"),
        (a_graph(a_step("a", "ghost")), None, "step a needs step ghost"),
        (a_graph(a_step("a", x={"output": "ghost.o"})), None, "step a needs step ghost"),
        (a_graph(a_step("a", "b"), a_step("b", "a")), None, "wait for each other"),
        (a_graph(a_step("a", "a")), None, "wait for each other"),
        (a_graph(a_step("a"), a_step("a")), None, "two steps are called a"),
    ],
)
def test_a_package_that_could_never_end_is_told(graph: Graph, text: str | None, said: str) -> None:
    run = a_run(graph)
    decision = reconcile(run, seen(run, related=[a_package(graph, text)]))
    told = condition_of(decision, "Progressing")

    assert (told.status, told.reason) == ("False", "BrokenPackage")
    assert said in told.message and decision.children == ()


def test_a_run_waits_for_its_package() -> None:
    run = a_run(DIAMOND)
    told = condition_of(reconcile(run, seen(run)), "Progressing")

    assert told.reason == "WaitingForPackage" and run.spec.pipeline.package in told.message


def test_times_are_those_of_the_first_and_the_last_look() -> None:
    graph = a_graph(a_step("a"))
    begun = status_of(look(a_run(graph), graph))
    ended = status_of(look(a_run(graph), graph, a_step_pod("a", "Succeeded")))

    assert (begun.start_time, begun.completion_time) == (NOW, None)
    assert ended.completion_time == NOW


def test_a_step_runs_once() -> None:
    pod = make_pod(a_run(DIAMOND), Call("a", DIAMOND.steps[0], {}, {}, {}))

    assert pod.spec["restartPolicy"] == "Never" and pod.name == "run-a"


def test_the_launcher_is_made_once_and_what_is_remembered_comes_after_the_next_pod() -> None:
    step = {"form": "ir", "cache": {"enabled": True}, "pod": {"spec": {"containers": [{"image": "i"}]}}}
    graph = Graph.model_validate({"name": "g", "steps": [{"name": "a", **step}]})
    run = a_run(graph)

    def decided(*pods: Resource, related: Any = ()) -> Decision:
        before = seen(run, *pods, related=[a_package(graph), *related])
        answers = dict.fromkeys(asks(run, before))
        return reconcile(run, seen(run, *pods, related=[a_package(graph), *related], answers=answers))

    first = decided()
    [program] = first.needs
    again = decided(related=[program])
    assert program.name == launcher().name and again.needs == ()
    assert named(again) == named(first) == ["Pod/run-a"]

    done = decided(a_step_pod("a", "Succeeded"))
    assert [entry.kind for entry in done.afterwards] == ["StepCache"] and done.needs == ()


def test_of_many_steps_only_those_that_changed_are_written() -> None:
    graph = a_graph(*(a_step(f"s{n}", *([f"s{n - 1}"] if n else [])) for n in range(20)))
    run = with_stored(a_run(graph), look(a_run(graph), graph))
    decided = look(run, graph, a_step_pod("s0", "Running"))

    patch = status_patch(run, status_of(decided))
    assert list(patch["nodes"]) == ["s0"]
    assert status_of(decided).nodes["s1"] is run.status.nodes["s1"]
    gone = status_of(decided).but(nodes={"s0": status_of(decided).nodes["s0"]})
    assert status_patch(run, gone)["nodes"]["s19"] is None


@pytest.mark.parametrize(
    "running, waiting, seconds", [(5, 0, 0.0), (20, 0, 0.1), (20, 1, 0.0), (400, 0, 1.0)]
)
def test_ends_that_no_step_waits_for_are_seen_together(running: int, waiting: int, seconds: float) -> None:
    graph = a_graph(
        *(a_step(f"s{n}") for n in range(running)), *(a_step(f"w{n}", "s0") for n in range(waiting))
    )
    pods = [a_step_pod(f"s{n}", "Running") for n in range(running)]

    assert look(a_run(graph), graph, *pods).unhurried == pytest.approx(seconds)
    ended = [a_step_pod(f"s{n}", "Succeeded") for n in range(running)]
    assert look(a_run(graph), graph, *ended).unhurried == 0.0


@pytest.mark.parametrize(
    "kind, good, bad",
    [
        ("NUMBER_INTEGER", (1, 2.0, "3", "-4"), ("many", 1.5, True, "1.5", "", None, [1])),
        ("NUMBER_DOUBLE", (1, 2.5, "3.5"), ("much", False, {})),
        ("BOOLEAN", (True, "False", "true"), (1, "yes", "")),
        ("LIST", ([1], "[]"), ("a, b", {})),
        ("STRUCT", ({}, '{"a": 1}'), ([], "a=1")),
        ("STRING", ("x", 1, True), ()),
    ],
)
def test_a_parameter_is_what_the_pipeline_asks_for(kind: str, good: tuple[Any], bad: tuple[Any]) -> None:
    graph = Graph.model_validate({"name": "g", "parameters": {"a": None}, "types": {"a": kind}, "steps": []})

    assert [known_parameters(graph, {"a": value}) for value in good] == [""] * len(good)
    assert all("parameter 'a' of pipeline g is to be" in known_parameters(graph, {"a": v}) for v in bad)


def test_what_the_questions_worked_out_is_the_same_for_the_decision_and_used_once() -> None:
    first_step = {"name": "a", "cache": {"enabled": True}}
    graph = Graph.model_validate({"name": "g", "steps": [first_step, {"name": "b", "after": ["a"]}]})
    run = a_run(graph)
    pods = [a_step_pod("a", "Running")]
    around = seen(run, *pods, related=[a_package(graph)])

    assert asks(run, around) == () and around.worked
    first = reconcile(run, around)
    assert not around.worked and first == reconcile(run, around)
    assert first == look(run, graph, *pods)


@pytest.mark.parametrize("remembered", [None, StepCacheSpec(outputs={"said": "x"}, run="before", step="a")])
def test_a_walk_goes_on_with_the_answers_as_one_that_begins_with_them(
    remembered: StepCacheSpec | None,
) -> None:
    container = {"name": "main", "image": "i", "command": ["c"]}
    step = {"form": "ir", "pod": {"spec": {"containers": [container]}}}
    first_step = {"name": "a", "cache": {"enabled": True}, **step}
    graph = Graph.model_validate({"name": "g", "steps": [first_step, {"name": "b", "after": ["a"], **step}]})
    run = a_run(graph)
    around = seen(run, related=[a_package(graph)])
    [question] = asks(run, around)
    assert isinstance(question, ObjectQuestion)
    entry = remembered and StepCache(metadata=Metadata(name=question.name), spec=remembered)

    answered = replace(around, answers={question: entry})
    alone = reconcile(run, answered)
    answered.worked.update(around.worked)
    assert answered.worked and reconcile(run, answered) == alone
    assert named(alone) == (["Pod/run-b"] if remembered else ["Pod/run-a"])

"""Packages that unmodified SDKs compiled, played to their end: order, values, conditions, loops, ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.pipelines.playing import Play, command_of, executor_input, graph_of_package

from paddlecloud.api.core import Pod
from paddlecloud.controllers.workflowpods import IMPORTS
from paddlecloud.controllers.workflowrun import reconcile


def adding_first(path: str, pod: Pod) -> dict[str, Any] | None:
    """What the functions of the first generation would have done, from what they were told."""
    words = command_of(pod)
    if path.endswith("list-numbers"):
        return {"list-numbers-Output": str(list(range(int(words[words.index("--count") + 1]))))}
    if "--a" in words:
        total = int(words[words.index("--a") + 1]) + int(words[words.index("--b") + 1])
        return {f"{path.rpartition('/')[2]}-Output": str(total)}
    return {}


def adding_second(path: str, pod: Pod) -> dict[str, Any] | None:
    values = executor_input(pod)["inputs"]["parameterValues"]
    if "count" in values:
        return {"Output": list(range(values["count"]))}
    if "values" in values:
        return {"Output": sum(values["values"])}
    return {"Output": values["a"] + values["b"]} if "a" in values else {}


def failing(path: str, pod: Pod) -> dict[str, Any] | None:
    return None if "fail" in path or "give-up" in path else {}


def test_values_flow_from_step_to_step() -> None:
    first = Play(graph_of_package("first-chain"), adding_first, a="5")
    first.to_the_end()
    second = Play(graph_of_package("second-chain"), adding_second, a=5)
    second.to_the_end()

    assert first.run.status.nodes["add-numbers"].outputs == {"add-numbers-Output": "7"}
    assert first.run.status.nodes["add-numbers-2"].inputs == {"add-numbers-Output": "7"}
    assert second.run.status.nodes["add-2"].inputs == {"a": 7, "b": 10}  # numbers, not 7.0
    assert second.run.status.nodes["add-2"].outputs == {"Output": 17}


@pytest.mark.parametrize(
    "a, phases",
    [
        (
            "1",
            {"condition-1": "Succeeded", "condition-2": "Skipped", "condition-1/add-numbers-2": "Succeeded"},
        ),
        (
            "2",
            {"condition-1": "Skipped", "condition-2": "Succeeded", "condition-2/add-numbers-3": "Succeeded"},
        ),
        ("0", {"condition-1": "Skipped", "condition-2": "Skipped"}),
    ],
)
def test_conditions_of_the_first_generation(a: str, phases: dict[str, str]) -> None:
    play = Play(graph_of_package("first-branches"), adding_first, a=a)

    assert play.to_the_end().phase == "Succeeded"
    assert play.phases() == {"add-numbers": "Succeeded", **phases}


@pytest.mark.parametrize(
    "a, taken, left", [(1, "condition-2", "condition-3"), (7, "condition-3", "condition-2")]
)
def test_one_of_the_branches_of_the_second_generation(a: int, taken: str, left: str) -> None:
    play = Play(graph_of_package("second-branches"), adding_second, a=a)

    assert play.to_the_end().phase == "Succeeded"
    assert play.phases()[f"condition-branches-1/{taken}"] == "Succeeded"
    assert play.phases()[f"condition-branches-1/{left}"] == "Skipped"


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_loop_goes_over_what_a_step_handed_over_and_its_results_are_collected(count: int) -> None:
    play = Play(graph_of_package("second-loop"), adding_second, count=count)

    assert play.to_the_end().phase == "Succeeded"
    assert play.run.status.nodes["total"].outputs == {"Output": sum(range(1, count + 1))}
    assert play.most_at_once <= 2  # the parallelism the user asked for


def test_loops_of_the_first_generation_over_outputs_and_over_pairs() -> None:
    play = Play(graph_of_package("first-loop"), adding_first, count="3")
    play.to_the_end()
    nodes = play.run.status.nodes

    assert [nodes[f"for-loop-1({i})/add-numbers"].outputs["add-numbers-Output"] for i in range(3)] == [
        "1",
        "2",
        "3",
    ]
    assert nodes["for-loop-3(1)/add-numbers-2"].outputs == {"add-numbers-2-Output": "7"}


@pytest.mark.parametrize("package, last", [("first-exits", "onExit"), ("second-exits", "tell")])
def test_what_comes_at_the_exit_comes_after_a_failure_too(package: str, last: str) -> None:
    play = Play(graph_of_package(package), failing)

    assert play.to_the_end().phase == "Failed"
    assert play.phases()[last] == "Succeeded"


def test_the_exit_is_told_how_it_ended() -> None:
    told: dict[str, Any] = {}

    def end(path: str, pod: Pod) -> dict[str, Any] | None:
        if path == "tell":
            told.update(executor_input(pod)["inputs"]["parameterValues"]["status"])
        return failing(path, pod)

    Play(graph_of_package("second-exits"), end).to_the_end()
    assert (told["state"], told["pipelineTaskName"]) == ("FAILED", "exit-handler-1")


@pytest.mark.parametrize("package, attempts", [("first-retried", 2), ("second-retried", 3)])
def test_a_step_is_tried_as_often_as_it_may_be(package: str, attempts: int) -> None:
    play = Play(graph_of_package(package), failing)

    assert play.to_the_end().phase == "Failed"
    assert len(play.ended) == attempts


def test_an_equal_step_of_a_later_run_is_answered_from_the_cache() -> None:
    graph = graph_of_package("second-chain")
    before = Play(graph, adding_second)
    before.to_the_end()
    after = Play(graph, adding_second)
    after.related += before.related[1:]
    after.to_the_end()

    assert not after.ended and after.run.status.nodes["add-2"].outputs == {"Output": 13}
    assert all(node.cached for node in after.run.status.nodes.values())


def test_a_run_that_is_stopped_leaves_nothing_running() -> None:
    play = Play(graph_of_package("second-chain"), adding_second)
    play.look()
    play.look()
    assert play.pods
    play.run = play.run.but(spec=play.run.spec.but(stop=True))
    play.look()

    assert (play.run.status.phase, play.pods) == ("Canceled", {})
    assert play.phases() == {"add": "Failed", "add-2": "Omitted"}


def test_a_run_that_is_tried_again_keeps_what_succeeded() -> None:
    play = Play(graph_of_package("second-exits"), failing)
    play.to_the_end()
    before = set(play.ended)
    play.end = lambda path, pod: {}
    play.run = play.run.but(spec=play.run.spec.but(retries=1))

    assert play.to_the_end().phase == "Succeeded"
    again = {play.run.status.nodes[path].pod for path in ("exit-handler-1/fail", "tell")}
    assert set(play.ended) - before == again  # the step that failed, and the exit


def test_looking_twice_decides_the_same() -> None:
    play = Play(graph_of_package("second-loop"), adding_second)
    for _ in range(4):
        play.look()
        everything = (*play.ended.values(), *play.pods.values())
        again = reconcile(play.run, play.sight(*everything))
        assert {c.name for c in again.children} == {p.name for p in everything}
        play.finish()


def test_what_is_imported_needs_no_pod_and_is_given_to_the_next_step() -> None:
    place = "file:///data/more/words.txt"
    play = Play(graph_of_package("second-imports"), adding_second, place=place)
    play.to_the_end()
    nodes = play.run.status.nodes
    [pod] = play.made.values()
    [given] = executor_input(pod)["inputs"]["artifacts"]["data"]["artifacts"]

    assert nodes["importer"].artifacts["artifact"]["metadata"] == {"letters": 5, "of": place}
    assert (nodes["importer-2"].pod, nodes["importer-2"].artifacts["artifact"]["uri"]) == ("", place)
    assert (given["uri"], given["type"]["schemaTitle"]) == (f"{IMPORTS}/0/words.txt", "system.Dataset")
    assert pod.spec["volumes"][0]["hostPath"] == {"path": "/data/more", "type": "Directory"}
    assert pod.spec["containers"][0]["volumeMounts"][0]["mountPath"] == f"{IMPORTS}/0"


def test_what_lies_at_an_address_a_pod_brings_and_no_key_of_it_is_told() -> None:
    place = "https://me:word@server/data/words.txt?signature=secret"
    play = Play(graph_of_package("second-imports"), bringing, place=place)
    status = play.to_the_end()
    fetcher = next(p for p in play.made.values() if p.name.endswith("importer-2"))
    reader = next(p for p in play.made.values() if p.name.endswith("read"))
    [container] = fetcher.spec["containers"]
    [given] = executor_input(reader)["inputs"]["artifacts"]["data"]["artifacts"]

    assert status.phase == "Succeeded"
    assert {"name": "IMPORT_ADDRESS", "value": place} in container["env"]
    assert given["uri"] == container["command"][-1] and given["uri"].startswith(
        "/var/run/workflow/artifacts/"
    )
    told = json.dumps([n.wire() for n in status.nodes.values()]) + json.dumps(container["command"])
    assert "https://server/data/words.txt" in told and "secret" not in told and "word@" not in told


def bringing(path: str, pod: Pod) -> dict[str, Any]:
    return {} if path.startswith("importer") else {"Output": "read"}


def test_what_is_imported_again_is_not_what_it_was() -> None:
    graph = graph_of_package("second-imports")
    before = Play(graph, adding_second)
    before.to_the_end()
    after = Play(graph, adding_second)
    after.run = after.run.but(metadata=after.run.metadata.but(uid="another"))
    after.related += before.related[1:]
    after.to_the_end()
    known, again = (
        [play.run.status.nodes[name].artifacts for play in (before, after)]
        for name in ("importer", "importer-2")
    )

    assert known[0] == known[1]
    assert again[0] != again[1] and len(after.ended) == 1  # so what is made of it is made anew


@pytest.mark.parametrize(
    "place, sentence",
    [
        ("ftp://server/words.txt", "file:///…, s3://, minio://, http:// and https:// are read"),
        ("file://elsewhere/words.txt", "file:///…, s3://, minio://, http:// and https:// are read"),
        ("s3://bucket", "names nothing in a bucket"),
        ("https:///words.txt", "names nothing in a bucket or on a server"),
        ("words.txt", "names no absolute path"),
        ("file:///data/../etc/shadow", "names no absolute path"),
        ("", "an empty text cannot be imported"),
    ],
)
def test_what_cannot_be_imported_is_said(place: str, sentence: str) -> None:
    play = Play(graph_of_package("second-imports"), adding_second, place=place)

    assert play.to_the_end().phase == "Failed"
    assert sentence in play.run.status.nodes["importer-2"].message and not play.ended


def test_a_step_that_is_asked_for_again_is_not_answered_from_the_cache_and_corrects_it() -> None:
    play = Play(graph_of_package("second-chain"), adding_second)
    play.to_the_end()
    before = dict(play.ended)
    play.end = lambda path, pod: {"Output": 99}
    play.run = play.run.but(spec=play.run.spec.but(retries=1, retry_from="add"))

    assert play.to_the_end().phase == "Succeeded"
    assert len(play.ended) == len(before) + 2
    assert play.run.status.nodes["add-2"].outputs == {"Output": 99}
    assert {u.patch["spec"]["outputs"]["Output"] for u in play.changes} == {99}

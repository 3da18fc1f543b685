"""PaddleService: which version is served, and when it may be called Ready."""

from __future__ import annotations

from typing import Any

import pytest
from tests.decisions.builders import (
    STORE,
    a_knative,
    a_model,
    a_service,
    a_version,
    condition_of,
    metadata,
    named,
    seen,
    with_stored,
)

from paddlecloud.api.knative import KnativeService
from paddlecloud.api.meta import Resource
from paddlecloud.api.paddleservice import EndpointStatus, PaddleService, PaddleServiceStatus
from paddlecloud.controllers.contract import Decision
from paddlecloud.controllers.paddleservice import make_service, reconcile
from paddlecloud.controllers.statuses import status_patch

OWN: dict[str, Any] = {"containerImage": "example/server", "tag": "1", "port": 8000}
READY = a_version(1, "Ready")


def look(service: PaddleService, *related: Resource, inner: Resource | None = None) -> Decision:
    return reconcile(service, seen(service, *([inner] if inner else []), related=related))


def status_of(decision: Decision) -> PaddleServiceStatus:
    assert isinstance(decision.status, PaddleServiceStatus)
    return decision.status


def serves(decision: Decision) -> str:
    default = status_of(decision).default
    return default.model_version if default else ""


def running(service: PaddleService, ready: str = "True", **more: Any) -> KnativeService:
    """The Knative Service that the decision for *service* would make, in a state."""
    decision = look(service, a_model(latest="shapes-1"), READY, a_version(2, "Ready"))
    [made] = decision.children
    return a_knative(ready, spec=made.wire()["spec"], **more)


@pytest.mark.parametrize(
    "default, related, reason",
    [
        ({}, [], "Incomplete"),
        ({"containerImage": "x"}, [], "Incomplete"),
        ({"model": "shapes"}, [], "WaitingForModel"),
        ({"model": "shapes@stable"}, [a_model(latest="shapes-1"), READY], "WaitingForModel"),
        ({"model": "shapes"}, [a_model(latest="shapes-1")], "WaitingForModel"),
        ({"model": "shapes"}, [a_model(latest="shapes-1"), a_version(1, "Uploading")], "WaitingForModel"),
    ],
)
def test_what_a_service_waits_for(default: dict[str, Any], related: list[Resource], reason: str) -> None:
    decision = look(a_service(**default), *related)
    told = condition_of(decision, "Progressing")

    assert (told.status, told.reason) == ("False", reason)
    assert condition_of(decision, "Ready").status == "False"
    assert decision.children == ()


def test_while_it_waits_what_answers_goes_on_answering() -> None:
    service = a_service(model="shapes@nobody")

    assert named(look(service, inner=a_knative())) == ["Service/shapes"]


@pytest.mark.parametrize(
    "ready, observed, told, reason",
    [
        ("True", 1, "True", "Serving"),
        ("Unknown", 1, "False", "Starting"),
        ("False", 1, "False", "Starting"),
        ("True", 0, "False", "Starting"),  # said about an older revision
    ],
)
def test_ready_is_what_knative_says_about_what_is_wanted_now(
    ready: str, observed: int, told: str, reason: str
) -> None:
    service = a_service(**OWN)
    decision = look(service, inner=running(service, ready, observed=observed))

    assert (condition_of(decision, "Ready").status, condition_of(decision, "Ready").reason) == (told, reason)
    assert [n.reason for n in decision.notes] == (["Ready"] if told == "True" else [])


def test_a_changed_service_is_not_ready_before_the_change_arrived() -> None:
    changed = a_service(generation=2, **{**OWN, "tag": "2"})

    assert condition_of(look(changed, inner=running(a_service(**OWN))), "Ready").status == "False"


def test_the_first_answer_is_pinned_and_an_alias_that_moves_changes_nothing() -> None:
    service = a_service(model="shapes@latest")
    first = with_stored(service, look(service, a_model(latest="shapes-1"), READY))
    moved = [a_model(latest="shapes-2"), READY, a_version(2, "Ready")]

    assert serves(look(first, *moved)) == "shapes-1"


def test_one_that_follows_goes_where_the_alias_goes() -> None:
    service = a_service(model="shapes@latest", follow=True)
    first = with_stored(service, look(service, a_model(latest="shapes-1"), READY))
    moved = [a_model(latest="shapes-2"), READY, a_version(2, "Ready")]

    assert serves(look(first, *moved)) == "shapes-2"


def test_a_new_reference_is_a_new_question_however_long_its_answer_takes() -> None:
    service = a_service(model="shapes@latest")
    pinned = with_stored(service, look(service, a_model(latest="shapes-1"), READY)).status
    changed = a_service(model="shapes@shapes-2", generation=2, status=pinned.wire())
    waiting = with_stored(changed, look(changed, a_model(), READY, a_version(2, "Uploading")))
    assert condition_of(look(waiting, a_model(), READY, a_version(2, "Uploading")), "Ready").status == "False"

    assert serves(look(waiting, a_model(), READY, a_version(2, "Ready"))) == "shapes-2"


def test_a_settled_service_costs_no_write() -> None:
    service = a_service(**OWN)
    inner = running(service, latestReadyRevisionName="shapes-00001", actualReplicas=1)
    stored = with_stored(service, look(service, inner=inner))

    assert status_patch(stored, status_of(look(stored, inner=inner))) == {}


def test_the_status_tells_where_and_how_many() -> None:
    service = a_service(**OWN)
    status = status_of(look(service, inner=running(service, latestReadyRevisionName="r1", actualReplicas=2)))

    assert (status.url, status.replicas) == ("http://shapes.ml.example.com", 2)
    assert status.default is not None and status.default.name == "r1"


def container(service: PaddleService, **default: str) -> dict[str, Any]:
    made = make_service(service, EndpointStatus(**default))
    found: dict[str, Any] = made.spec["template"]["spec"]["containers"][0]
    return found


def test_an_own_image_runs_as_it_is_told() -> None:
    made = container(a_service(**OWN, arg="serve --fast"))

    assert made["image"] == "example/server:1"
    assert (made["command"], made["args"]) == (["/bin/bash", "-c"], ["serve --fast"])
    assert made["ports"] == [{"containerPort": 8000}]


def test_a_model_is_fetched_by_its_pinned_version_before_it_is_served() -> None:
    service = a_service(model="shapes@latest", port=9000)
    made = container(service, model_version="shapes-1", storage=STORE)
    [_, _, script] = made["command"]

    fetch, _, serve = script.partition(" && exec ")
    assert "--version shapes-1" in fetch and f"--store {STORE}" in fetch
    assert "--port 9000" in serve
    assert made["readinessProbe"]["httpGet"]["port"] == 9000


def test_names_from_users_are_no_shell() -> None:
    service = a_service(model="a;rm -rf@latest")

    assert "'a;rm -rf'" in container(service, model_version="v", storage=STORE)["command"][2]


@pytest.mark.parametrize(
    "scaling, annotations",
    [
        ({}, {}),
        ({"minScale": 0, "maxScale": 3}, {"min-scale": "0", "max-scale": "3"}),
        (
            {"metric": "rps", "target": 10, "window": "60s"},
            {"metric": "rps", "target": "10", "window": "60s"},
        ),
    ],
)
def test_scaling_is_said_in_the_words_of_knative(
    scaling: dict[str, Any], annotations: dict[str, str]
) -> None:
    service = PaddleService.read({"metadata": metadata("s"), "spec": {"default": OWN, "service": scaling}})
    given = make_service(service, EndpointStatus()).spec["template"]["metadata"]["annotations"]

    assert given == {f"autoscaling.knative.dev/{k}": v for k, v in annotations.items()}

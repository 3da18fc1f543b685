"""PaddleService: which version is served, which revision gets the requests, and when it is called Ready."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.decisions.builders import (
    NOW,
    STORE,
    a_model,
    a_revision,
    a_service,
    a_version,
    condition_of,
    metadata,
    named,
    with_stored,
)

from paddlecloud.api.knative import MIRROR, KnativeService, Revision
from paddlecloud.api.meta import Resource
from paddlecloud.api.model import Conversion, StoredFile
from paddlecloud.api.paddleservice import (
    ElasticPaddleService,
    PaddleService,
    PaddleServiceStatus,
)
from paddlecloud.controllers.contract import Decision, Snapshot, difference
from paddlecloud.controllers.paddleservice import reconcile
from paddlecloud.controllers.servinggates import TALLY
from paddlecloud.controllers.servingtemplates import digest_on
from paddlecloud.controllers.statuses import status_patch

OWN: dict[str, Any] = {"containerImage": "example/server", "tag": "1", "port": 8000}
TRIAL = {**OWN, "tag": "2"}
READY = a_version(1, "Ready")


class Scene:
    """A PaddleService and the Knative objects around it, which do what a test says."""

    def __init__(self, **spec: Any) -> None:
        self.service = written(**spec)
        self.inner: KnativeService | None = None
        self.revisions: dict[str, Revision] = {}

    def edit(self, **spec: Any) -> Scene:
        status, generation = self.service.status, self.service.metadata.generation + 1
        self.service = written(**spec).but(status=status)
        self.service = self.service.but(metadata=self.service.metadata.but(generation=generation))
        return self

    def look(self) -> Decision:
        children = (self.inner,) if self.inner else ()
        return reconcile(self.service, Snapshot(NOW, children, tuple(self.revisions.values())))

    def step(self, ready: str = "True", *, routes: bool = True, **said: Any) -> Decision:
        """One look that is carried out; then Knative makes the revision and routes as it is asked to."""
        decision = self.look()
        [made] = decision.children
        assert isinstance(made, KnativeService)
        self.service = with_stored(self.service, decision)
        body = made.wire()
        name = body["spec"]["template"]["metadata"]["name"]
        traffic = body["spec"]["traffic"]
        if name not in self.revisions:
            template = made.spec["template"]
            self.revisions[name] = a_revision(name, ready, digest=digest_on(template), said=said)
        going = routes and all(self.revisions[t["revisionName"]].ready for t in traffic)
        told = traffic if going else (self.inner.status.get("traffic") or []) if self.inner else []
        status = {"observedGeneration": 1, "traffic": told}
        self.inner = KnativeService.read(
            {"metadata": metadata(self.service.name), "spec": without_nulls(body["spec"]), "status": status}
        )
        return decision

    def becomes(self, name: str, ready: str, **said: Any) -> None:
        notes = self.revisions[name].metadata.annotations
        self.revisions[name] = a_revision(name, ready, digest=notes["paddlecloud.org/template"], said=said)

    def settle(self) -> Scene:
        for _ in range(6):
            self.step()
        assert status_patch(self.service, status_of(self.look())) == {}, "settled"
        return self

    def split(self) -> dict[str, int]:
        [made] = self.look().children
        assert isinstance(made, KnativeService)
        return {t["revisionName"]: t["percent"] for t in made.spec["traffic"]}

    def template(self) -> str:
        [made] = self.look().children
        assert isinstance(made, KnativeService)
        return str(made.spec["template"]["metadata"]["name"])


def written(**spec: Any) -> PaddleService:
    return PaddleService.read({"metadata": metadata("shapes"), "spec": {"default": OWN, **spec}})


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return value


def look(service: PaddleService, *related: Resource) -> Decision:
    return reconcile(service, Snapshot(NOW, (), related))


def status_of(decision: Decision) -> PaddleServiceStatus:
    assert isinstance(decision.status, PaddleServiceStatus)
    return decision.status


def serves(decision: Decision) -> str:
    default = status_of(decision).default
    return default.model_version if default else ""


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


def test_a_default_that_answers_is_not_told_as_starting_while_a_canary_comes() -> None:
    scene = Scene().settle()
    scene.edit(default=OWN, canary=OWN | {"tag": "next"})
    scene.step("Unknown")
    assert scene.inner is not None
    # Knative has not looked at the new template yet.
    behind = scene.inner.metadata.but(generation=2)
    scene.inner = scene.inner.but(metadata=behind)

    decision = scene.look()

    assert condition_of(decision, "DefaultEndpointReady").status == "True"
    assert condition_of(decision, "CanaryEndpointReady").reason == "Starting"
    assert "shapes-canary is starting" in condition_of(decision, "Ready").message


def test_what_the_cluster_refuses_of_it_is_told_where_a_user_looks() -> None:
    service = a_service(**OWN)
    words = "Service shapes: autoscaling.knative.dev/window must be whole seconds from 6s to 1h"
    decision = reconcile(service, Snapshot(NOW, refused=(words,)))

    assert condition_of(decision, "Ready").reason == "Refused"
    assert words in condition_of(decision, "Progressing").message
    assert condition_of(decision, "Progressing").status == "False"
    assert named(decision) == ["Service/shapes"]  # it is tried again: the refusal may be gone


def test_while_it_waits_what_answers_goes_on_answering() -> None:
    scene = Scene().settle()
    scene.edit(default={"model": "shapes@nobody"})

    assert named(scene.look()) == ["Service/shapes"]
    assert scene.look().children == (scene.inner,)


def test_a_cluster_without_knative_is_told_how_to_get_it() -> None:
    decision = reconcile(a_service(**OWN), Snapshot(NOW, missing=frozenset({KnativeService})))

    assert condition_of(decision, "Progressing").reason == "EngineMissing"
    assert decision.children == ()


@pytest.mark.parametrize("mine, theirs, taken", [(1, 2, False), (2, 1, True), (1, 1, True)])
def test_of_two_services_of_one_name_the_later_one_gets_no_address(
    mine: int, theirs: int, taken: bool
) -> None:
    """The two groups have names of their own, Knative has not."""

    def born(minute: int) -> dict[str, Any]:
        return metadata("shapes", creationTimestamp=datetime(2024, 1, 1, 0, minute, tzinfo=UTC))

    service = PaddleService.read({"metadata": born(mine), "spec": {"default": OWN}})
    other = ElasticPaddleService.read({"metadata": born(theirs), "spec": {"default": OWN}})
    decision, mirrored = look(service, other), look(other, service)

    assert (condition_of(decision, "Progressing").reason == "NameTaken") is taken
    assert (condition_of(mirrored, "Progressing").reason == "NameTaken") is not taken


def test_a_first_release_is_ready_when_requests_reach_it() -> None:
    scene = Scene()
    scene.step("Unknown")
    assert condition_of(scene.step(), "Ready").reason == "Starting"
    scene.becomes("shapes-default", "True")
    assert condition_of(scene.step(routes=False), "Ready").status == "False"
    scene.step()
    decision = scene.step()

    assert condition_of(decision, "Ready").status == "True"
    assert [n.reason for n in decision.notes] == ["Ready"]
    status = status_of(decision)
    assert status.default and (status.default.name, status.replicas) == ("shapes-default", 1)
    assert status.url == "http://shapes.ml.example.com"
    assert [(r.revision, r.endpoint["tag"]) for r in status.releases] == [("shapes-default", "1")]


def test_a_changed_default_takes_over_when_it_is_ready_and_not_before() -> None:
    scene = Scene().settle().edit(default=TRIAL)
    scene.step("Unknown")
    [new] = scene.revisions.keys() - {"shapes-default"}
    assert new.startswith("shapes-default-") and len(new) == len("shapes-default-") + 5
    assert scene.split() == {"shapes-default": 100}
    assert condition_of(scene.look(), "Ready").status == "False"
    scene.becomes(new, "True")
    assert scene.split() == {new: 100}
    assert [n.reason for n in scene.step().notes] == ["Released"]
    scene.settle()

    assert [r.revision for r in scene.service.status.releases] == ["shapes-default", new]


def test_a_default_that_fails_leaves_the_old_one_and_tells_its_last_words() -> None:
    scene = Scene().settle().edit(default=TRIAL)
    scene.step("False", reason="ExitCode1", message="Container failed with: no such model")
    decision = scene.step()
    told = condition_of(decision, "DefaultEndpointReady")

    assert scene.split() == {"shapes-default": 100}
    assert told.reason == "ExitCode1" and "no such model" in told.message
    assert "shapes-default goes on answering" in told.message
    assert condition_of(decision, "Progressing").status == "False"
    assert [(n.type, n.reason) for n in decision.notes] == [("Warning", "RevisionFailed")]
    assert scene.step().notes == (), "said once"


def test_going_back_finds_the_revision_that_is_still_there() -> None:
    scene = Scene().settle().edit(default=TRIAL).settle().edit(default=OWN)

    assert scene.split() == {"shapes-default": 100} and scene.template() == "shapes-default"


def test_a_canary_comes_second_and_gets_its_share_when_it_is_ready() -> None:
    scene = Scene(canary=TRIAL)
    assert scene.template() == "shapes-default"
    scene.step()
    assert scene.template() == "shapes-canary"
    scene.step("Unknown")
    assert scene.split() == {"shapes-default": 100}
    scene.becomes("shapes-canary", "True")
    assert scene.split() == {"shapes-default": 50, "shapes-canary": 50}
    scene.settle()

    assert condition_of(scene.look(), "CanaryEndpointReady").status == "True"
    assert {s.revision_name: s.percent for s in scene.service.status.traffic} == scene.split()


@pytest.mark.parametrize("percent", [0, 1, 50, 100])
def test_the_share_of_a_canary(percent: int) -> None:
    scene = Scene(canary=TRIAL, canaryTrafficPercent=percent).settle()

    assert scene.split() == {"shapes-default": 100 - percent, "shapes-canary": percent}


def test_a_canary_of_a_release_gets_its_first_share_and_loses_it_with_its_gate() -> None:
    release = {"steps": [5, 50], "minRequests": 10, "gate": {"errorPercent": 1}, "mirrorPercent": 20}
    scene = Scene(default=OWN, canary=TRIAL, release=release).settle()
    assert scene.split() == {"shapes-default": 95, "shapes-canary": 5}
    [made] = scene.look().children
    assert made.metadata.annotations == {MIRROR: "20"}

    bad = json.dumps({"requests": 50, "errors": 5, "times": [50]})
    tried = scene.revisions["shapes-canary"]
    annotations = {**tried.metadata.annotations, TALLY: bad}
    scene.revisions["shapes-canary"] = tried.but(metadata=tried.metadata.but(annotations=annotations))
    decision = scene.step()

    assert [n.reason for n in decision.notes] == ["RolledBack"] and "5 of 50" in decision.notes[0].message
    assert scene.settle().split() == {"shapes-default": 100, "shapes-canary": 0}
    release_now = scene.service.status.release
    assert release_now and release_now.phase == "RolledBack"

    scene.edit(default=OWN, canary={**OWN, "tag": "3"}, release=release).step("Unknown")
    assert scene.split() == {"shapes-default": 100, "shapes-canary": 0}, "its successor is not ready yet"


@pytest.mark.parametrize(
    "files, exact, image",
    [
        (["model.onnx"], None, "paddlecloud/serving"),
        (["model.json", "model.pdiparams"], None, "paddlecloud/serving-paddle"),
        (["model.pdmodel", "model.pdiparams"], None, "paddlecloud/serving-paddle"),
        (["model.json", "model.pdiparams", "model.onnx"], True, "paddlecloud/serving"),
        (["model.json", "model.pdiparams", "model.onnx"], False, "paddlecloud/serving-paddle"),
    ],
)
def test_a_version_is_served_by_the_suite_that_can_compute_it(
    files: list[str], exact: bool | None, image: str
) -> None:
    stored = [StoredFile(path=path, size=1, sha256="0" * 64) for path in files]
    converted = [] if exact is None else [Conversion(format="onnx", exact=exact)]
    version = READY.but(status=READY.status.but(files=stored, conversions=converted))
    decision = look(a_service(model="shapes@latest"), a_model(latest="shapes-1"), version)

    [made] = decision.children
    assert isinstance(made, KnativeService)
    assert made.spec["template"]["spec"]["containers"][0]["image"] == image


def test_a_promoted_canary_is_the_default_without_a_new_revision() -> None:
    scene = Scene(canary=TRIAL).settle()
    before = set(scene.revisions)
    scene.edit(default=TRIAL).settle()

    assert scene.split() == {"shapes-canary": 100} and set(scene.revisions) == before
    assert condition_of(scene.look(), "Ready").status == "True"


def test_a_new_canary_leaves_the_old_one_its_share_until_it_is_ready() -> None:
    scene = Scene(canary=TRIAL).settle().edit(canary={**OWN, "tag": "3"})
    scene.step("Unknown")
    assert scene.split() == {"shapes-default": 50, "shapes-canary": 50}
    [new] = scene.revisions.keys() - {"shapes-default", "shapes-canary"}
    assert new.startswith("shapes-canary-")
    scene.becomes(new, "True")

    assert scene.split() == {"shapes-default": 50, new: 50}


def test_a_canary_that_is_taken_back_gets_nothing_more() -> None:
    scene = Scene(canary=TRIAL).settle().edit()

    assert scene.split() == {"shapes-default": 100} and scene.template() == "shapes-default"


def test_a_name_that_was_asked_for_and_is_not_there_yet_is_not_used_for_another_template() -> None:
    scene = Scene()
    scene.step()
    scene.revisions.clear()
    scene.edit(default=TRIAL)

    assert scene.template() not in ("", "shapes-default")


def test_a_new_template_leaves_nothing_of_the_one_before() -> None:
    scene = Scene(nodeSelector={"gpu": "yes"}, env=[{"name": "A", "value": "1"}]).settle().edit()
    [made] = scene.look().children
    assert scene.inner is not None
    patch = difference(scene.inner, made)

    assert patch["spec"]["template"]["spec"]["nodeSelector"] is None


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


def test_a_promoted_model_keeps_the_version_it_was_tried_with() -> None:
    canary = {"model": "shapes@latest", "modelVersion": "shapes-1", "storage": STORE}
    service = a_service(model="shapes@latest", status={"canary": canary})

    assert serves(look(service, a_model(latest="shapes-2"), READY, a_version(2, "Ready"))) == "shapes-1"

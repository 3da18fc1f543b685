"""What stands in for Knative: templates become revisions, traffic goes to the ready ones, pods are told."""

from __future__ import annotations

from typing import Any

import pytest
from tests.decisions.builders import a_knative, a_pod, a_revision, metadata, seen

from paddlecloud.api.apps import Deployment
from paddlecloud.api.autoscaling import HorizontalPodAutoscaler
from paddlecloud.api.core import Pod, Service
from paddlecloud.api.knative import KnativeService, Revision, Route
from paddlecloud.api.meta import Metadata
from paddlecloud.controllers.contract import Decision
from paddlecloud.embedded.workloads import knative, revisions

TEMPLATE = {"metadata": {"name": "shapes-2"}, "spec": {"containers": [{"image": "x"}]}}
HALVES = [
    {"revisionName": "shapes-1", "percent": 50},
    {"revisionName": "shapes-2", "percent": 50, "tag": "canary"},
]
HPA = "hpa.autoscaling.knative.dev"
LABELS = {"serving.knative.dev/revision": "r"}


def status_of(decision: Decision) -> dict[str, Any]:
    assert isinstance(decision.status, dict)
    return decision.status


def told(decision: Decision, kind: str = "Ready") -> dict[str, Any]:
    return next(c for c in status_of(decision)["conditions"] if c["type"] == kind)


def revision(name: str, ready: str = "True", generation: int = 1) -> Revision:
    labels = {"serving.knative.dev/configurationGeneration": str(generation)}
    return a_revision(name, ready, labels=labels, spec=TEMPLATE["spec"])


def look(spec: dict[str, Any], *there: Revision, **status: Any) -> Decision:
    service = a_knative("Unknown", spec={"template": TEMPLATE, **spec}, **status)
    return knative.reconcile_service(service, seen(service, *there))


def names(decision: Decision, kind: type[Any] = Revision) -> list[str]:
    return sorted(c.name for c in decision.children if isinstance(c, kind))


def routed(decision: Decision) -> dict[str, int]:
    return {t["revisionName"]: t["percent"] for t in status_of(decision).get("traffic") or ()}


@pytest.mark.parametrize(
    "there, before, serving, ready",
    [
        ([], {}, {}, "Unknown"),
        ([revision("shapes-2", "Unknown")], {}, {}, "Unknown"),
        ([revision("shapes-2")], {}, {"shapes-2": 100}, "True"),
        # What answers goes on answering until the next one is ready, and for ever when it fails.
        (
            [revision("shapes-1"), revision("shapes-2", "Unknown")],
            {"shapes-1": 100},
            {"shapes-1": 100},
            "Unknown",
        ),
        (
            [revision("shapes-1"), revision("shapes-2", "False")],
            {"shapes-1": 100},
            {"shapes-1": 100},
            "False",
        ),
        ([revision("shapes-1"), revision("shapes-2")], {"shapes-1": 100}, {"shapes-2": 100}, "True"),
    ],
)
def test_a_roll_out_takes_nothing_away(
    there: list[Revision], before: dict[str, int], serving: dict[str, int], ready: str
) -> None:
    traffic = [{"revisionName": name, "percent": percent} for name, percent in before.items()]
    decision = look({}, *there, traffic=traffic, latestReadyRevisionName=next(iter(before), ""))

    assert routed(decision) == serving
    assert told(decision)["status"] == ready
    assert set(names(decision)) >= {"shapes-2", *before}


@pytest.mark.parametrize(
    "there, moved, routes",
    [
        ([revision("shapes-1"), revision("shapes-2")], True, "True"),
        ([revision("shapes-1"), revision("shapes-2", "Unknown")], False, "Unknown"),
        ([revision("shapes-1"), revision("shapes-2", "False")], False, "False"),
        ([revision("shapes-2")], False, "False"),
    ],
    ids=["all ready", "one starting", "one failed", "one missing"],
)
def test_traffic_moves_when_every_revision_in_it_is_ready(
    there: list[Revision], moved: bool, routes: str
) -> None:
    decision = look({"traffic": HALVES}, *there, traffic=[{"revisionName": "shapes-2", "percent": 100}])

    expected = {"shapes-1": 50, "shapes-2": 50} if moved else {"shapes-2": 100}
    assert routed(decision) == expected
    assert told(decision, "RoutesReady")["status"] == routes


def test_a_tag_is_an_address_of_its_own() -> None:
    decision = look({"traffic": HALVES}, revision("shapes-1"), revision("shapes-2"))

    assert status_of(decision)["traffic"][1]["url"] == "http://canary-shapes.ml.example.com"


def test_another_template_under_the_name_of_a_revision_is_refused_as_knative_does() -> None:
    other = revision("shapes-2").but(spec={"containers": [{"image": "other"}]})
    said = told(look({}, other), "ConfigurationsReady")

    assert (said["status"], said["reason"]) == ("False", "RevisionFailed")
    assert 'revisions.serving.knative.dev "shapes-2" already exists' in said["message"]


def test_revisions_that_nobody_names_stay_for_a_while() -> None:
    old = [revision(f"shapes-old{n}", generation=n) for n in range(1, 6)]
    decision = look({}, revision("shapes-2"), *old)

    assert names(decision) == ["shapes-2", "shapes-old3", "shapes-old4", "shapes-old5"]


def test_a_template_without_a_name_is_called_after_its_generation() -> None:
    template = {"metadata": {"annotations": {"a": "b"}}, "spec": {"containers": [{"image": "x"}]}}
    made = knative.make_revision(a_knative(spec={"template": template}, generation=7))

    assert made.name == "shapes-00007"
    assert made.spec == template["spec"] and made.metadata.annotations == {"a": "b"}
    assert made.metadata.labels["serving.knative.dev/service"] == "shapes"


def test_a_route_tells_what_its_service_tells() -> None:
    decision = look({}, revision("shapes-2"))
    assert names(decision, Route) == ["shapes"]
    service = KnativeService.read({"metadata": metadata("shapes"), "status": decision.status})
    route = Route.read({"metadata": metadata("shapes")})
    said = knative.reconcile_route(route, seen(route, related=[service]))

    assert routed(said) == {"shapes-2": 100} and told(said)["status"] == "True"


def pods_of(*states: Pod) -> list[Pod]:
    return [p.but(metadata=p.metadata.but(labels=LABELS)) for p in states]


def waiting(reason: str, **last: Any) -> Pod:
    state: dict[str, Any] = {
        "state": {"waiting": {"reason": reason, "message": "no suite"}},
        "lastState": last,
    }
    return a_pod("p", "Pending", status={"containerStatuses": [state]})


ENDED = {"exitCode": 3, "message": "no such file\nbye"}
NOWHERE = [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]


@pytest.mark.parametrize(
    "pods, replicas, before, ready, reason, said",
    [
        ([], 1, "Unknown", "Unknown", "Deploying", "the pods are starting"),
        ([a_pod("p", ready=False)], 1, "Unknown", "Unknown", "Deploying", "the pods are starting"),
        ([a_pod("p")], 1, "Unknown", "True", "", ""),
        ([a_pod("p")], 2, "Unknown", "True", "", ""),
        # It rests, or its pods come back: it is as good as it was.
        ([], 0, "True", "True", "", ""),
        ([], 1, "True", "True", "", ""),
        ([], 0, "False", "False", "", ""),
        ([waiting("ErrImagePull")], 1, "True", "False", "ErrImagePull", "no suite"),
        ([waiting("CrashLoopBackOff", terminated=ENDED)], 1, "Unknown", "False", "ExitCode3",
         "Container failed with: no such file\nbye"),
        ([waiting("ContainerCreating")], 1, "Unknown", "Unknown", "Deploying", "the pods are starting"),
        ([a_pod("p", "Pending", status={"conditions": NOWHERE})], 1, "Unknown", "False", "Unschedulable",
         "pod p has no node: 0/1 nodes"),
    ],
)  # fmt: skip
def test_a_revision_is_as_ready_as_its_pods(
    pods: list[Pod], replicas: int, before: str, ready: str, reason: str, said: str
) -> None:
    it = a_revision("r", before)
    deployment = Deployment.read({"metadata": metadata("r-deployment"), "spec": {"replicas": replicas}})
    decision = revisions.reconcile(it, seen(it, deployment, related=pods_of(*pods)))
    found = told(decision)

    assert (found["status"], found.get("reason", ""), found.get("message", "")) == (ready, reason, said)
    assert status_of(decision)["desiredReplicas"] == replicas


@pytest.mark.parametrize(
    "notes, count",
    [({}, 1), ({"min-scale": "0"}, 1), ({"min-scale": "3"}, 3), ({"min-scale": "many"}, 1),
     ({"min-scale": "²"}, 1), ({"initial-scale": "2", "min-scale": "0"}, 2)],
)  # fmt: skip
def test_a_revision_begins_with_a_pod_that_shows_whether_it_works(notes: dict[str, str], count: int) -> None:
    annotations = {f"autoscaling.knative.dev/{k}": v for k, v in notes.items()}
    it = a_revision("r").but(metadata=Metadata(name="r", namespace="ml", annotations=annotations))
    [deployment] = [c for c in revisions.reconcile(it, seen(it)).children if isinstance(c, Deployment)]

    assert deployment.name == "r-deployment" and deployment.replicas == count


def test_how_many_pods_there_are_is_left_to_the_autoscaler() -> None:
    it = a_revision("r")
    there = Deployment.read({"metadata": metadata("r-deployment"), "spec": {"replicas": 7}})
    made = revisions.reconcile(it, seen(it, there)).children

    assert [c.replicas for c in made if isinstance(c, Deployment)] == [7]


@pytest.mark.parametrize("ports, port", [([{"containerPort": 9000}], 9000), ([{}], 8080), ([], 8080)])
def test_a_container_and_its_services_know_the_port(ports: list[Any], port: int) -> None:
    spec = {"containers": [{"name": "c", "ports": ports}], "timeoutSeconds": 300, "containerConcurrency": 5}
    it = a_revision("shapes-1", spec=spec)
    pod = revisions.pod_spec(it)
    env = {e["name"]: e["value"] for e in pod["containers"][0]["env"]}

    assert (env["K_SERVICE"], env["K_REVISION"], env["PORT"]) == ("shapes", "shapes-1", str(port))
    assert "timeoutSeconds" not in pod and "containerConcurrency" not in pod
    made = [c for c in revisions.reconcile(it, seen(it)).children if isinstance(c, Service)]
    assert [s.name for s in made] == ["shapes-1", "shapes-1-private"]
    assert {s.spec["ports"][0]["targetPort"] for s in made} == {port}


@pytest.mark.parametrize("said, links", [({}, False), ({"enableServiceLinks": True}, True)])
def test_a_pod_hears_of_all_services_only_where_somebody_asks_for_it(
    said: dict[str, Any], links: bool
) -> None:
    spec = {"containers": [{"name": "c"}], **said}
    assert revisions.pod_spec(a_revision("r", spec=spec))["enableServiceLinks"] is links


def autoscaler(**notes: str) -> dict[str, Any]:
    annotations = {f"autoscaling.knative.dev/{name.replace('_', '-')}": text for name, text in notes.items()}
    made = Revision.read({"metadata": metadata("r", annotations=annotations), "spec": TEMPLATE["spec"]})
    found = [c for c in revisions.reconcile(made, seen(made)).children
             if isinstance(c, HorizontalPodAutoscaler)]  # fmt: skip
    return found[0].spec if found else {}


def test_processors_are_looked_at_by_an_object_of_kubernetes_as_knative_makes_it() -> None:
    spec = autoscaler(**{"class": HPA}, metric="cpu", target="50", window="30s", min_scale="0", max_scale="3")

    assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "r-deployment"}
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 3)
    aim = {"type": "Utilization", "averageUtilization": 50}
    assert spec["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": aim}}]
    assert spec["behavior"]["scaleDown"] == {"stabilizationWindowSeconds": 30}


def test_without_a_target_or_a_limit_kubernetes_own_are_left() -> None:
    spec = autoscaler(**{"class": HPA})

    assert spec["maxReplicas"] == 2**31 - 1 and "metrics" not in spec and "behavior" not in spec


def test_where_requests_decide_there_is_none() -> None:
    assert autoscaler(**{"class": "kpa.autoscaling.knative.dev"}, metric="rps") == {}

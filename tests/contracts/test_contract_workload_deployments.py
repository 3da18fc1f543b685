"""Deployments: from one template to the next, in steps, with words that kubectl reads."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from tests.contracts.workloads import Body, Workloads, images, name_of, owners, template
from tests.kubectl import Kubectl
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.needs_controllers
APP = {"app": "web"}
REVISION = "deployment.kubernetes.io/revision"


@pytest.fixture
def w(rest: Rest, namespace: str) -> Workloads:
    return Workloads(rest, namespace)


def deploy(w: Workloads, replicas: int = 3, **spec: Any) -> Body:
    body = {"replicas": replicas, "selector": {"matchLabels": APP}, "template": template(APP), **spec}
    return w.make("deployments", "web", body)


def up(w: Workloads, replicas: int = 3, **spec: Any) -> list[Body]:
    """A Deployment all of whose pods are ready."""
    deploy(w, replicas, **spec)
    pods = w.pods_are(replicas)
    w.run(*pods)
    w.status_has("deployments", "web", availableReplicas=replicas)
    w.told("deployments", "web", "Progressing", reason="NewReplicaSetAvailable")
    return pods


def image(w: Workloads, tag: str) -> None:
    w.patch("deployments", "web", {"spec": {"template": template(APP, f"example/web:{tag}")}})


def sizes(w: Workloads) -> dict[str, int]:
    """Image tag to size of its set."""
    return {
        images([{"spec": s["spec"]["template"]["spec"]}])[0]: s["spec"]["replicas"]
        for s in w.all("replicasets")
    }


def sizes_are(w: Workloads, **wanted: int) -> None:
    expected = {tag.lstrip("v"): size for tag, size in wanted.items()}
    w.wait(lambda: sizes(w) == expected, f"sizes {expected}", lambda: sizes(w))


def of(w: Workloads, tag: str) -> list[Body]:
    """The pods with an image, once there are as many as their set should have."""

    def found() -> list[Body]:
        return [p for p in w.pods() if images([p]) == [tag]]

    w.wait(lambda: len(found()) == sizes(w).get(tag), f"the pods of {tag}")
    return found()


def test_a_deployment_makes_one_set_and_the_set_makes_the_pods(w: Workloads) -> None:
    deploy(w)
    pods = w.pods_are(3)
    (group,) = w.all("replicasets")
    digest = group["metadata"]["labels"]["pod-template-hash"]
    assert name_of(group) == f"web-{digest}"
    assert owners(group) == [("Deployment", "web", True)]
    assert group["spec"]["selector"]["matchLabels"] == {**APP, "pod-template-hash": digest}
    assert group["metadata"]["annotations"] == {
        REVISION: "1",
        "deployment.kubernetes.io/desired-replicas": "3",
        "deployment.kubernetes.io/max-replicas": "4",
    }
    for pod in pods:
        assert owners(pod) == [("ReplicaSet", name_of(group), True)]
        assert pod["metadata"]["generateName"] == f"web-{digest}-"
        assert pod["metadata"]["labels"] == {**APP, "pod-template-hash": digest}


def test_a_deployment_tells_how_far_it_is(w: Workloads) -> None:
    deploy(w)
    pods = w.pods_are(3)
    status = w.status_has("deployments", "web", replicas=3, unavailableReplicas=3, updatedReplicas=3)
    assert "readyReplicas" not in status and "availableReplicas" not in status
    w.told("deployments", "web", "Available", status="False", reason="MinimumReplicasUnavailable")
    w.run(pods[0])
    w.status_has("deployments", "web", readyReplicas=1, availableReplicas=1, unavailableReplicas=2)
    w.told("deployments", "web", "Progressing", status="True", reason="ReplicaSetUpdated")
    w.run(*pods[1:])
    w.status_has("deployments", "web", readyReplicas=3, unavailableReplicas=None, observedGeneration=1)
    name = name_of(w.all("replicasets")[0])
    w.told("deployments", "web", "Progressing", status="True", reason="NewReplicaSetAvailable",
           message=f'ReplicaSet "{name}" has successfully progressed.')  # fmt: skip
    w.told("deployments", "web", "Available", status="True", reason="MinimumReplicasAvailable",
           message="Deployment has minimum availability.")  # fmt: skip
    assert w.heard("web", "ScalingReplicaSet") == [f"Scaled up replica set {name} from 0 to 3"]


def test_a_rolling_update_goes_one_by_one(w: Workloads) -> None:
    up(w, 3)
    image(w, "2")
    sizes_are(w, v1=3, v2=1)
    w.run(*of(w, "2"))
    sizes_are(w, v1=2, v2=2)
    w.run(*of(w, "2"))
    sizes_are(w, v1=1, v2=3)
    w.run(*of(w, "2"))
    sizes_are(w, v1=0, v2=3)
    w.status_has(
        "deployments", "web", replicas=3, updatedReplicas=3, availableReplicas=3, observedGeneration=2
    )
    assert w.get("deployments", "web")["metadata"]["annotations"][REVISION] == "2"
    told = w.heard("web", "ScalingReplicaSet")
    new = next(name_of(s) for s in w.all("replicasets") if s["metadata"]["annotations"][REVISION] == "2")
    for step in ("from 0 to 1", "from 1 to 2", "from 2 to 3"):
        assert f"Scaled up replica set {new} {step}" in told


@pytest.mark.parametrize(
    "replicas, surge, unavailable, new, old",
    [
        (4, 2, 0, 2, 4),
        (4, 0, 2, 2, 2),
        (4, "50%", "0%", 2, 4),
        (3, "25%", "34%", 2, 2),  # a surge is rounded up, what may be missing is rounded down
        (2, 0, "25%", 1, 1),  # neither would never move
        (3, "100%", "100%", 3, 0),
    ],
)
def test_the_first_step_is_as_large_as_surge_and_unavailability_allow(
    w: Workloads, replicas: int, surge: Any, unavailable: Any, new: int, old: int
) -> None:
    bounds = {"maxSurge": surge, "maxUnavailable": unavailable}
    if (surge, unavailable) == (0, "25%"):
        bounds["maxUnavailable"] = "10%"
    up(w, replicas, strategy={"type": "RollingUpdate", "rollingUpdate": bounds})
    image(w, "2")
    sizes_are(w, v1=old, v2=new)


def test_old_pods_that_do_not_work_go_first(w: Workloads) -> None:
    pods = up(w, 3, strategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}})
    w.run(*pods[:2], ready=False)
    w.status_has("deployments", "web", availableReplicas=1)
    image(w, "2")
    sizes_are(w, v1=2, v2=2)
    assert name_of(pods[2]) in [name_of(p) for p in of(w, "1")]  # one that did not work made room


def test_recreate_waits_until_everything_old_is_gone(w: Workloads) -> None:
    deploy(w, 2, strategy={"type": "Recreate"})
    pods = w.pods_are(2)
    w.patch("pods", name_of(pods[0]), {"metadata": {"finalizers": ["example.org/wait"]}})
    w.run(*pods)
    w.status_has("deployments", "web", availableReplicas=2)
    image(w, "2")
    sizes_are(w, v1=0)
    w.wait(lambda: w.names("pods") == [name_of(pods[0])], "one old pod left")
    w.status_has("deployments", "web", replicas=None)
    assert sizes(w) == {"1": 0}
    w.patch("pods", name_of(pods[0]), {"metadata": {"finalizers": None}})
    sizes_are(w, v1=0, v2=2)


def test_a_template_that_comes_back_gets_its_old_set_and_a_new_number(w: Workloads) -> None:
    up(w, 1)
    image(w, "2")
    sizes_are(w, v1=1, v2=1)
    w.run(*of(w, "2"))
    sizes_are(w, v1=0, v2=1)
    w.status_has("deployments", "web", replicas=1, availableReplicas=1, updatedReplicas=1)
    image(w, "1")
    sizes_are(w, v1=1, v2=1)
    w.run(*of(w, "1"))
    sizes_are(w, v1=1, v2=0)
    marks = {
        images([{"spec": s["spec"]["template"]["spec"]}])[0]: s["metadata"]["annotations"]
        for s in w.all("replicasets")
    }
    assert marks["1"][REVISION] == "3" and marks["1"]["deployment.kubernetes.io/revision-history"] == "1"
    assert marks["2"][REVISION] == "2"
    w.wait(lambda: w.get("deployments", "web")["metadata"]["annotations"][REVISION] == "3", "revision 3")


def test_scaling_changes_the_set_and_not_its_revision(w: Workloads) -> None:
    up(w, 1)
    w.patch("deployments", "web", {"spec": {"replicas": 3}})
    sizes_are(w, v1=3)
    w.pods_are(3)
    (group,) = w.all("replicasets")
    assert group["metadata"]["annotations"]["deployment.kubernetes.io/desired-replicas"] == "3"
    w.patch("deployments", "web", {"spec": {"replicas": 0}})
    sizes_are(w, v1=0)
    w.pods_are(0)
    w.status_has("deployments", "web", replicas=None, observedGeneration=3)
    told = w.heard("web", "ScalingReplicaSet")
    assert f"Scaled down replica set {name_of(group)} from 3 to 0" in told


def test_scaling_in_the_middle_of_a_roll_out_is_shared_out(w: Workloads) -> None:
    up(w, 4, strategy={"rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}})
    image(w, "2")
    sizes_are(w, v1=4, v2=2)
    w.patch("deployments", "web", {"spec": {"replicas": 10}})
    sizes_are(w, v1=8, v2=4)


def test_a_paused_deployment_stands_still_but_scales(w: Workloads) -> None:
    up(w, 1)
    w.patch("deployments", "web", {"spec": {"paused": True}})
    w.told("deployments", "web", "Progressing", status="Unknown", reason="DeploymentPaused",
           message="Deployment is paused")  # fmt: skip
    image(w, "2")
    w.patch("deployments", "web", {"spec": {"replicas": 2}})
    sizes_are(w, v1=2)
    w.settled("deployments", "web")
    assert sizes(w) == {"1": 2}
    w.patch("deployments", "web", {"spec": {"paused": False}})
    w.wait(lambda: "2" in sizes(w), "the new set", lambda: sizes(w))
    w.told("deployments", "web", "Progressing", status="True")


def test_a_roll_out_that_stands_still_too_long_has_failed(w: Workloads) -> None:
    deploy(w, 1, progressDeadlineSeconds=2)
    name = name_of(w.pods_are(1)[0])
    group = name.rpartition("-")[0]
    w.told("deployments", "web", "Progressing", status="False", reason="ProgressDeadlineExceeded",
           message=f'ReplicaSet "{group}" has timed out progressing.')  # fmt: skip
    w.run(name)
    w.told("deployments", "web", "Progressing", status="True", reason="NewReplicaSetAvailable")


def test_a_pod_counts_as_available_after_its_time_only(w: Workloads) -> None:
    deploy(w, 1, minReadySeconds=2)
    w.run(*w.pods_are(1))
    w.status_has("deployments", "web", readyReplicas=1)
    assert w.all("replicasets")[0]["spec"]["minReadySeconds"] == 2
    w.status_has("deployments", "web", availableReplicas=1)
    w.patch("deployments", "web", {"spec": {"minReadySeconds": 5}})
    w.wait(lambda: w.all("replicasets")[0]["spec"].get("minReadySeconds") == 5, "the set to know")


def only(w: Workloads, tag: str) -> bool:
    w.run_all()
    return images(w.pods()) == [tag]


def test_history_is_kept_as_long_as_it_may(w: Workloads) -> None:
    up(w, 1, revisionHistoryLimit=1)
    for tag in ("2", "3"):
        image(w, tag)
        w.wait(partial(only, w, tag), f"pods of {tag} only")
    sizes_are(w, v2=0, v3=1)


def test_annotations_of_a_deployment_reach_its_set(w: Workloads) -> None:
    up(w, 1)
    w.patch("deployments", "web", {"metadata": {"annotations": {"kubernetes.io/change-cause": "because"}}})
    w.wait(
        lambda: (
            w.all("replicasets")[0]["metadata"]["annotations"].get("kubernetes.io/change-cause") == "because"
        ),
        "the annotation of the set",
    )


def test_a_deployment_adopts_the_set_it_selects(w: Workloads) -> None:
    up(w, 1)
    uid = w.all("replicasets")[0]["metadata"]["uid"]
    w.delete("deployments", "web", propagationPolicy="Orphan")
    w.wait(lambda: not w.all("deployments"), "the end of the deployment")
    w.wait(lambda: owners(w.all("replicasets")[0]) == [], "an orphan")
    deploy(w, 2)
    w.wait(lambda: owners(w.all("replicasets")[0]) == [("Deployment", "web", True)], "adoption")
    w.pods_are(2)
    assert [s["metadata"]["uid"] for s in w.all("replicasets")] == [uid]


def test_what_a_quota_refuses_is_told_by_set_and_deployment(w: Workloads) -> None:
    w.make("resourcequotas", "few", {"hard": {"pods": "1"}})
    w.wait(lambda: w.status("resourcequotas", "few").get("hard"), "the quota to count")
    deploy(w, 2)
    found = w.told("deployments", "web", "ReplicaFailure", status="True", reason="FailedCreate")
    assert "exceeded quota: few" in found["message"]
    name = name_of(w.all("replicasets")[0])
    assert "Error creating: pods " in w.heard(name, "FailedCreate")[0]
    w.rest.delete(w.path("resourcequotas", "few")).expect(200)
    w.pods_are(2)
    w.wait(lambda: w.condition("deployments", "web", "ReplicaFailure") is None, "no failure any more")


def test_kubectl_rolls_out_back_and_again(w: Workloads, kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=example/web:1")
    kubectl("patch", "deployment", "web", "-p", '{"spec":{"template":{"spec":{"schedulerName":"nobody"}}}}')

    def rolled(tag: str) -> str:
        def moved() -> bool:
            w.run_all()
            status = w.settled("deployments", "web")["status"]
            return status.get("availableReplicas") == status.get("replicas") == 1 and images(w.pods()) == [
                tag
            ]

        w.wait(moved, f"pods of {tag} only", lambda: w.status("deployments", "web"))
        return kubectl("rollout", "status", "deployment/web", "--timeout=20s")

    assert 'deployment "web" successfully rolled out' in rolled("1")
    kubectl("set", "image", "deployment/web", "web=example/web:2")
    assert 'deployment "web" successfully rolled out' in rolled("2")
    assert [
        line.split()[0] for line in kubectl("rollout", "history", "deployment/web").splitlines()[2:] if line
    ] == ["1", "2", "3"]
    assert "example/web:2" in kubectl("rollout", "history", "deployment/web", "--revision=3")
    kubectl("rollout", "undo", "deployment/web")
    rolled("1")
    kubectl("rollout", "undo", "deployment/web", "--to-revision=3")
    rolled("2")
    uid = w.pods()[0]["metadata"]["uid"]
    kubectl("rollout", "restart", "deployment/web")
    w.wait(lambda: len(w.pods()) == 2, "a second pod")
    rolled("2")
    assert w.pods()[0]["metadata"]["uid"] != uid
    kubectl("rollout", "pause", "deployment/web")
    kubectl("set", "image", "deployment/web", "web=example/web:3")
    kubectl("rollout", "resume", "deployment/web")
    rolled("3")
    kubectl("scale", "deployment/web", "--replicas=2")
    w.pods_are(2)
    w.run_all()
    kubectl("wait", "deployment/web", "--for=condition=Available", "--timeout=20s")
    assert "2/2" in kubectl("get", "deployment", "web")
    assert "ScalingReplicaSet" in kubectl("describe", "deployment", "web")

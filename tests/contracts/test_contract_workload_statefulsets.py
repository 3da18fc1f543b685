"""StatefulSets: pods with numbers, in order; revisions; claims that outlive their pods."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.workloads import Body, Workloads, images, name_of, owners, template
from tests.kubectl import Kubectl
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.needs_controllers
APP = {"app": "db"}
LABEL = "controller-revision-hash"


@pytest.fixture
def w(rest: Rest, namespace: str) -> Workloads:
    return Workloads(rest, namespace)


def group(w: Workloads, replicas: int = 2, **spec: Any) -> Body:
    body = {
        "replicas": replicas,
        "serviceName": "db",
        "selector": {"matchLabels": APP},
        "template": template(APP),
        **spec,
    }
    return w.make("statefulsets", "db", body)


def pods_are(w: Workloads, *names: str) -> list[Body]:
    w.wait(lambda: [name_of(p) for p in w.pods()] == list(names), f"pods {names}")
    return w.pods()


def up(w: Workloads, replicas: int = 2, **spec: Any) -> None:
    """A set all of whose pods are ready."""
    group(w, replicas, podManagementPolicy="Parallel", **spec)
    w.run(*w.pods_are(replicas))
    w.status_has("statefulsets", "db", readyReplicas=replicas, updatedReplicas=replicas)


def image(w: Workloads, tag: str) -> None:
    w.patch("statefulsets", "db", {"spec": {"template": template(APP, f"example/web:{tag}")}})


def tags(w: Workloads) -> dict[str, str]:
    return {name_of(p): images([p])[0] for p in w.pods()}


def tags_are(w: Workloads, *wanted: str) -> None:
    expected = {f"db-{i}": tag for i, tag in enumerate(wanted) if tag}
    w.wait(lambda: tags(w) == expected, f"images {expected}", lambda: tags(w))


def scale(w: Workloads, replicas: int) -> None:
    w.patch("statefulsets", "db", {"spec": {"replicas": replicas}})


def test_a_pod_has_a_number_and_all_that_follows_from_it(w: Workloads) -> None:
    group(w, 1)
    (pod,) = pods_are(w, "db-0")
    revision = w.status_has("statefulsets", "db", replicas=1)["updateRevision"]
    assert pod["metadata"]["labels"] == {
        **APP,
        "apps.kubernetes.io/pod-index": "0",
        "statefulset.kubernetes.io/pod-name": "db-0",
        LABEL: revision,
    }
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("db-0", "db")
    assert owners(pod) == [("StatefulSet", "db", True)]
    assert pod["metadata"]["generateName"] == "db-"
    assert w.heard("db", "SuccessfulCreate") == ["create Pod db-0 in StatefulSet db successful"]


def test_pods_are_made_one_after_the_other(w: Workloads) -> None:
    group(w, 3)
    w.run(*pods_are(w, "db-0"))
    w.run(*pods_are(w, "db-0", "db-1")[1:])
    w.run(*pods_are(w, "db-0", "db-1", "db-2")[2:])
    status = w.status_has("statefulsets", "db", readyReplicas=3, currentReplicas=3, updatedReplicas=3)
    assert status["currentRevision"] == status["updateRevision"]
    assert (status["replicas"], status["availableReplicas"], status["collisionCount"]) == (3, 3, 0)


def test_pods_in_parallel_do_not_wait(w: Workloads) -> None:
    group(w, 3, podManagementPolicy="Parallel")
    pods_are(w, "db-0", "db-1", "db-2")
    status = w.status_has("statefulsets", "db", replicas=3, availableReplicas=0)
    assert "readyReplicas" not in status


def test_numbers_may_begin_elsewhere(w: Workloads) -> None:
    group(w, 2, ordinals={"start": 5}, podManagementPolicy="Parallel")
    assert pods_are(w, "db-5", "db-6")[0]["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "5"


def test_a_smaller_set_loses_its_highest_pods_first(w: Workloads) -> None:
    group(w, 3)
    for count in (1, 2, 3):
        w.run(*w.pods_are(count)[count - 1 :])
    w.patch("pods", "db-2", {"metadata": {"finalizers": ["example.org/wait"]}})
    w.status_has("statefulsets", "db", readyReplicas=3)
    scale(w, 1)
    w.wait(lambda: "deletionTimestamp" in w.get("pods", "db-2")["metadata"], "the end of db-2")
    assert w.heard("db", "SuccessfulDelete") == ["delete Pod db-2 in StatefulSet db successful"]
    assert [name_of(p) for p in w.pods()] == ["db-0", "db-1"]
    w.patch("pods", "db-2", {"metadata": {"finalizers": None}})
    pods_are(w, "db-0")
    w.status_has("statefulsets", "db", replicas=1, currentReplicas=1)


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_pod_that_ended_is_made_again_under_its_name(w: Workloads, phase: str) -> None:
    up(w, 2)
    uid = w.get("pods", "db-0")["metadata"]["uid"]
    w.end("db-0", phase=phase)

    def again() -> bool:
        answer = w.rest.get(w.path("pods", "db-0"))
        return answer.status == 200 and answer.body["metadata"]["uid"] != uid

    w.wait(again, "another db-0")


def test_a_pod_that_was_deleted_comes_back(w: Workloads) -> None:
    up(w, 2)
    uid = w.get("pods", "db-1")["metadata"]["uid"]
    w.delete("pods", "db-1")
    w.wait(lambda: uid not in [p["metadata"]["uid"] for p in w.pods()] and len(w.pods()) == 2, "another db-1")
    w.status_has("statefulsets", "db", replicas=2, readyReplicas=1)


def test_an_update_goes_downwards_and_waits_for_each(w: Workloads) -> None:
    up(w, 3)
    first = w.status("statefulsets", "db")["currentRevision"]
    image(w, "2")
    tags_are(w, "1", "1", "2")
    status = w.status_has("statefulsets", "db", updatedReplicas=1, currentReplicas=2)
    assert status["currentRevision"] == first != status["updateRevision"]
    w.run("db-2")
    tags_are(w, "1", "2", "2")
    w.run("db-1")
    tags_are(w, "2", "2", "2")
    w.run("db-0")
    status = w.status_has("statefulsets", "db", updatedReplicas=3, currentReplicas=3, readyReplicas=3)
    assert status["currentRevision"] == status["updateRevision"] != first


def test_below_the_partition_everything_stays(w: Workloads) -> None:
    up(w, 3, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}})
    image(w, "2")
    tags_are(w, "1", "1", "2")
    w.run("db-2")
    w.status_has("statefulsets", "db", updatedReplicas=1, readyReplicas=3)
    uid = w.get("pods", "db-0")["metadata"]["uid"]
    w.delete("pods", "db-0")
    w.wait(lambda: len(w.pods()) == 3 and w.get("pods", "db-0")["metadata"]["uid"] != uid, "another db-0")
    assert tags(w) == {"db-0": "1", "db-1": "1", "db-2": "2"}
    w.run("db-0")
    w.patch("statefulsets", "db", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}}}})
    tags_are(w, "1", "2", "2")


def test_on_delete_nothing_moves_by_itself(w: Workloads) -> None:
    up(w, 2, updateStrategy={"type": "OnDelete"})
    image(w, "2")
    w.wait(lambda: len(w.all("controllerrevisions")) == 2, "two revisions")
    w.settled("statefulsets", "db")
    assert tags(w) == {"db-0": "1", "db-1": "1"}
    w.delete("pods", "db-0")
    tags_are(w, "2", "1")


def test_a_revision_keeps_the_template(w: Workloads) -> None:
    group(w, 1)
    pods_are(w, "db-0")
    (revision,) = w.all("controllerrevisions")
    name = w.status_has("statefulsets", "db", replicas=1)["updateRevision"]
    assert name_of(revision) == name and revision["revision"] == 1
    assert owners(revision) == [("StatefulSet", "db", True)]
    assert revision["metadata"]["labels"] == {
        **APP,
        "controller.kubernetes.io/hash": name.removeprefix("db-"),
    }
    kept = revision["data"]["spec"]["template"]
    assert kept["$patch"] == "replace" and kept["spec"]["containers"][0]["image"] == "example/web:1"


def test_a_template_that_comes_back_is_the_newest_revision(w: Workloads) -> None:
    up(w, 1)
    image(w, "2")
    tags_are(w, "2")
    w.run("db-0")
    image(w, "1")
    tags_are(w, "1")
    w.wait(lambda: sorted(r["revision"] for r in w.all("controllerrevisions")) == [2, 3], "revisions 2 and 3")


def test_revisions_are_forgotten(w: Workloads) -> None:
    up(w, 1, revisionHistoryLimit=0)
    image(w, "2")
    tags_are(w, "2")
    w.run("db-0")
    w.status_has("statefulsets", "db", updatedReplicas=1, readyReplicas=1)
    w.wait(lambda: [r["revision"] for r in w.all("controllerrevisions")] == [2], "revision 2 alone")


def claims(**policy: str) -> dict[str, Any]:
    request = {"accessModes": ["ReadWriteOnce"], "storageClassName": "nobody",
               "resources": {"requests": {"storage": "1Mi"}}}  # fmt: skip
    made: dict[str, Any] = {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": request}]}
    return {**made, **({"persistentVolumeClaimRetentionPolicy": policy} if policy else {})}


def test_every_pod_has_its_claim(w: Workloads) -> None:
    up(w, 2, **claims())
    found = {name_of(c): c for c in w.all("persistentvolumeclaims")}
    assert sorted(found) == ["data-db-0", "data-db-1"]
    assert owners(found["data-db-0"]) == [] and found["data-db-0"]["metadata"]["labels"] == APP
    volume = w.get("pods", "db-1")["spec"]["volumes"][0]
    assert (volume["name"], volume["persistentVolumeClaim"]["claimName"]) == ("data", "data-db-1")
    assert "create Claim data-db-0 Pod db-0 in StatefulSet db success" in w.heard("db", "SuccessfulCreate")


def test_claims_outlive_pods_and_set(w: Workloads) -> None:
    up(w, 2, **claims())
    uid = w.get("persistentvolumeclaims", "data-db-1")["metadata"]["uid"]
    scale(w, 1)
    pods_are(w, "db-0")
    scale(w, 2)
    pods_are(w, "db-0", "db-1")
    w.delete("statefulsets", "db", propagationPolicy="Background")
    w.wait(lambda: not w.all("pods"), "no pods", limit=60)
    assert w.get("persistentvolumeclaims", "data-db-1")["metadata"]["uid"] == uid


def test_claims_may_go_when_the_set_shrinks(w: Workloads) -> None:
    up(w, 2, **claims(whenScaled="Delete", whenDeleted="Retain"))
    # What protects a claim in use needs nodes: here it is told that nobody does.
    scale(w, 1)
    pods_are(w, "db-0")

    def gone() -> bool:
        path = w.path("persistentvolumeclaims", "data-db-1")
        answer = w.rest.get(path)
        return answer.status == 404 or "deletionTimestamp" in answer.body["metadata"]

    w.wait(gone, "the claim of db-1 to go", limit=60)
    assert "deletionTimestamp" not in w.get("persistentvolumeclaims", "data-db-0")["metadata"]


def test_claims_may_go_with_the_set(w: Workloads) -> None:
    up(w, 1, **claims(whenDeleted="Delete", whenScaled="Retain"))

    def owned() -> bool:
        return owners(w.get("persistentvolumeclaims", "data-db-0")) == [("StatefulSet", "db", True)]

    w.wait(owned, "the set to own the claim", lambda: w.get("persistentvolumeclaims", "data-db-0"))


def test_kubectl_follows_and_takes_back_an_update(w: Workloads, kubectl: Kubectl) -> None:
    up(w, 1)
    kubectl("set", "image", "statefulset/db", "main=example/web:2")
    tags_are(w, "2")
    w.run("db-0")
    assert "roll out complete" in kubectl("rollout", "status", "statefulset/db", "--timeout=20s")
    history = kubectl("rollout", "history", "statefulset/db").splitlines()
    assert [line.split()[0] for line in history[2:] if line] == ["1", "2"]
    kubectl("rollout", "undo", "statefulset/db")
    tags_are(w, "1")
    w.run("db-0")
    kubectl("rollout", "status", "statefulset/db", "--timeout=20s")
    kubectl("scale", "statefulset/db", "--replicas=2")
    pods_are(w, "db-0", "db-1")

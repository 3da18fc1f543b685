"""kubectl that ends things and waits for them: cascades, finalizers and grace; wait; events."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from tests.contracts.objects import config_map, core, pod
from tests.kubectl import Kubectl
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

pytestmark = pytest.mark.kubectl


@pytest.fixture
def family(kubectl: Kubectl) -> Kubectl:
    """An owner and what it owns."""
    kubectl("create", "-f", "-", stdin=config_map("owner"))
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": kubectl.json("get", "cm", "owner")["metadata"]["uid"],
        "blockOwnerDeletion": True,
    }
    child: dict[str, Any] = config_map("child")
    child["metadata"]["ownerReferences"] = [reference]
    kubectl("create", "-f", "-", stdin=child)
    return kubectl


@pytest.mark.needs_controllers
def test_in_the_background_the_child_follows(family: Kubectl) -> None:
    assert 'configmap "owner" deleted' in family("delete", "cm", "owner")
    family("wait", "cm/child", "--for=delete", "--timeout=20s")


@pytest.mark.needs_controllers
def test_in_the_foreground_the_child_goes_first(family: Kubectl) -> None:
    family("delete", "cm", "owner", "--cascade=foreground", "--timeout=20s")
    assert family("get", "cm", "owner", "child", "--ignore-not-found") == ""


@pytest.mark.needs_controllers
def test_an_orphan_stays(family: Kubectl) -> None:
    family("delete", "cm", "owner", "--cascade=orphan", "--timeout=20s")
    assert family("get", "cm", "child", "-o", "jsonpath={.metadata.ownerReferences}") == ""


def test_a_finalizer_holds_an_object_and_whoever_waits(kubectl: Kubectl, rest: Rest) -> None:
    held: dict[str, Any] = config_map("held")
    held["metadata"]["finalizers"] = ["example.org/hold"]
    kubectl("create", "-f", "-", stdin=held)
    done = kubectl.run("delete", "cm", "held", "--timeout=1s")
    assert done.returncode == 1
    assert "timed out waiting for the condition on configmaps/held" in done.stderr
    assert kubectl("get", "cm", "held", "-o", "jsonpath={.metadata.finalizers[0]}") == "example.org/hold"
    path = core(kubectl.namespace, "configmaps", "held")
    rest.merge(path, {"metadata": {"finalizers": None}}).expect(200)
    assert kubectl("wait", "cm/held", "--for=delete", "--timeout=20s") is not None
    assert kubectl.run("get", "cm", "held").returncode == 1


@pytest.mark.parametrize(
    "words, left",
    [
        (("--all",), ""),
        (("-l", "app=x"), "c"),
        (("--field-selector=metadata.name=a",), "b c"),
        (("a", "c"), "b"),
        (("a", "--now"), "b c"),
        (("a", "--grace-period=0", "--force"), "b c"),
        (("nope", "--ignore-not-found"), "a b c"),
        (("--all", "--dry-run=server"), "a b c"),
        (("--all", "--dry-run=client"), "a b c"),
    ],
)
def test_delete(kubectl: Kubectl, words: tuple[str, ...], left: str) -> None:
    made = [pod("a", {"app": "x"}), pod("b", {"app": "x"}), pod("c")]
    kubectl("create", "-f", "-", stdin=yaml.safe_dump_all(made))
    kubectl("delete", "pods", *words)
    found = kubectl("get", "pods", "-o", "name").split()
    assert [line.removeprefix("pod/") for line in found] == left.split()


def test_delete_what_a_file_names(kubectl: Kubectl) -> None:
    text = yaml.safe_dump_all([config_map("a"), pod("b")])
    kubectl("create", "-f", "-", stdin=text)
    assert kubectl("delete", "-f", "-", stdin=text).count(" deleted") == 2
    done = kubectl.run("delete", "-f", "-", stdin=text)
    assert (done.returncode, done.stderr.count("(NotFound)")) == (1, 2)
    assert kubectl("delete", "-f", "-", "--ignore-not-found", stdin=text) == ""


@pytest.mark.needs_controllers
def test_a_namespace_goes_with_all_it_holds(kubectl: Kubectl) -> None:
    name = f"{kubectl.namespace}-gone"
    kubectl("create", "namespace", name)
    until(
        lambda: kubectl.run("create", "cm", "x", f"--namespace={name}").returncode == 0, what="a place for x"
    )
    kubectl("delete", "namespace", name, "--timeout=40s")
    assert kubectl("get", "namespace", name, "--ignore-not-found") == ""


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_namespaces_are_there_for_ever(kubectl: Kubectl, name: str) -> None:
    done = kubectl.run("delete", "namespace", name, "--wait=false")
    assert done.returncode == 1
    assert done.stderr.endswith(
        f'(Forbidden): namespaces "{name}" is forbidden: this namespace may not be deleted\n'
    )


def say(rest: Rest, namespace: str, **status: Any) -> None:
    rest.merge(f"{core(namespace, 'pods', 'x')}/status", {"status": status}).expect(200)


@pytest.mark.parametrize(
    "wanted", ["condition=Ready", "condition=ready=true", "jsonpath={.status.phase}=Running", "create"]
)
def test_wait_for_what_is_so(kubectl: Kubectl, rest: Rest, wanted: str) -> None:
    kubectl("create", "-f", "-", stdin=pod("x"))
    say(rest, kubectl.namespace, phase="Running", conditions=[{"type": "Ready", "status": "True"}])
    assert kubectl("wait", "pod/x", f"--for={wanted}", "--timeout=20s") == "pod/x condition met\n"


@pytest.mark.parametrize("wanted", ["condition=Ready", "jsonpath={.status.phase}=Running", "delete"])
def test_a_wait_in_vain_says_for_what(kubectl: Kubectl, wanted: str) -> None:
    kubectl("create", "-f", "-", stdin=pod("x"))
    done = kubectl.run("wait", "pod/x", f"--for={wanted}", "--timeout=1s")
    assert (done.returncode, "timed out waiting for the condition on pods/x" in done.stderr) == (1, True)


def test_events_are_shown_with_what_they_tell_of(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=config_map("x"))
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "namespace": kubectl.namespace}
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "x.1"},
        "involvedObject": {**about, "uid": kubectl.json("get", "cm", "x")["metadata"]["uid"]},
        "reason": "Happened",
        "message": "it happened",
        "type": "Warning",
        "count": 3,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "source": {"component": "tests"},
    }
    kubectl("create", "-f", "-", stdin=event)
    header, row = kubectl("events", "--for=cm/x").splitlines()
    assert header.split()[:3] == ["LAST", "SEEN", "TYPE"]
    assert row.split()[-5:] == ["Warning", "Happened", "ConfigMap/x", "it", "happened"]
    assert kubectl("events", "--types=Warning", "--no-headers").count("Happened") == 1
    assert kubectl.json("events", "--for=cm/x")["items"][0]["count"] == 3
    rows = kubectl("get", "events", "--field-selector=involvedObject.name=x,type=Warning", "--no-headers")
    assert rows.split()[-4:] == ["Happened", "configmap/x", "it", "happened"]
    assert "it happened" in kubectl("describe", "cm", "x")

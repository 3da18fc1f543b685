"""What a container sees: variables, files of every kind of volume, and how they change while it runs."""

from __future__ import annotations

import pytest
from tests.contracts import node_cases
from tests.contracts.node_cases import Body
from tests.contracts.node_pods import NodePods

CASES = node_cases.read("node_sights.yaml")
SHOWS = 'while :; do test "$(cat /conf/a)" = 1 || break; sleep 0.1; done; cat /conf/a /conf/new /once/a'
"""Waits for a change of one file and tells all; a file that stands for a part of a volume stays as it was."""
FOLLOWS = {
    "volumes": [{"name": "changing", "configMap": {"name": "changing"}}],
    "containers": [
        {
            "command": ["sh", "-c", SHOWS],
            "volumeMounts": [
                {"name": "changing", "mountPath": "/conf"},
                {"name": "changing", "mountPath": "/once/a", "subPath": "a"},
            ],
        }
    ],
}
LACKS = {
    "volumes": [{"name": "host", "hostPath": {"path": "/no/such/folder", "type": "Directory"}}],
    "containers": [{"command": ["true"], "volumeMounts": [{"name": "host", "mountPath": "/host"}]}],
}
WAITS = {
    "volumes": [{"name": "later", "secret": {"secretName": "later"}}],
    "containers": [{"command": ["cat", "/s/key"], "volumeMounts": [{"name": "later", "mountPath": "/s"}]}],
}


@pytest.fixture(scope="module")
def seeing(pods: NodePods, level: str) -> NodePods:
    """All of them begin at once, those of the tests below as well."""
    changing = {"metadata": {"name": "changing"}, "data": {"a": "1"}}
    pods.rest.post(pods.path("configmaps"), changing).expect(201)
    for name, spec in (("follows", FOLLOWS), ("lacks", LACKS), ("waits", WAITS)):
        pods.make(name, spec)
    pods.make_all({name: case for name, case in CASES.items() if level not in case.get("not_at", ())})
    return pods


@pytest.mark.parametrize("name", CASES)
def test_a_container_sees(name: str, level: str, seeing: NodePods) -> None:
    case: Body = CASES[name]
    if level in case.get("not_at", ()):
        pytest.skip(f"level {level} cannot hold it, and says so")

    seeing.wait(name, "Succeeded")

    assert seeing.log(name) == case["log"]


def test_files_of_a_running_container_follow_their_config_map(seeing: NodePods, level: str) -> None:
    seeing.wait("follows", "main runs")

    seeing.rest.merge(seeing.path("configmaps", "changing"), {"data": {"a": "2", "new": "3"}}).expect(200)

    seeing.wait("follows", "Succeeded")
    # Where paths are links, a part of a volume leads to the newest files, too.
    assert seeing.log("follows") == ("232" if level == "plain" else "231")


def says(seeing: NodePods, name: str, message: str) -> None:
    """Waits until a pod tells why it has no volumes; a busy kubelet may tell of its own haste before."""

    def told() -> bool:
        heard = seeing.objects.heard(name, "FailedMount", 60)
        return message in (one.partition("\n")[0] for one in heard)

    seeing.until(told, f"{name}: {message}", name)


def test_a_pod_whose_volume_cannot_be_had_waits_and_says_why(seeing: NodePods) -> None:
    wanted = 'MountVolume.SetUp failed for volume "host" : hostPath type check failed: '
    says(seeing, "lacks", wanted + "/no/such/folder is not a directory")
    seeing.wait("lacks", "ContainerCreating")


def test_a_pod_waits_for_a_secret_that_comes_later(seeing: NodePods) -> None:
    says(seeing, "waits", 'MountVolume.SetUp failed for volume "later" : secret "later" not found')
    seeing.wait("waits", "ContainerCreating")

    later = {"metadata": {"name": "later"}, "stringData": {"key": "came"}}
    seeing.rest.post(seeing.path("secrets"), later).expect(201)

    seeing.wait("waits", "Succeeded")
    assert seeing.log("waits") == "came"

"""Pods that lack something wait, say for what in a kubelet's words, and go on by themselves when it is there.

All pods of a level share one node: what one lacks must not keep another from running.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Iterator
from itertools import count
from typing import Any

import pytest
import pytest_asyncio
from tests.node.isolation_levels import levels_or_skip
from tests.node.pod_yard import Yard

from paddlecloud.api.core import ConfigMap, Secret

pytestmark = pytest.mark.asyncio(loop_scope="module")
NUMBERS: Iterator[int] = count()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["root", "plain"])
async def yard(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Yard]:
    it = Yard(tmp_path_factory.mktemp("bad"), levels_or_skip(request.param))
    it.shelf.others[ConfigMap, "there"] = ConfigMap.read({"metadata": {"name": "there"}, "data": {"a": "1"}})
    yield it
    await it.close()


@pytest.fixture
def name() -> str:
    return f"p{next(NUMBERS)}"


def waiting(yard: Yard, name: str) -> dict[str, str]:
    for status in yard.now(name).status.get("containerStatuses") or ():
        return dict(status["state"].get("waiting") or {})
    return {}


def told(yard: Yard, name: str, reason: str) -> list[str]:
    return [e.message for e in yard.shelf.events if e.involved_object["name"] == name and e.reason == reason]


def mounted(volume: dict[str, Any], **mount: Any) -> dict[str, Any]:
    """A pod with one volume, mounted at /v."""
    return {
        "volumes": [{"name": "v", **volume}],
        "container": {"volumeMounts": [{"name": "v", "mountPath": "/v", **mount}]},
    }


def variable(**source: Any) -> dict[str, Any]:
    return {"container": {"env": [{"name": "A", "valueFrom": source}]}}


def imported(**source: Any) -> dict[str, Any]:
    return {"container": {"envFrom": [source]}}


def imaged(image: str, **more: Any) -> dict[str, Any]:
    return {"container": {"image": image, **more}}


SETUP = 'MountVolume.SetUp failed for volume "v" : '
NOBODY = "127.0.0.1:1/nobody/has"


@pytest.mark.parametrize(
    "spec, reason, event, words",
    [
        (imaged(NOBODY), "ErrImagePull", "Failed", f'Failed to pull image "{NOBODY}": '),
        (imaged(NOBODY, imagePullPolicy="Never"), "ErrImageNeverPull", "ErrImageNeverPull",
         f'Container image "{NOBODY}" is not present with pull policy of Never'),
        (imaged("Upper/Case"), "InvalidImageName", "InspectFailed",
         'Failed to apply default image tag "Upper/Case": couldn\'t parse image name "Upper/Case"'),
        (variable(secretKeyRef={"name": "s", "key": "k"}), "CreateContainerConfigError", "Failed",
         'secret "s" not found'),
        (variable(configMapKeyRef={"name": "c", "key": "k"}), "CreateContainerConfigError", "Failed",
         'configmap "c" not found'),
        (variable(configMapKeyRef={"name": "there", "key": "k"}), "CreateContainerConfigError", "Failed",
         "couldn't find key k in ConfigMap d/there"),
        (imported(secretRef={"name": "s"}), "CreateContainerConfigError", "Failed", 'secret "s" not found'),
        (imported(configMapRef={"name": "c"}), "CreateContainerConfigError", "Failed",
         'configmap "c" not found'),
        (mounted({"secret": {"secretName": "s"}}), "ContainerCreating", "FailedMount",
         f'{SETUP}secret "s" not found'),
        (mounted({"configMap": {"name": "c"}}), "ContainerCreating", "FailedMount",
         f'{SETUP}configmap "c" not found'),
        (mounted({"configMap": {"name": "there", "items": [{"key": "k", "path": "k"}]}}),
         "ContainerCreating", "FailedMount", f"{SETUP}references non-existent config key: k"),
        (mounted({"persistentVolumeClaim": {"claimName": "c"}}), "ContainerCreating", "FailedMount",
         'persistentvolumeclaims "c" not found'),
        (mounted({"hostPath": {"path": "/nobody/has", "type": "Directory"}}), "ContainerCreating",
         "FailedMount", f"{SETUP}hostPath type check failed: /nobody/has is not a directory"),
        (mounted({"hostPath": {"path": "/etc/hostname", "type": "Directory"}}), "ContainerCreating",
         "FailedMount", "is not a directory"),
        (mounted({"emptyDir": {}}, subPath="../up"), "CreateContainerConfigError", "Failed",
         "unable to provision SubPath `../up`: must not contain '..'"),
        (mounted({"emptyDir": {}}, mountPath="/"), "ContainerCreating", "FailedMount", "mountPath /"),
        (mounted({"emptyDir": {}}, name="w"), "ContainerCreating", "FailedMount", "mounts volume w"),
    ],
)  # fmt: skip
async def test_what_a_pod_lacks_is_said_in_its_status_and_in_an_event(
    yard: Yard, name: str, spec: dict[str, Any], reason: str, event: str, words: str
) -> None:
    yard.run("true", name=name, **{**spec, "container": dict(spec["container"])})
    await yard.until(lambda: waiting(yard, name).get("reason") == reason and told(yard, name, event))
    await yard.until(lambda: words in waiting(yard, name).get("message", ""))
    assert any(words in message for message in told(yard, name, event))
    assert yard.now(name).phase == "Pending"
    yard.shelf.delete(yard.now(name))


@pytest.mark.parametrize("kind", ["variable", "volume", "import"])
async def test_a_secret_that_appears_later_is_all_a_pod_waited_for(yard: Yard, name: str, kind: str) -> None:
    spec = {
        "variable": variable(secretKeyRef={"name": name, "key": "k"}),
        "import": imported(secretRef={"name": name}),
        "volume": mounted({"secret": {"secretName": name}}),
    }[kind]
    shown = {"variable": "echo $A", "import": "echo $k", "volume": "cat /v/k; echo"}[kind]
    yard.run("sh", "-c", shown, name=name, **spec)
    await yard.until(lambda: f'secret "{name}" not found' in waiting(yard, name).get("message", ""))
    data = {"k": base64.b64encode(b"hidden").decode()}
    yard.shelf.others[Secret, name] = Secret.read({"metadata": {"name": name}, "data": data})
    assert (await yard.finished(name)).phase == "Succeeded"
    assert yard.log(name) == "hidden\n"
    assert not any("hidden" in event.message for event in yard.shelf.events)


@pytest.mark.parametrize("path", ["v", "./v", "/x/../v", "/../v", "/v/", "//v"])
async def test_a_mount_path_is_read_from_the_root(yard: Yard, name: str, path: str) -> None:
    spec = mounted({"configMap": {"name": "there"}}, mountPath=path)
    yard.run("cat", "/v/a", name=name, **spec)
    assert (await yard.finished(name)).phase == "Succeeded"
    assert yard.log(name) == "1"


async def test_two_volumes_at_one_path_are_refused_though_it_is_written_in_two_ways(
    yard: Yard, name: str
) -> None:
    mounts = [{"name": "v", "mountPath": "/v"}, {"name": "w", "mountPath": "/v/."}]
    volumes = [{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {}}]
    yard.run("true", name=name, volumes=volumes, container={"volumeMounts": mounts})
    await yard.until(lambda: told(yard, name, "FailedMount"))
    assert "container main mounts two volumes at /v" in told(yard, name, "FailedMount")[0]
    yard.shelf.delete(yard.now(name))

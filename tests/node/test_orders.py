from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node.environments import Environment
from paddlecloud.embedded.node.obstacles import CreationFailed
from paddlecloud.embedded.node.orders import Ground, order_of
from paddlecloud.embedded.node.suites import Description, Suite
from paddlecloud.embedded.node.variables import Facts
from paddlecloud.embedded.node.volumes import ACCESS_PATH

POD = Pod.read({"metadata": {"name": "p", "namespace": "d", "uid": "u"}, "spec": {"containers": []}})
FACTS = Facts("127.7.0.1", "127.0.0.1")


def order(container: dict[str, Any], **suite: Any) -> dict[str, Any]:
    says = {"name": "s", "images": ["s"], "code": "code", "env": {"FROM": "suite"}, **suite}
    ground = Ground(
        Suite(Path("/suites/s"), Description.model_validate(says)),
        Environment(Path("/env/bin"), {"PYTHONPATH": "/package"}),
        Path("/run/0"),
        Path("/pod/home"),
        {"v": Path("/pod/volumes/v"), "kube-api-access-x": Path("/pod/volumes/access")},
        {"PATH": "/usr/bin"},
        ("127.0.0.1", "6443"),
    )
    return order_of(POD, {"name": "c", **container}, ground, FACTS)


@pytest.mark.parametrize(
    "container, argv",
    [
        ({}, ["python", "train.py"]),
        ({"args": ["--fast"]}, ["python", "train.py", "--fast"]),
        ({"command": ["sh"]}, ["sh"]),
        ({"command": ["$(A)"], "env": [{"name": "A", "value": "x"}]}, ["x"]),
        ({"command": ["sh"], "args": ["$(KUBERNETES_SERVICE_PORT)"]}, ["sh", "6443"]),
        # Of the image and of ours, not of the spec.
        ({"command": ["sh"], "args": ["-c", "$(FROM) $(POD_IP)"]}, ["sh", "-c", "$(FROM) $(POD_IP)"]),
        ({"command": ["ls", "/workspace/x"]}, ["ls", "/run/0/code/x"]),
        ({"command": ["a\nb", "'\""]}, ["a\nb", "'\""]),
    ],
)
def test_command_and_arguments(container: dict[str, Any], argv: list[str]) -> None:
    assert order(container, entrypoint=["python", "train.py"])["argv"] == argv


def test_a_container_without_any_command_is_refused() -> None:
    with pytest.raises(CreationFailed, match="no command specified"):
        order({})


@pytest.mark.parametrize(
    "container, suite, cwd",
    [
        ({}, {}, "/run/0/code"),
        ({}, {"code": ""}, "/pod/home"),
        ({"workingDir": "/workspace/sub"}, {}, "/run/0/code/sub"),
        ({"workingDir": "/$(A)", "env": [{"name": "A", "value": "x"}]}, {}, "/$(A)"),
        (
            {"workingDir": "/mnt/v", "volumeMounts": [{"name": "v", "mountPath": "/mnt/v"}]},
            {},
            "/pod/volumes/v",
        ),
    ],
)
def test_where_a_container_starts(container: dict[str, Any], suite: dict[str, Any], cwd: str) -> None:
    assert order({"command": ["x"]} | container, **suite)["cwd"] == cwd


def test_what_a_container_finds_in_its_environment() -> None:
    env = [
        {"name": "FROM", "value": "pod"},
        {"name": "DATA", "value": "/mnt/v/x"},
        {"name": "PYTHONPATH", "value": "/workspace"},
        {"name": "POD_UID", "value": "forged"},
    ]
    mounts = [{"name": "v", "mountPath": "/mnt/v"}, {"name": "kube-api-access-x", "mountPath": ACCESS_PATH}]
    found = order({"command": ["x"], "env": env, "volumeMounts": mounts})["env"]
    assert found == {
        "FROM": "pod",
        "DATA": "/pod/volumes/v/x",
        "PYTHONPATH": "/package:/run/0/code",
        "PATH": "/env/bin:/usr/bin",
        "HOME": "/pod/home",
        "HOSTNAME": "p",
        "POD_IP": "127.7.0.1",
        "POD_NAME": "p",
        "POD_NAMESPACE": "d",
        "POD_UID": "u",
        "CONTAINER_NAME": "c",
        "GLOO_SOCKET_IFNAME": "lo",
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": "6443",
        "KUBERNETES_SERVICEACCOUNT": "/pod/volumes/access",
        "TERMINATION_MESSAGE_PATH": "/run/0/termination",
    }

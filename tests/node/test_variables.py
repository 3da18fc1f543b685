from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.core import ConfigMap, Pod, Secret
from paddlecloud.embedded.node.obstacles import ConfigMissing
from paddlecloud.embedded.node.variables import Facts, Reference, inherited, quantity, references, variables

POD = Pod.read(
    {
        "metadata": {
            "name": "p",
            "namespace": "d",
            "uid": "u",
            "labels": {"app.io/x": "y"},
            "annotations": {"a": "b"},
        },
        "spec": {"nodeName": "one", "containers": [{"name": "other", "resources": {"limits": {"cpu": "2"}}}]},
    }
)
FACTS = Facts(
    "127.7.0.1",
    "127.0.0.1",
    {
        Reference(ConfigMap, "settings"): {"colour": "red", "not a name": "x"},
        Reference(Secret, "keys"): {"token": "s3cret"},
        Reference(ConfigMap, "absent"): None,
    },
    {"cpu": "8", "memory": "1Gi"},
)


def of(*env: dict[str, Any], **more: Any) -> dict[str, str]:
    return variables({"name": "c", "env": list(env)} | more, POD, FACTS)


@pytest.mark.parametrize(
    "path, value",
    [
        ("metadata.name", "p"),
        ("metadata.namespace", "d"),
        ("metadata.uid", "u"),
        ("metadata.labels['app.io/x']", "y"),
        ("metadata.labels['none']", ""),
        ("metadata.annotations['a']", "b"),
        ("spec.nodeName", "one"),
        ("spec.serviceAccountName", "default"),
        ("status.podIP", "127.7.0.1"),
        ("status.hostIP", "127.0.0.1"),
    ],
)
def test_a_field_of_the_pod(path: str, value: str) -> None:
    assert of({"name": "X", "valueFrom": {"fieldRef": {"fieldPath": path}}}) == {"X": value}


@pytest.mark.parametrize(
    "source, value",
    [
        ({"configMapKeyRef": {"name": "settings", "key": "colour"}}, "red"),
        ({"secretKeyRef": {"name": "keys", "key": "token"}}, "s3cret"),
        ({"configMapKeyRef": {"name": "absent", "key": "k", "optional": True}}, None),
        ({"configMapKeyRef": {"name": "settings", "key": "k", "optional": True}}, None),
        ({"resourceFieldRef": {"resource": "limits.cpu"}}, "8"),
        ({"resourceFieldRef": {"resource": "limits.cpu", "containerName": "other"}}, "2"),
        ({"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}, "1024"),
        ({"resourceFieldRef": {"resource": "requests.cpu"}}, "0"),
    ],
)
def test_a_value_from_elsewhere(source: dict[str, Any], value: str | None) -> None:
    assert of({"name": "X", "valueFrom": source}).get("X") == value


@pytest.mark.parametrize(
    "source, complaint",
    [
        ({"configMapKeyRef": {"name": "absent", "key": "k"}}, 'configmap "absent" not found'),
        (
            {"secretKeyRef": {"name": "keys", "key": "k"}},
            r"couldn't find key k in Secret [\w-]+/keys\n.*there are: token",
        ),
        ({"fieldRef": {"fieldPath": "spec.nonsense"}}, "spec.nonsense is not known"),
        ({"fileKeyRef": {}}, "no source"),
    ],
)
def test_a_value_that_leads_nowhere_is_named(source: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigMissing, match=complaint) as caught:
        of({"name": "X", "valueFrom": source})
    assert "s3cret" not in str(caught.value)


def test_later_entries_see_and_override_earlier_ones() -> None:
    assert of(
        {"name": "A", "value": "1"}, {"name": "B", "value": "$(A)$(C)"}, {"name": "A", "value": "2"}
    ) == {
        "A": "2",
        "B": "1$(C)",
    }


def test_whole_objects_are_imported_with_a_prefix_and_env_wins() -> None:
    sources = [{"prefix": "S_", "configMapRef": {"name": "settings"}}, {"secretRef": {"name": "keys"}}]
    got = of({"name": "token", "value": "own"}, envFrom=sources)
    assert got == {"S_colour": "red", "token": "own"}


def test_what_a_container_refers_to_is_known_beforehand() -> None:
    container = {
        "envFrom": [{"secretRef": {"name": "a"}}],
        "env": [
            {"name": "X", "valueFrom": {"configMapKeyRef": {"name": "b", "key": "k"}}},
            {"name": "Y", "value": ""},
        ],
    }
    assert references(container) == {Reference(Secret, "a"), Reference(ConfigMap, "b")}


@pytest.mark.parametrize(
    "text, number",
    [("2", 2), ("500m", 0.5), ("1Ki", 1024), ("1.5Gi", 1.5 * 2**30), ("1e3", 1000), ("3M", 3e6)],
)
def test_quantities(text: str, number: float) -> None:
    assert quantity(text) == number


@pytest.mark.parametrize("text", ["", "much", "1Qi", "--1"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ConfigMissing):
        quantity(text)


def test_a_container_inherits_little() -> None:
    got = inherited({"PATH": "/bin", "LANG": "C", "AWS_SECRET_ACCESS_KEY": "x", "HOME": "/h"})
    assert got == {"PATH": "/bin", "LANG": "C"}

"""`pdc apply` and `pdc delete` on a running cluster: what files say holds, what was asked to go is gone."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from tests.scenarios.manifests import pod
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.core import ConfigMap
from paddlecloud.api.meta import Key


def config(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def data_of(cluster: PdcHome, name: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(cluster.ok("get", "cm", name, "-o", "json")).get("data") or {}
    return found


def test_what_is_applied_again_is_unchanged_whatever_the_cluster_added(cluster: PdcHome, name: str) -> None:
    body = pod(name, "sleep 600")

    said = [cluster.apply(body) for _ in range(2)]

    assert said == [f"pod/{name} created\n", f"pod/{name} unchanged\n"]
    cluster.ok("delete", f"pod/{name}", "--no-wait")


def test_what_a_file_says_no_more_goes_and_what_others_set_stays(cluster: PdcHome, name: str) -> None:
    cluster.apply(config(name, mine="1", dropped="2"))
    with cluster.client() as client:
        client.patch(ConfigMap, Key("default", name), {"data": {"theirs": "3"}})

    assert cluster.apply(config(name, mine="4")) == f"configmap/{name} configured\n"

    assert data_of(cluster, name) == {"mine": "4", "theirs": "3"}


def test_a_field_of_somebody_else_is_overwritten_only_when_asked_to(cluster: PdcHome, name: str) -> None:
    cluster.apply(config(name, k="file"))
    with cluster.client() as client:
        client.patch(ConfigMap, Key("default", name), {"data": {"k": "theirs"}})
    text = yaml.safe_dump(config(name, k="again"))

    said = cluster.pdc("apply", "-f", "-", stdin=text)

    assert said.code == 1 and ".data.k" in said.text and "--force-conflicts" in said.text
    assert data_of(cluster, name) == {"k": "theirs"}
    cluster.ok("apply", "--force-conflicts", "-f", "-", stdin=text)
    assert data_of(cluster, name) == {"k": "again"}


def test_a_dry_run_says_what_would_be_done_and_does_nothing(cluster: PdcHome, name: str) -> None:
    dry = ("apply", "--dry-run", "-f", "-")

    assert cluster.ok(*dry, stdin=yaml.safe_dump(config(name))) == f"configmap/{name} created (dry run)\n"
    assert cluster.pdc("get", "cm", name).code == 1
    cluster.apply(config(name, k="1"))
    changed = cluster.ok(*dry, stdin=yaml.safe_dump(config(name, k="2")))
    same = cluster.ok(*dry, stdin=yaml.safe_dump(config(name, k="1")))
    assert (changed, same) == (
        f"configmap/{name} configured (dry run)\n",
        f"configmap/{name} unchanged (dry run)\n",
    )
    assert data_of(cluster, name) == {"k": "1"}


def test_a_name_the_cluster_chooses_is_a_new_object_each_time(cluster: PdcHome, name: str) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": f"{name}-"}}

    said = {cluster.apply(body) for _ in range(2)}

    assert len(said) == 2 and all(s.startswith(f"configmap/{name}-") and "created" in s for s in said)


def test_what_is_deleted_is_gone_when_the_command_ends(cluster: PdcHome, name: str) -> None:
    cluster.apply(pod(name, "trap 'sleep 1; exit 0' TERM; sleep 600 & wait"))
    cluster.ok("wait", f"pod/{name}", "--for", "Ready", "--timeout", "60")

    assert cluster.ok("delete", f"pod/{name}") == f"pod/{name} deleted\n"

    assert cluster.pdc("get", "pod", name).code == 1


def test_the_objects_of_a_file_are_deleted_by_it(cluster: PdcHome, name: str) -> None:
    text = yaml.safe_dump_all([config(f"{name}-a"), config(f"{name}-b")])
    cluster.ok("apply", "-f", "-", stdin=text)
    cluster.ok("delete", "cm", f"{name}-a")

    said = cluster.pdc("delete", "-f", "-", stdin=text)

    assert (
        said.code == 1 and f"configmap/{name}-b deleted" in said.text and f'"{name}-a" not found' in said.text
    )
    assert "nothing to delete" in cluster.ok("delete", "--ignore-not-found", "-f", "-", stdin=text)


def test_objects_are_deleted_by_their_labels(cluster: PdcHome, name: str) -> None:
    for number in range(3):
        body = config(f"{name}-{number}")
        body["metadata"]["labels"] = {"of": name if number else "nobody"}
        cluster.apply(body)

    said = cluster.ok("delete", "cm", "-l", f"of={name}")

    assert said == f"cm/{name}-1 deleted\ncm/{name}-2 deleted\n"
    assert cluster.pdc("get", "cm", f"{name}-0").code == 0


def test_a_deletion_that_waits_for_somebody_says_so_in_time(cluster: PdcHome, name: str) -> None:
    body = config(name)
    body["metadata"]["finalizers"] = ["example.com/never"]
    cluster.apply(body)

    said = cluster.pdc("delete", "cm", name, "--timeout", "0.2")

    assert said.code == 4 and f"cm/{name} is still there" in said.text
    assert "goes when example.com/never let it go" in said.text
    del body["metadata"]["finalizers"]
    cluster.apply(body)
    assert cluster.pdc("get", "cm", name).code == 1


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("job",),
        ("cm", "x", "-l", "a=b"),
        ("cm", "-f", "x.yaml"),
        ("-l", "a=b"),
        ("-f", "x.yaml", "--all"),
    ],
)
def test_a_deletion_of_nothing_in_particular_is_refused(cluster: PdcHome, words: tuple[str, ...]) -> None:
    said = cluster.pdc("delete", *words)

    assert said.code == 2 and "name what is to be deleted" in said.text


def test_several_kinds_are_listed_at_once(cluster: PdcHome, name: str) -> None:
    cluster.apply(config(name))

    text = cluster.ok("get", "cm,svc")

    assert f"configmap/{name}" in text and "service/kubernetes" in text

"""kubectl that changes things: apply in both ways, diff, edit, label, patch, replace, scale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contracts.objects import config_map, paddle_job, pod, worker
from tests.contracts.owners import owners
from tests.kubectl import Kubectl

pytestmark = pytest.mark.kubectl
Body = dict[str, Any]
SERVER_SIDE = ("apply", "--server-side", "-f", "-")
NOTE = "kubectl.kubernetes.io/last-applied-configuration"


def web(image: str = "example/web:1", replicas: int = 0, **labels: str) -> Body:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"schedulerName": "nobody", "containers": [{"name": "main", "image": image}]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    metadata: Body = {"name": "web", "labels": labels} if labels else {"name": "web"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def service(port: int = 80) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"name": "plain", "port": port}]},
    }


def shown(kubectl: Kubectl, *what: str) -> Body:
    body: Body = json.loads(kubectl("get", *what, "-o", "json", "--show-managed-fields"))
    return body


@pytest.mark.parametrize(
    "name, first, second",
    [
        ("configmap/settings", config_map(a="1"), config_map(a="2")),
        ("deployment.apps/web", web(), web("example/web:2")),
        ("service/web", service(80), service(81)),
        ("pod/sleeper", pod(), pod(labels={"a": "b"})),
    ],
)
def test_apply_makes_keeps_and_changes(kubectl: Kubectl, name: str, first: Body, second: Body) -> None:
    assert kubectl("apply", "-f", "-", stdin=first) == f"{name} created\n"
    assert kubectl("apply", "-f", "-", stdin=first) == f"{name} unchanged\n"
    assert kubectl("apply", "-f", "-", stdin=second) == f"{name} configured\n"
    assert kubectl("apply", "-f", "-", stdin=second) == f"{name} unchanged\n"


def test_apply_takes_away_a_container_that_is_no_longer_written(kubectl: Kubectl) -> None:
    both = web()
    both["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "example/side:1"})
    kubectl("apply", "-f", "-", stdin=both)
    kubectl("apply", "-f", "-", stdin=web())
    spec = kubectl.json("get", "deployment", "web")["spec"]["template"]["spec"]
    assert [c["name"] for c in spec["containers"]] == ["main"]


def test_apply_on_the_server_keeps_what_another_one_applied(kubectl: Kubectl) -> None:
    said = kubectl(*SERVER_SIDE, stdin=config_map(a="1"))
    assert said == "configmap/settings serverside-applied\n"
    kubectl(*SERVER_SIDE, "--field-manager=bob", stdin=config_map(b="2"))
    body = shown(kubectl, "cm", "settings")
    assert body["data"] == {"a": "1", "b": "2"}
    assert owners(body) == {"kubectl Apply": "/data/a", "bob Apply": "/data/b"}


def test_a_conflict_is_told_and_can_be_forced(kubectl: Kubectl) -> None:
    kubectl(*SERVER_SIDE, "--field-manager=bob", stdin=config_map(a="1"))
    done = kubectl.run(*SERVER_SIDE, stdin=config_map(a="2"))
    assert done.returncode == 1
    assert done.stderr.startswith(
        'error: Apply failed with 1 conflict: conflict with "bob": .data.a\n'
        "Please review the fields above--they currently have other managers."
    )
    kubectl(*SERVER_SIDE, "--force-conflicts", stdin=config_map(a="2"))
    assert owners(shown(kubectl, "cm", "settings")) == {"kubectl Apply": "/data/a"}


def test_a_client_side_object_moves_to_the_server_side(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=config_map(a="1", b="2"))
    kubectl(*SERVER_SIDE, stdin=config_map(a="1"))
    body = shown(kubectl, "cm", "settings")
    assert body["data"] == {"a": "1"}
    assert owners(body) == {
        "kubectl Apply": "/data/a",
        "kubectl-last-applied Apply": f"/metadata/annotations/{NOTE}",
    }


def test_a_moved_deployment_gives_up_what_is_no_longer_written(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=web(tier="front"))
    kubectl(*SERVER_SIDE, stdin=web("example/web:2"))
    body = shown(kubectl, "deployment", "web")
    assert "labels" not in body["metadata"]
    assert body["spec"]["template"]["spec"]["containers"][0]["image"] == "example/web:2"
    assert "kubectl-client-side-apply Update" not in owners(body)


def test_a_moved_object_can_still_be_applied_by_the_client(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=config_map(a="1"))
    kubectl(*SERVER_SIDE, stdin=config_map(a="2"))
    assert kubectl("apply", "-f", "-", stdin=config_map(b="3")) == "configmap/settings configured\n"
    assert kubectl("apply", "-f", "-", stdin=config_map(b="3")) == "configmap/settings unchanged\n"
    assert kubectl.json("get", "cm", "settings")["data"] == {"b": "3"}


def test_apply_on_the_server_takes_our_kinds(kubectl: Kubectl) -> None:
    name = "paddlejob.batch.paddlepaddle.org/train"
    assert kubectl(*SERVER_SIDE, stdin=paddle_job()) == f"{name} serverside-applied\n"
    assert kubectl(*SERVER_SIDE, "--dry-run=server", stdin=paddle_job()) == (
        f"{name} serverside-applied (server dry run)\n"
    )


def test_diff_shows_what_apply_would_change(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=web())
    assert kubectl.run("diff", "-f", "-", stdin=web()).returncode == 0
    done = kubectl.run("diff", "-f", "-", stdin=web("example/web:2"))
    assert done.returncode == 1
    assert "-      - image: example/web:1\n" in done.stdout
    assert "+      - image: example/web:2\n" in done.stdout


def test_diff_on_the_server_side(kubectl: Kubectl) -> None:
    kubectl(*SERVER_SIDE, stdin=config_map(a="1"))
    done = kubectl.run("diff", "--server-side", "-f", "-", stdin=config_map(a="2"))
    assert done.returncode == 1
    assert '-  a: "1"\n' in done.stdout and '+  a: "2"\n' in done.stdout


@pytest.mark.parametrize(
    "what, made, old, new",
    [
        ("deployment/web", web(), "example/web:1", "example/web:2"),
        ("paddlejob/train", paddle_job(worker=worker(2), elastic=1), "replicas: 2", "replicas: 3"),
    ],
)
def test_edit_sends_what_the_editor_changed(
    kubectl: Kubectl, tmp_path: Path, what: str, made: Body, old: str, new: str
) -> None:
    kubectl("create", "-f", "-", stdin=made)
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\nexec sed -i 's|{old}|{new}|' \"$1\"\n")
    editor.chmod(0o755)
    done = kubectl.run("edit", what, environ={"KUBE_EDITOR": str(editor)})
    assert (done.returncode, done.stdout.split()[-1]) == (0, "edited"), done.stderr
    assert new in yaml.safe_dump(kubectl.json("get", what))


def test_labels_and_annotations_are_set_changed_and_removed(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=config_map(a="1"))
    assert kubectl("label", "cm", "settings", "team=vision") == "configmap/settings labeled\n"
    assert kubectl("label", "cm", "settings", "team=vision") == "configmap/settings not labeled\n"
    assert kubectl.run("label", "cm", "settings", "team=speech").returncode == 1
    kubectl("label", "cm", "settings", "team=speech", "--overwrite")
    assert kubectl("annotate", "cm", "settings", "note=one") == "configmap/settings annotated\n"
    assert kubectl("label", "cm", "settings", "team-") == "configmap/settings unlabeled\n"
    body = shown(kubectl, "cm", "settings")
    assert "labels" not in body["metadata"]
    assert body["metadata"]["annotations"] == {"note": "one"}
    assert owners(body)["kubectl-annotate Update"] == "/metadata/annotations /metadata/annotations/note"


@pytest.mark.parametrize(
    "kind, patch",
    [
        ("strategic", {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "new"}]}}}}),
        ("json", [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "new"}]),
        (
            "merge",
            {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "new"}]}}}},
        ),
    ],
)
def test_patches_of_three_types(kubectl: Kubectl, kind: str, patch: Any) -> None:
    kubectl("create", "-f", "-", stdin=web())
    words = ("patch", "deployment", "web", f"--type={kind}", "-p", json.dumps(patch))
    assert kubectl(*words) == "deployment.apps/web patched\n"
    body = shown(kubectl, "deployment", "web")
    assert body["spec"]["template"]["spec"]["containers"][0]["image"] == "new"
    assert "/spec/template/spec/containers[main]/image" in owners(body)["kubectl-patch Update"]
    assert kubectl(*words) == "deployment.apps/web patched (no change)\n"


def test_our_kinds_are_not_patched_strategically(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=paddle_job())
    done = kubectl.run("patch", "pdj", "train", "-p", '{"spec":{"intranet":"Host"}}')
    assert done.returncode == 1
    assert done.stderr.startswith(
        "error: application/strategic-merge-patch+json is not supported by "
        "batch.paddlepaddle.org/v1, Kind=PaddleJob: "
    )


def test_replace_puts_another_object_in_the_place(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=config_map(a="1", b="2"))
    assert kubectl("replace", "-f", "-", stdin=config_map(c="3")) == "configmap/settings replaced\n"
    body = shown(kubectl, "cm", "settings")
    assert body["data"] == {"c": "3"}
    assert owners(body)["kubectl-replace Update"] == "/data/c"


def test_replace_by_force_makes_it_anew(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=config_map(a="1"))
    before = kubectl.json("get", "cm", "settings")["metadata"]["uid"]
    kubectl("replace", "--force", "-f", "-", stdin=config_map(a="1"))
    assert kubectl.json("get", "cm", "settings")["metadata"]["uid"] != before


def test_scale_sets_the_number_of_replicas(kubectl: Kubectl) -> None:
    kubectl(*SERVER_SIDE, stdin=web())
    assert kubectl("scale", "deployment", "web", "--replicas=2") == "deployment.apps/web scaled\n"
    body = shown(kubectl, "deployment", "web")
    assert body["spec"]["replicas"] == 2
    assert owners(body)["kubectl Update scale"] == "/spec/replicas"
    done = kubectl.run("scale", "deployment", "web", "--current-replicas=5", "--replicas=3")
    assert done.returncode == 1

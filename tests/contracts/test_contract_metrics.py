"""What a server has counted, as a scraper reads it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.contracts.objects import config_map, core
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

LINE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
ROLES = "/apis/rbac.authorization.k8s.io/v1"


def measured(rest: Rest, name: str, **labels: str) -> float:
    """The sum of what is told under a name with these labels, whatever the others are."""
    total = 0.0
    for line in rest.get("/metrics").text.splitlines():
        if line.startswith(name) and (found := LINE.fullmatch(line)) and found[1] == name:
            known = dict(LABEL.findall(found[2] or ""))
            total += float(found[3]) if labels.items() <= known.items() else 0
    return total


def test_the_form_is_the_one_scrapers_know(rest: Rest) -> None:
    answer = rest.get("/metrics")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4; charset=utf-8")
    for line in answer.text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ")) or LINE.fullmatch(line), line
    for name, kind in (
        ("apiserver_request_total", "counter"),
        ("apiserver_request_duration_seconds", "histogram"),
        ("apiserver_current_inflight_requests", "gauge"),
        ("apiserver_longrunning_requests", "gauge"),
        ("apiserver_storage_objects", "gauge"),
        ("apiserver_storage_size_bytes", "gauge"),
        ("process_resident_memory_bytes", "gauge"),
        ("process_cpu_seconds_total", "counter"),
    ):
        assert f"# TYPE {name} {kind}\n" in answer.text


REQUESTS = [
    ("GET", "", "", "LIST", "namespace", "200"),
    ("POST", "", "", "POST", "resource", "201"),
    ("POST", "", "?dryRun=All", "POST", "resource", "201"),
    ("GET", "/absent", "", "GET", "resource", "404"),
    ("DELETE", "", "", "DELETE", "namespace", "200"),
]


@pytest.mark.parametrize(("method", "name", "query", "verb", "scope", "code"), REQUESTS)
def test_a_request_is_counted_where_its_subject_is(
    rest: Rest, namespace: str, method: str, name: str, query: str, verb: str, scope: str, code: str
) -> None:
    labels = {"verb": verb, "scope": scope, "group": "", "version": "v1", "resource": "configmaps"}
    labels |= {"subresource": "", "dry_run": "All" if query else "", "component": "apiserver"}
    counted = measured(rest, "apiserver_request_total", code=code, **labels)
    timed = measured(rest, "apiserver_request_duration_seconds_count", **labels)

    body = config_map(f"c-{secrets.token_hex(3)}") if method == "POST" else None
    assert str(rest.send(method, core(namespace, "configmaps") + name + query, body).status) == code

    assert measured(rest, "apiserver_request_total", code=code, **labels) >= counted + 1
    assert measured(rest, "apiserver_request_duration_seconds_count", **labels) >= timed + 1
    within = measured(rest, "apiserver_request_duration_seconds_bucket", le="+Inf", **labels)
    assert within >= timed + 1


def test_a_watch_is_told_while_it_lasts(rest: Rest, namespace: str) -> None:
    labels = {"verb": "WATCH", "resource": "limitranges", "scope": "namespace"}
    before = measured(rest, "apiserver_longrunning_requests", **labels)
    with rest.watch(core(namespace, "limitranges")):
        assert measured(rest, "apiserver_longrunning_requests", **labels) == before + 1
    until(
        lambda: measured(rest, "apiserver_longrunning_requests", **labels) == before,
        what="the end of the watch to be counted",
    )


def test_objects_are_counted_by_their_resource(rest: Rest) -> None:
    name = f"c-{secrets.token_hex(3)}"
    rest.post(f"{ROLES}/clusterroles", {"metadata": {"name": name}, "rules": []}).expect(201)
    try:
        resource = "clusterroles.rbac.authorization.k8s.io"
        # A real server counts once a minute, and says -1 or 0 before.
        assert f'apiserver_storage_objects{{resource="{resource}"}}' in rest.get("/metrics").text
        assert measured(rest, "apiserver_storage_size_bytes") > 0
    finally:
        rest.delete(f"{ROLES}/clusterroles/{name}")


@contextmanager
def bound(rest: Rest, namespace: str, role: str) -> Iterator[Rest]:
    """The default account of a namespace, with a cluster role of its own."""
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    binding = {"metadata": {"name": namespace}, "roleRef": reference, "subjects": [subject]}
    rest.post(f"{ROLES}/clusterrolebindings", binding).expect(201)
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = rest.post(core(namespace, "serviceaccounts", "default/token"), asked).expect(201)
    client = rest.holding(token["status"]["token"])
    try:
        yield client
    finally:
        client.close()
        rest.delete(f"{ROLES}/clusterrolebindings/{namespace}")


@pytest.mark.parametrize(("role", "status"), [("system:monitoring", 200), ("cluster-reader-of-none", 403)])
def test_counts_are_for_those_whose_role_names_the_path(
    rest: Rest, namespace: str, role: str, status: int
) -> None:
    with bound(rest, namespace, role) as client:
        # A real server learns of a binding a moment later.
        until(lambda: client.get("/metrics").status == status, what=f"{status} for {role}")
        assert client.get("/readyz/etcd").status == status

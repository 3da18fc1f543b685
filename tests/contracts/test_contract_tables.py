"""The forms of an answer: tables for people, metadata alone for caches."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import config_map, core, jobs, paddle_job, pod, sample_set, sample_sets
from tests.kubernetes.rest import Rest

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


def table(rest: Rest, path: str, **query: Any) -> dict[str, Any]:
    body: dict[str, Any] = rest.get_as(TABLE, path, **query).expect(200)
    assert (body["kind"], body["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    return body


def columns(body: dict[str, Any]) -> list[str]:
    """Those that are shown without `-o wide`."""
    return [c["name"] for c in body["columnDefinitions"] if not c["priority"]]


def cells(body: dict[str, Any], row: int = 0) -> dict[str, Any]:
    names = [c["name"] for c in body["columnDefinitions"]]
    return dict(zip(names, body["rows"][row]["cells"], strict=True))


def test_pods_have_the_columns_everybody_knows(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod()).expect(201)
    body = table(rest, core(namespace, "pods"))
    assert columns(body) == ["Name", "Ready", "Status", "Restarts", "Age"]
    shown = cells(body)
    assert (shown["Name"], shown["Ready"], shown["Status"], shown["Restarts"]) == (
        "sleeper",
        "0/1",
        "Pending",
        "0",
    )
    assert shown["Age"].endswith("s")


def test_jobs_have_our_columns(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    status = {"phase": "Running", "mode": "Collective", "worker": {"ready": "2/2"}}
    rest.merge(jobs(namespace, "train/status"), {"status": status}).expect(200)
    body = table(rest, jobs(namespace))
    assert columns(body) == ["Name", "Status", "Mode", "PS", "Worker", "Age"]
    shown = cells(body)
    assert shown.pop("Age").endswith("s")
    assert shown == {
        "Name": "train", "Status": "Running", "Mode": "Collective", "PS": None, "Worker": "2/2",
        "Done": None, "Total": None, "Loss": None,
    }  # fmt: skip


def test_data_sets_have_our_columns(rest: Rest, namespace: str) -> None:
    rest.post(sample_sets(namespace), sample_set()).expect(201)
    body = table(rest, sample_sets(namespace))
    assert columns(body) == ["Name", "TOTAL SIZE", "CACHED SIZE", "AVAIL SPACE", "Runtime", "PHASE", "AGE"]


def test_one_object_is_a_table_of_one_row(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "configmaps"), config_map(a="1", b="2")).expect(201)
    body = table(rest, core(namespace, "configmaps", "settings"))
    assert columns(body) == ["Name", "Data", "Age"]
    assert (cells(body)["Name"], cells(body)["Data"]) == ("settings", 2)


@pytest.mark.parametrize(
    "include, kind",
    [(None, "PartialObjectMetadata"), ("Metadata", "PartialObjectMetadata"), ("Object", "Pod")],
)
def test_a_row_carries_as_much_of_its_object_as_was_asked_for(
    rest: Rest, namespace: str, include: str | None, kind: str
) -> None:
    rest.post(core(namespace, "pods"), pod(labels={"app": "x"})).expect(201)
    query = {"includeObject": include} if include else {}
    [row] = table(rest, core(namespace, "pods"), **query)["rows"]
    assert row["object"]["kind"] == kind
    assert row["object"]["metadata"]["labels"] == {"app": "x"}
    assert ("spec" in row["object"]) == (kind == "Pod")


def test_a_row_without_its_object(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod()).expect(201)
    [row] = table(rest, core(namespace, "pods"), includeObject="None")["rows"]
    assert row.get("object") is None


def test_an_empty_table_still_has_its_columns(rest: Rest, namespace: str) -> None:
    body = table(rest, jobs(namespace))
    assert body["rows"] == []
    assert columns(body)[0] == "Name"
    assert int(body["metadata"]["resourceVersion"]) > 0


def test_a_table_is_paged_like_a_list(rest: Rest, namespace: str) -> None:
    for name in "ab":
        rest.post(jobs(namespace), paddle_job(name)).expect(201)
    first = table(rest, jobs(namespace), limit=1)
    second = table(rest, jobs(namespace), limit=1, **{"continue": first["metadata"]["continue"]})
    assert [cells(first)["Name"], cells(second)["Name"]] == ["a", "b"]


def test_a_cache_of_names_gets_metadata_alone(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "configmaps"), config_map(labels={"app": "x"}, a="1")).expect(201)
    body = rest.get_as(METADATA_LIST, core(namespace, "configmaps"), labelSelector="app").expect(200)
    assert (body["kind"], body["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    [item] = body["items"]
    assert item["metadata"]["name"] == "settings" and "data" not in item


def test_one_object_as_metadata_alone(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    body = rest.get_as(METADATA, jobs(namespace, "train")).expect(200)
    assert body["kind"] == "PartialObjectMetadata"
    assert "spec" not in body

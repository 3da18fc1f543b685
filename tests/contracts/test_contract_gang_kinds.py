"""Groups of pods and queues as we define them: what is filled in, refused, printed, and where status is."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.definitions import Widgets, served
from tests.kubernetes.rest import Rest

from paddlecloud.api.crds import crd
from paddlecloud.api.meta import Resource
from paddlecloud.api.scheduling import PodGroup, Queue

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
V = "v1beta1"


def elsewhere(kind: type[Resource]) -> dict[str, Any]:
    """The definition in a group of its own: ours has it already, a real cluster gets it from Volcano."""
    body = crd(kind)
    group = f"g{secrets.token_hex(4)}.example.org"
    body["spec"] |= {"group": group, "scope": "Namespaced"}
    return {**body, "metadata": {"name": f"{kind.plural}.{group}"}}


@pytest.fixture(scope="module")
def groups(rest: Rest, common_namespace: str) -> Iterator[Widgets]:
    with served(rest, common_namespace, elsewhere(PodGroup)) as found:
        yield found


@pytest.fixture(scope="module")
def queues(rest: Rest, common_namespace: str) -> Iterator[Widgets]:
    with served(rest, common_namespace, elsewhere(Queue)) as found:
        yield found


def made(kind: Widgets, name: str, **parts: Any) -> Any:
    return kind.rest.post(kind.path(version=V), kind.body(name, V, **parts))


def test_a_group_without_a_queue_is_in_the_default_one(groups: Widgets) -> None:
    body = made(groups, "plain", spec={"minMember": 4}).expect(201)

    assert body["spec"] == {"minMember": 4, "queue": "default"}


def test_the_status_of_a_group_is_written_with_the_group(groups: Widgets) -> None:
    body = made(groups, "written", spec={}, status={"phase": "Inqueue"}).expect(201)

    assert body["status"] == {"phase": "Inqueue"}
    groups.rest.get(f"{groups.path('written', V)}/status").expect(404)


@pytest.mark.parametrize(
    "spec, field",
    [
        ({"minMember": "four"}, "spec.minMember"),
        ({"minResources": {"cpu": "lots"}}, "spec.minResources.cpu"),
        ({"minResources": {"cpu": 1.5}}, "spec.minResources.cpu"),
        ({"minTaskMember": {"worker": "two"}}, "spec.minTaskMember.worker"),
    ],
)
def test_a_group_that_makes_no_sense_is_refused_at_its_field(
    groups: Widgets, spec: dict[str, Any], field: str
) -> None:
    answer = made(groups, "bad", spec=spec).expect(422)

    assert [cause["field"] for cause in answer["details"]["causes"]] == [field]


@pytest.mark.parametrize("quantity", [4, "4", "500m", "1.5Gi"])
def test_a_quantity_stays_as_it_was_written(groups: Widgets, quantity: Any) -> None:
    name = f"q{secrets.token_hex(3)}"
    body = made(groups, name, spec={"minResources": {"cpu": quantity}}).expect(201)

    assert body["spec"]["minResources"] == {"cpu": quantity}


def test_a_group_is_printed_in_volcanos_columns(groups: Widgets) -> None:
    made(groups, "printed", spec={"minMember": 2}, status={"phase": "Running", "running": 2}).expect(201)
    table = groups.rest.get_as(TABLE, groups.path("printed", V)).expect(200)

    assert [(c["name"], c["priority"]) for c in table["columnDefinitions"]] == [
        ("Name", 0), ("STATUS", 0), ("minMember", 0), ("RUNNINGS", 0), ("AGE", 0), ("QUEUE", 1),
    ]  # fmt: skip
    [row] = table["rows"]
    assert [*row["cells"][:4], row["cells"][5]] == ["printed", "Running", 2, 2, "default"]


def test_a_queue_weighs_one_unless_it_says_otherwise(queues: Widgets) -> None:
    body = made(queues, "plain", spec={"capability": {"cpu": 4}}).expect(201)

    assert body["spec"] == {"capability": {"cpu": 4}, "weight": 1}


@pytest.mark.parametrize("weight", [0, 65536])
def test_a_weight_has_its_bounds(queues: Widgets, weight: int) -> None:
    answer = made(queues, "bad", spec={"weight": weight}).expect(422)

    assert [cause["field"] for cause in answer["details"]["causes"]] == ["spec.weight"]


def test_the_status_of_a_queue_is_apart_from_it(queues: Widgets) -> None:
    body = made(queues, "apart", spec={}, status={"state": "Closed"}).expect(201)

    assert "status" not in body
    status = {"state": "Open", "allocated": {"cpu": "1"}}
    body = queues.rest.merge(f"{queues.path('apart', V)}/status", {"status": status}).expect(200)
    assert body["status"] == status

"""Lists without the record of who wrote which field: the same list in every other respect."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlecloud.cluster import requests, unmanaged
from paddlecloud.errors import NotFound, ServerError

WHO = {"manager": "kubectl", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}
TEXTS = st.text('}]["{:,\\ af', max_size=8)


def a_list(*managed: Any, **more: Any) -> dict[str, Any]:
    items = [{"metadata": {"name": f"n{n}", "managedFields": m, "uid": "u"}} for n, m in enumerate(managed)]
    return {"kind": "PodList", "metadata": {"continue": "c"}, "items": [*items, *more.get("others", ())]}


def read(body: dict[str, Any]) -> dict[str, Any]:
    return unmanaged.parse(200, orjson.dumps(body))


def emptied(body: dict[str, Any]) -> dict[str, Any]:
    for item in body["items"]:
        if "managedFields" in item["metadata"]:
            item["metadata"]["managedFields"] = []
    return body


def test_the_managers_of_every_item_are_gone() -> None:
    body = a_list([WHO], [WHO, WHO], others=[{"metadata": {"name": "made by nobody"}}])

    assert read(body) == emptied(body)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"metadata": {"name": "x"}, "spec": {"managedFields": [WHO]}}, id="a field of its own"),
        pytest.param(
            {
                "metadata": {"name": "x", "managedFields": [WHO]},
                "spec": {"template": {"managedFields": [WHO]}},
            },
            id="one in a template",
        ),
        pytest.param({"metadata": {"name": "x", "managedFields": [{"list": [WHO]}]}}, id="lists in lists"),
        pytest.param({"metadata": {"name": "x", "managedFields": []}}, id="none"),
        pytest.param({"metadata": {"name": '"managedFields":[{}]'}}, id="a name"),
    ],
)
def test_whatever_else_is_called_like_that_stays(other: dict[str, Any]) -> None:
    found = read(a_list([WHO], others=[other]))["items"][1]

    assert {**found, "metadata": None} == {**other, "metadata": None}
    assert found["metadata"]["name"] == other["metadata"]["name"]


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=4), TEXTS)
def test_no_name_of_a_manager_or_field_cuts_too_little(names: list[tuple[str, str, str]], label: str) -> None:
    """Ends of lists in names: those of managers are the user's, those of fields hold the user's values."""
    managed = [
        [{**WHO, "manager": manager, "fieldsV1": {f'k:{{"name":"{key}"}}': {f"v:{value}": {}}}}]
        for manager, key, value in names
    ]
    body = a_list(*managed, others=[{"metadata": {"name": label, "annotations": {"a": label}}}])
    found = read(body)

    # Read whole where a name made it doubtful.
    assert emptied(found) == emptied(body)


def test_answers_that_are_no_lists_are_read_as_ever() -> None:
    one = {"kind": "Pod", "metadata": {"name": "x", "managedFields": [WHO]}}

    assert read(one) == one
    with pytest.raises(NotFound, match="no such"):
        unmanaged.parse(404, orjson.dumps({"message": "no such", "managedFields": [WHO]}))
    with pytest.raises(ServerError, match="without JSON"):
        unmanaged.parse(200, b'"managedFields":[{}] oh')
    assert requests.parse(200, b'{"items":[]}') == unmanaged.parse(200, b'{"items":[]}')

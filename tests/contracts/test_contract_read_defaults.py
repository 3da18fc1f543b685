"""Objects that are older than the definition of their kind."""

from __future__ import annotations

from typing import Any

from tests.contracts.definitions import DEFINITIONS, NUMBER, TEXT, condition, definition, having, version
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until


def test_an_object_is_read_as_its_definition_has_it_today(rest: Rest, namespace: str) -> None:
    body = definition(version(having(a=TEXT, n=NUMBER)))
    group, name = body["spec"]["group"], body["metadata"]["name"]
    path = f"/apis/{group}/v1/namespaces/{namespace}/widgets"
    rest.post(DEFINITIONS, body).expect(201)
    try:
        assert condition(rest, body, "Established")["status"] == "True"
        old: dict[str, Any] = {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "w"}}
        until(
            lambda: rest.post(path, old | {"spec": {"a": "1", "n": 2}}).status == 201, what="the kind served"
        )
        versions = [version(having(a=TEXT, b={**TEXT, "default": "later"}))]
        rest.merge(f"{DEFINITIONS}/{name}", {"spec": {"versions": versions}}).expect(200)
        # A field that is new has its default, one that is gone is not shown.
        wanted = {"a": "1", "b": "later"}
        until(lambda: rest.get(f"{path}/w").expect(200)["spec"] == wanted, what="the new default")
        assert rest.get(path).expect(200)["items"][0]["spec"] == wanted
        with rest.watch(path) as events:
            assert next(events).object["spec"] == wanted
        changed = rest.merge(f"{path}/w", {"spec": {"a": "2"}}).expect(200)
        assert changed["spec"] == {"a": "2", "b": "later"}
    finally:
        rest.delete(f"{DEFINITIONS}/{name}")

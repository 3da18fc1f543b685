"""Objects that are older than the definition of their kind."""

from __future__ import annotations

from tests.contracts.definitions import NUMBER, TEXT, definition, having, served, version
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until


def test_an_object_is_read_as_its_definition_has_it_today(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, definition(version(having(a=TEXT, n=NUMBER)))) as widgets:
        until(lambda: widgets.create(a="1", n=2).status == 201, what="the kind served")
        versions = [version(having(a=TEXT, b={**TEXT, "default": "later"}))]
        rest.merge(widgets.at, {"spec": {"versions": versions}}).expect(200)
        # A field that is new has its default, one that is gone is not shown.
        wanted = {"a": "1", "b": "later"}
        until(lambda: rest.get(widgets.path("x")).expect(200)["spec"] == wanted, what="the new default")
        assert rest.get(widgets.path()).expect(200)["items"][0]["spec"] == wanted
        with rest.watch(widgets.path()) as events:
            assert next(events).object["spec"] == wanted
        changed = rest.merge(widgets.path("x"), {"spec": {"a": "2"}}).expect(200)
        assert changed["spec"] == {"a": "2", "b": "later"}

"""Who is woken by labels and orphans, and the index that finds them without a walk over everything."""

from __future__ import annotations

import pytest
from tests.cluster.widgets import Widget

from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Key, Metadata, OwnerReference
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.informer import Informer
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.controllers.contract import Selection
from paddlecloud.controllers.relations import Relations

READER = Key("ml", "reader")


def pod(name: str, owner: str = "", namespace: str = "ml", **labels: str) -> Pod:
    owners = [OwnerReference(uid=owner, controller=True)] if owner else []
    return Pod(metadata=Metadata(name=name, namespace=namespace, labels=labels, owner_references=owners))


@pytest.mark.parametrize(
    "wish, changed, woken",
    [
        (Selection(Pod, "ml", (("app", "x"), ("tier", "1"))), pod("a", app="x", tier="1"), True),
        (Selection(Pod, "ml", (("app", "x"), ("tier", "1"))), pod("a", app="x"), False),
        (Selection(Pod, "ml", (("app", "x"),), orphans=True), pod("a", app="x"), True),
        (Selection(Pod, "ml", (("app", "x"),), orphans=True), pod("a", "somebody", app="x"), False),
        (Selection(Pod, "ml", orphans=True), pod("a"), True),
        (Selection(Pod, "ml", orphans=True), pod("a", namespace="other"), False),
        (Selection(Widget, "ml"), pod("a"), False),
    ],
)
def test_a_selection_wakes_for_what_it_takes(wish: Selection, changed: Pod, woken: bool) -> None:
    relations = Relations()
    relations.wants(READER, [wish])

    assert relations.readers(changed) == ({READER} if woken else set())
    relations.wants(READER, ())
    assert relations.readers(changed) == set()


def listed(*pods: Pod) -> dict[Key, Pod | None]:
    return {found.key: found for found in pods}


def test_a_label_is_looked_up_and_follows_every_change() -> None:
    informer = Informer(Client(Access(name="nowhere", server="https://127.0.0.1:1")), Pod)
    informer._become(listed(*(pod(n, app="x") for n in ("a", "b"))))

    def found() -> list[str]:
        return [p.name for p in informer.labelled("ml", (("app", "x"),))]

    assert found() == ["a", "b"]
    informer._become(listed(pod("a", app="y"), pod("b", app="x"), pod("c", app="x")))
    assert found() == ["b", "c"]
    assert informer.labelled("other", (("app", "x"),)) == ()
    assert len(informer.labelled("", (("app", "x"),))) == 3  # no namespace: everything, to be looked through


def test_those_nobody_controls_are_known() -> None:
    informer = Informer(Client(Access(name="nowhere", server="https://127.0.0.1:1")), Pod)
    informer._become(listed(pod("a", "u1"), pod("b")))
    assert [p.name for p in informer.owned("")] == ["b"]

    informer._become(listed(pod("a"), pod("b", "u1")))
    assert [p.name for p in informer.owned("")] == ["a"]

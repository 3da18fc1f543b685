"""What stands in for kube-controller-manager: accounts, tidiness."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import (
    NOW,
    a_pod,
    metadata,
)

from paddlecloud.api.core import (
    ConfigMap,
    Event,
    Namespace,
    ServiceAccount,
)
from paddlecloud.api.meta import Metadata, OwnerReference
from paddlecloud.embedded.workloads import beginnings, collector, housekeeping, mirrorkeeping
from paddlecloud.embedded.workloads.families import Families


def test_every_namespace_gets_an_account_once() -> None:
    spaces = [Namespace(metadata=Metadata(name=n)) for n in ("old", "new")]
    going = Namespace(metadata=Metadata(name="going", deletion_timestamp=NOW))
    accounts = [
        ServiceAccount(metadata=Metadata(name="default", namespace="old")),
        ServiceAccount(metadata=Metadata(name="other", namespace="new")),
    ]

    assert [n.name for n in beginnings.without_account([*spaces, going], accounts)] == ["new"]


@pytest.mark.parametrize(
    "last, born, gone",
    [
        (NOW - timedelta(minutes=59), NOW - timedelta(days=1), False),
        (NOW - timedelta(minutes=61), NOW - timedelta(days=1), True),
        (None, NOW - timedelta(minutes=61), True),
        (NOW - timedelta(days=900), NOW, False),
        (None, NOW, False),
        (None, None, False),
    ],
)
def test_events_live_for_an_hour(last: Any, born: Any, gone: bool) -> None:
    stamp = last.strftime("%Y-%m-%dT%H:%M:%SZ") if last else None
    event = Event(metadata=Metadata(name="e", creation_timestamp=born), last_timestamp=stamp)

    assert bool(housekeeping.expired([event], NOW)) is gone


def owned(name: str, *owners: str, **more: Any) -> Any:
    references = [OwnerReference(uid=f"uid-{o}", block_owner_deletion=True) for o in owners]
    return a_pod(name).but(
        metadata=Metadata.model_validate(metadata(name)).but(owner_references=references, **more)
    )


@pytest.mark.parametrize(
    "objects, gone",
    [
        ([owned("child", "owner")], ["child"]),
        ([owned("child", "owner"), owned("owner")], []),
        ([owned("child", "owner", "other"), owned("other")], []),
        ([owned("child", "owner", deletion_timestamp=NOW)], []),
        ([owned("free")], []),
        ([owned("child", "owner"), owned("owner", deletion_timestamp=NOW)], []),  # not before it is gone
        ([owned("child", "owner"), owned("owner", deletion_timestamp=NOW, finalizers=["foregroundDeletion"])],
         ["child"]),
        ([owned("child", "owner"), owned("owner", deletion_timestamp=NOW, finalizers=["orphan"])], []),
    ],
)  # fmt: skip
def test_what_lost_all_its_owners_goes(objects: list[Any], gone: list[str]) -> None:
    assert [o.name for o in collector.collect(Families(objects), objects).delete] == gone


@pytest.mark.parametrize("seed", range(20))
def test_looking_at_those_whom_changes_concern_finds_what_a_look_at_all_finds(seed: int) -> None:
    chance, families, there = random.Random(seed), Families(), dict[str, Any]()
    told = {"delete": set[str](), "release": set[str](), "disown": set[str]()}
    for _ in range(120):
        name = f"o{chance.randrange(9)}"
        old, new = there.get(name), None
        if old is None or chance.random() < 0.7:
            owners = chance.sample([f"o{n}" for n in range(9) if f"o{n}" != name], chance.randrange(3))
            going = {"deletion_timestamp": NOW} if chance.random() < 0.4 else {}
            new = owned(
                name, *owners, finalizers=chance.choice([[], ["foregroundDeletion"], ["orphan"]]), **going
            )
        there = {n: o for n, o in {**there, name: new}.items() if o is not None}
        families.change(old, new)
        seen = families.concerned()
        found, all_found = (
            collector.collect(families, seen),
            collector.collect(Families(there.values()), there.values()),
        )
        # What is still as it was found before need not be found again.
        for verb, now, whole in (
            ("delete", {o.uid for o in found.delete}, {o.uid for o in all_found.delete}),
            ("release", {o.uid for o, _ in found.release}, {o.uid for o, _ in all_found.release}),
            ("disown", {o.uid for o, _ in found.disown}, {o.uid for o, _ in all_found.disown}),
        ):
            assert now <= whole
            told[verb] = (told[verb] & whole) | now
            assert told[verb] == whole


def test_a_change_concerns_its_family_alone() -> None:
    families = Families([owned("owner"), owned("child", "owner"), owned("stranger")])
    families.concerned()

    assert not families.change(owned("child", "owner"), owned("child", "owner"))
    assert families.change(owned("owner"), None)
    assert [o.name for o in families.concerned()] == ["child"]


@pytest.mark.parametrize(
    "owner, kept",
    [
        (owned("owner"), True),
        (owned("other"), False),
        (owned("owner", deletion_timestamp=NOW, finalizers=["foregroundDeletion"]), False),
        (owned("owner", deletion_timestamp=NOW, finalizers=["orphan"]), True),  # it lets go of them first
    ],
)
def test_an_owner_that_the_server_still_has_keeps_its_children(owner: Any, kept: bool) -> None:
    assert collector.keeps(owner, "uid-owner") is kept


@pytest.mark.parametrize(
    "place, authority, mirrors",
    [
        (("team", "settings"), False, False),
        (("team", "kube-root-ca.crt"), True, False),
        (("paddlecloud", "mirrors"), False, True),
        (("team", "mirrors"), False, False),
    ],
)
def test_of_many_config_maps_few_are_looked_at(
    place: tuple[str, str], authority: bool, mirrors: bool
) -> None:
    found = ConfigMap(metadata=Metadata(namespace=place[0], name=place[1]))

    for change in ((None, found), (found, found), (found, None)):
        assert beginnings.concerns(*change) is authority
        assert mirrorkeeping.concerns(*change) is mirrors


def test_a_namespace_is_always_a_reason_to_look_for_what_it_begins_with() -> None:
    assert beginnings.concerns(None, Namespace(metadata=Metadata(name="team")))

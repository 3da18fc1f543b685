"""The roles in the store, asked: what each process of ours may do, and that no answer is older than a write."""

# ruff: noqa: E501

from __future__ import annotations

import timeit
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from paddlecloud.embedded.server import bootstrap, roles
from paddlecloud.embedded.server.authorization import Authorizer, selected_name
from paddlecloud.embedded.server.objects import Objects
from paddlecloud.embedded.server.rbac import CLUSTER_BINDINGS, CLUSTER_ROLES, GROUP, Attributes
from paddlecloud.embedded.server.users import ANONYMOUS, AUTHENTICATED, User, account_groups
from paddlecloud.embedded.server.writing import WriteOptions
from paddlecloud.embedded.store import Place, Store

LIST_PODS = Attributes("list", "", "pods", "", "default")
STEP = User("system:serviceaccount:default:default", (*account_groups("default"), AUTHENTICATED))


@pytest.fixture
async def objects(tmp_path: Path) -> AsyncIterator[Objects]:
    store = Store(tmp_path / "store.db")
    made = Objects(store, lambda service: None)
    await bootstrap.prepare(made)
    yield made
    await store.close()


def process(name: str) -> User:
    return User(name, (AUTHENTICATED,))


@pytest.mark.parametrize(
    "user, wanted, allowed",
    [
        (process(roles.NODE), Attributes("get", "", "secrets", "", "ml", "key"), True),
        (process(roles.NODE), Attributes("create", "", "serviceaccounts", "token", "ml", "default"), True),
        (process(roles.NODE), Attributes("create", "", "secrets", "", "ml"), False),
        (process(roles.NODE), Attributes("patch", "batch.paddlepaddle.org", "paddlejobs", "", "ml", "x"), False),
        (process(roles.GATEWAY), LIST_PODS, True),
        (process(roles.GATEWAY), Attributes("list", "", "secrets"), False),
        (process(roles.GATEWAY), Attributes("delete", "", "pods", "", "ml", "x"), False),
        (process(roles.CONTROLLERS), Attributes("create", "", "pods", "binding", "ml", "x"), True),
        (process(roles.CONTROLLERS), Attributes("create", "", "secrets", "", "ml"), True),
        (process(roles.CONTROLLERS), Attributes("escalate", GROUP, "clusterroles"), False),
        (process(roles.CONTROLLERS), Attributes("bind", GROUP, "clusterroles", "", "ml", roles.COMPONENT), True),
        (process(roles.CONTROLLERS), Attributes("bind", GROUP, "clusterroles", "", "ml", "cluster-admin"), False),
        (process(roles.CONTROLLERS), Attributes("impersonate", "", "users", name="alice"), False),
        (STEP, Attributes("create", "batch.paddlepaddle.org", "paddlejobs", "", "default"), True),
        (STEP, Attributes("patch", "", "configmaps", "", "default", "report"), True),
        (STEP, Attributes("list", "", "configmaps", "", "default"), False),
        (STEP, Attributes("create", "batch.paddlepaddle.org", "paddlejobs", "", "kubeflow"), False),
        (STEP, Attributes("get", "", "secrets", "", "default", "key"), False),
        (STEP, Attributes("create", "", "pods", "", "default"), False),
        (ANONYMOUS, Attributes("get", path="/version"), False),
        (ANONYMOUS, Attributes("get", path="/api"), False),
    ],
)  # fmt: skip
async def test_everybody_of_ours_may_do_their_work_and_no_more(
    objects: Objects, user: User, wanted: Attributes, allowed: bool
) -> None:
    assert Authorizer(objects.store).allowed(user, wanted) is allowed


@pytest.mark.parametrize("name", ["view", "edit", "admin"])
async def test_the_roles_for_people_cover_our_kinds(objects: Objects, name: str) -> None:
    await bind(objects, name, "alice")
    wanted = Attributes("list", "batch.paddlepaddle.org", "paddlejobs", "", "ml")
    authorizer = Authorizer(objects.store)
    assert authorizer.allowed(process("alice"), wanted)
    assert authorizer.allowed(process("alice"), wanted._replace(verb="create")) is (name != "view")


async def bind(objects: Objects, role: str, user: str) -> None:
    await bootstrap.ensure(objects, roles.cluster_binding(role, "User", user))


async def test_a_grant_and_its_end_act_at_once(objects: Objects) -> None:
    authorizer, alice = Authorizer(objects.store), process("alice")
    assert not authorizer.allowed(alice, LIST_PODS)
    await bind(objects, "view", "alice")
    assert authorizer.allowed(alice, LIST_PODS)
    place = Place(CLUSTER_BINDINGS, "", "view")
    entry = objects.store.get(place)
    assert entry is not None
    await objects.store.delete(place, entry.load(), entry.revision)
    assert not authorizer.allowed(alice, LIST_PODS)


async def test_a_rule_taken_out_of_a_role_is_gone_at_once(objects: Objects) -> None:
    authorizer = Authorizer(objects.store)
    assert authorizer.allowed(process(roles.GATEWAY), LIST_PODS)
    kind = next(k for k in objects.registry.kinds if k.resource == CLUSTER_ROLES)
    place = Place(CLUSTER_ROLES, "", roles.GATEWAY)
    body = objects.get(kind, "", roles.GATEWAY).load() | {"rules": []}
    await objects.update(kind, place, body, WriteOptions())
    assert not authorizer.allowed(process(roles.GATEWAY), LIST_PODS)


async def test_the_next_start_gives_back_what_a_role_lost(objects: Objects) -> None:
    kind = next(k for k in objects.registry.kinds if k.resource == CLUSTER_ROLES)
    place = Place(CLUSTER_ROLES, "", roles.GATEWAY)
    own = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}
    role = objects.get(kind, "", roles.GATEWAY).load()
    given = len(role["rules"])
    await objects.update(kind, place, role | {"rules": [own]}, WriteOptions())
    await bootstrap.prepare(objects)
    kept = objects.get(kind, "", roles.GATEWAY).load()["rules"]
    assert own in kept and len(kept) == given + 1


async def test_an_answer_costs_microseconds(objects: Objects) -> None:
    authorizer, gateway = Authorizer(objects.store), process(roles.GATEWAY)
    best = min(timeit.repeat(lambda: authorizer.allowed(gateway, LIST_PODS), number=1000, repeat=20))
    assert best / 1000 < 20e-6


@pytest.mark.parametrize(
    "selector, name",
    [
        ("metadata.name=x", "x"),
        ("metadata.name==x", "x"),
        ("metadata.namespace=ml,metadata.name=x", "x"),
        ("metadata.name!=x", ""),
        ("", ""),
    ],
)
def test_the_one_object_a_list_is_about(selector: str, name: str) -> None:
    assert selected_name(selector) == name

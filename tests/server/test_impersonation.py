"""Who a client wants to be, read from its headers."""

from __future__ import annotations

import pytest

from paddlecloud.embedded.server.impersonation import asked, impersonated
from paddlecloud.embedded.server.rbac import Attributes
from paddlecloud.errors import ServerError


def test_only_the_headers_about_it_are_read() -> None:
    headers = [(b"Accept", b"*/*"), (b"impersonate-USER", "Zoë".encode()), (b"Impersonate-Group", b"g")]
    assert asked(headers) == [("impersonate-user", "Zoë"), ("impersonate-group", "g")]


def test_nothing_asked_is_nothing_borrowed() -> None:
    assert impersonated([]) is None
    assert impersonated([("impersonate-something", "new")]) is None


@pytest.mark.parametrize("part", ["impersonate-group", "impersonate-uid", "impersonate-extra-scopes"])
def test_a_part_of_an_identity_is_refused(part: str) -> None:
    with pytest.raises(ServerError):
        impersonated([(part, "x")])


def test_everything_that_is_borrowed_is_asked_for() -> None:
    headers = [
        ("impersonate-user", "alice"),
        ("impersonate-group", "devs"),
        ("impersonate-group", "ops"),
        ("impersonate-uid", "7"),
        ("impersonate-extra-acme.com%2fproject", "apollo"),
    ]
    borrowed = impersonated(headers)
    assert borrowed is not None
    user, needed = borrowed
    assert (user.name, user.uid) == ("alice", "7")
    assert user.groups == ("devs", "ops", "system:authenticated")
    assert user.extra == (("acme.com/project", ("apollo",)),)
    assert needed == [
        Attributes("impersonate", "", "users", name="alice"),
        Attributes("impersonate", "", "groups", name="devs"),
        Attributes("impersonate", "", "groups", name="ops"),
        Attributes("impersonate", "authentication.k8s.io", "userextras", "acme.com/project", name="apollo"),
        Attributes("impersonate", "authentication.k8s.io", "uids", name="7"),
    ]


@pytest.mark.parametrize(
    "name, groups",
    [
        ("system:anonymous", ("system:unauthenticated",)),
        (
            "system:serviceaccount:ml:x",
            ("system:serviceaccounts", "system:serviceaccounts:ml", "system:authenticated"),
        ),
        ("system:serviceaccount:ml", ("system:authenticated",)),
        ("system:serviceaccount:ml:x:y", ("system:authenticated",)),
    ],
)
def test_some_names_come_with_groups(name: str, groups: tuple[str, ...]) -> None:
    borrowed = impersonated([("impersonate-user", name)])
    assert borrowed is not None and borrowed[0].groups == groups

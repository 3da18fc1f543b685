"""Identities are of the form clients know, and no two are the same."""

from __future__ import annotations

import uuid

from paddlecloud.embedded.server.uids import PAGE, Uids


def test_an_identity_is_a_random_one_of_the_standard_and_comes_once() -> None:
    uids = Uids()
    drawn = [uids.next() for _ in range(3 * PAGE // 16)]
    assert len(set(drawn)) == len(drawn)
    for text in drawn:
        found = uuid.UUID(text)
        assert (str(found), found.version, found.variant) == (text, 4, uuid.RFC_4122)

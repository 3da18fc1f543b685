"""Where an image comes from, and which may go: pure decisions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.images.making import file, image, put

from paddlecloud.errors import TimedOut
from paddlecloud.images import names, sweeping
from paddlecloud.images.failures import NeverPulled
from paddlecloud.images.garbage import Holdings, Parts, removal, unused
from paddlecloud.images.layers import unpack
from paddlecloud.images.layout import IMPORTED, PULLED, Entry, Store
from paddlecloud.images.manifests import Descriptor
from paddlecloud.images.resolving import (
    FromRegistry,
    FromStore,
    FromSuite,
    Known,
    Policy,
    by_place,
    candidates,
    choose,
    policy_of,
)  # fmt: skip


@dataclass
class Says:
    images: list[str]
    entrypoint: list[str] = field(default_factory=list)
    cmd: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    at: str = "/workspace"


@dataclass
class Suite:
    name: str
    says: Says


def digest(letter: str) -> str:
    return "sha256:" + letter * 64


def entry(name: str, source: str = PULLED, letter: str = "a") -> Entry:
    return Entry(str(names.parse(name)), Descriptor(digest(letter), 1), source)


KNOWN = Known(
    by_place([Suite("web", Says(["nginx", "Bad Name"])), Suite("second", Says(["nginx", "team/tool"]))]),
    (entry("pulled:1"), entry("own:1", IMPORTED, "b"), entry("hub.example.com/app:2", PULLED, "c")),
)


@pytest.mark.parametrize(
    "image, policy, answer",
    [
        ("nginx:1.27", "Always", "suite web"),
        ("docker.io/library/nginx", "Never", "suite web"),
        (f"nginx@{digest('f')}", "IfNotPresent", "suite web"),
        ("team/tool", "Always", "suite second"),
        ("hub.example.com/nginx", "IfNotPresent", "registry"),
        ("pulled:1", "IfNotPresent", "store"),
        ("pulled:1", "Never", "store"),
        ("pulled:1", "Always", "registry, compared with ours"),
        ("own:1", "Always", "store"),
        ("pulled:2", "IfNotPresent", "registry"),
        (f"hub.example.com/app@{digest('c')}", "Always", "store"),
        (f"hub.example.com/app@{digest('d')}", "Always", "registry"),
        (f"hub.example.com/other@{digest('c')}", "IfNotPresent", "registry"),
    ],
)
def test_an_image_comes_from_a_suite_then_the_store_then_its_registry(
    image: str, policy: str, answer: str
) -> None:
    choice = choose(image, Policy(policy), KNOWN)
    if isinstance(choice, FromSuite):
        found = f"suite {choice.suite.name}"
    elif isinstance(choice, FromStore):
        found = "store"
    else:
        assert isinstance(choice, FromRegistry)
        found = "registry, compared with ours" if choice.here else "registry"
    assert found == answer


def test_never_means_that_nobody_is_asked() -> None:
    with pytest.raises(NeverPulled, match="not present with pull policy of Never") as caught:
        choose("pulled:2", Policy.NEVER, KNOWN)
    assert "did you mean pulled:1?" in caught.value.next_step


@pytest.mark.parametrize(
    "image, near",
    [
        ("hub.example.com/nginx:1", "nginx"),
        ("pulled:9", "pulled:1"),
        ("ngnix", "nginx"),
        ("app", "hub.example.com/app:2"),
    ],
)
def test_what_comes_near_is_offered(image: str, near: str) -> None:
    assert near in candidates(names.parse(image), KNOWN)


@pytest.mark.parametrize(
    "image, said, policy",
    [("a", "", "Always"), ("a:latest", "", "Always"), ("a:1", "", "IfNotPresent"), ("a:1", "Never", "Never"),
     (f"a@{digest('a')}", "", "IfNotPresent")],
)  # fmt: skip
def test_without_a_policy_only_the_latest_is_asked_for_again(image: str, said: str, policy: str) -> None:
    assert policy_of(image, said) == policy


@pytest.mark.parametrize(
    "pods, everything, gone",
    [
        ([], False, ["pulled:1", "hub.example.com/app:2"]),
        ([], True, ["pulled:1", "own:1", "hub.example.com/app:2"]),
        (["pulled:1"], False, ["hub.example.com/app:2"]),
        (["docker.io/library/pulled:1", "NOT A NAME"], False, ["hub.example.com/app:2"]),
        ([f"hub.example.com/app@{digest('c')}"], False, ["pulled:1"]),
        (["pulled:2"], False, ["pulled:1", "hub.example.com/app:2"]),
    ],
)
def test_an_image_that_a_pod_names_stays(pods: list[str], everything: bool, gone: list[str]) -> None:
    found = unused(KNOWN.entries, pods, everything=everything)
    assert sorted(found) == sorted(str(names.parse(name)) for name in gone)


def test_a_part_goes_with_the_last_image_that_has_it() -> None:
    one, two = entry("one:1", letter="a"), entry("two:1", letter="b")
    there = Holdings(
        (one, two),
        {
            digest("a"): Parts(frozenset({digest("1"), digest("2")}), frozenset({digest("8")})),
            digest("b"): Parts(frozenset({digest("2"), digest("3")}), frozenset({digest("8"), digest("9")})),
        },
        {digest(letter): 10 for letter in "ab1234"},
        frozenset({digest("8"), digest("9"), digest("7")}),
    )
    going = removal(there, [two.name])
    assert going.blobs == (digest("3"), digest("4"), digest("b"))
    assert going.layers == (digest("7"), digest("9")) and going.size == 30
    assert removal(there, []).blobs == (digest("4"),)


def test_while_an_image_cannot_be_read_no_part_is_taken_from_it() -> None:
    broken, other = entry("broken:1", letter="a"), entry("other:1", letter="b")
    there = Holdings((broken, other), {digest("b"): Parts()}, {digest("1"): 5}, frozenset({digest("9")}))
    assert removal(there, [other.name]).blobs == () == removal(there, [other.name]).layers


def stocked(root: Path) -> tuple[Store, list[str]]:
    """Two images that share a layer, unpacked, and the litter of a crash."""
    store, shared = Store(root), [file("shared", b"s")]
    for number in (1, 2):
        made = image(shared, [file("own", str(number).encode())])
        put(store, made)
        store.tag(names.parse(f"app:{number}"), made.manifest, PULLED)
        for layer, diff_id in zip(made.layers, made.diff_ids, strict=True):
            unpack(store, layer, diff_id)
    (root / "tmp" / "layer-crashed" / "root").mkdir(parents=True)
    return store, [e.name for e in store.entries()]


def test_a_sweep_takes_what_is_not_shared_and_the_litter(tmp_path: Path) -> None:
    store, (one, two) = stocked(tmp_path)
    assert len(list((tmp_path / "layers").iterdir())) == 3
    sweeping.sweep(store, {two})
    assert [e.name for e in store.entries()] == [one]
    assert len(list((tmp_path / "layers").iterdir())) == 2
    assert list((tmp_path / "tmp").iterdir()) == []
    manifest = store.manifest(store.entries()[0].manifest.digest)
    assert all(store.has(blob.digest) for blob in manifest.blobs())
    sweeping.sweep(store, {one})
    assert list((tmp_path / "blobs/sha256").iterdir()) == [] == list((tmp_path / "layers").iterdir())


async def test_nothing_is_swept_while_something_is_added(tmp_path: Path) -> None:
    store, everything = stocked(tmp_path)
    async with store.adding():
        with pytest.raises(TimedOut, match="another process works"):
            sweeping.sweep(store, everything)
    assert len(store.entries()) == 2

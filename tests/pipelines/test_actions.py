"""The four actions of a component, on a server: what each makes, changes, refuses and takes away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paddlecloud.api.meta import Key, Metadata
from paddlecloud.api.sampleset import SampleSet, SampleSetSpec, Source
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.errors import AlreadyExists, NotFound, WrongUse
from paddlecloud.pipelines.actions import carry_out, remove
from paddlecloud.sdk.client import Client


@pytest.fixture
def client(access: Access) -> Iterator[Client]:
    with Client(access) as client:
        yield client


def data(namespace: str, partitions: int, name: str = "set") -> SampleSet:
    return SampleSet(
        metadata=Metadata(name=name, namespace=namespace),
        spec=SampleSetSpec(partitions=partitions, source=Source(uri="file:///data")),
    )


def test_apply_makes_and_changes(client: Client, namespace: str) -> None:
    for partitions in (1, 2):
        carry_out(client, "apply", data(namespace, partitions))
        assert client.get(SampleSet, namespace, "set").spec.partitions == partitions


def test_create_makes_and_leaves_alone_what_is_there(client: Client, namespace: str) -> None:
    carry_out(client, "create", data(namespace, 1))
    with pytest.raises(AlreadyExists, match=f"SampleSet {namespace}/set is there already") as told:
        carry_out(client, "create", data(namespace, 2))

    assert "action=apply" in told.value.next_step
    assert client.get(SampleSet, namespace, "set").spec.partitions == 1


def test_patch_changes_and_makes_nothing(client: Client, namespace: str) -> None:
    with pytest.raises(NotFound, match=f"there is no SampleSet {namespace}/set to patch"):
        carry_out(client, "patch", data(namespace, 2))
    carry_out(client, "create", data(namespace, 1))
    carry_out(client, "patch", data(namespace, 2))

    assert client.get(SampleSet, namespace, "set").spec.partitions == 2


def test_delete_takes_away_and_is_content_with_nothing(
    client: Client, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    remove(client, SampleSet, Key(namespace, "set"))

    assert f"SampleSet {namespace}/set is not there" in capsys.readouterr().out


def test_another_word_is_refused_before_anything_is_made(client: Client, namespace: str) -> None:
    with pytest.raises(WrongUse, match="action 'replace' is none of apply, create, patch, delete"):
        carry_out(client, "replace", data(namespace, 1))

    assert client.list(SampleSet, namespace).items == ()

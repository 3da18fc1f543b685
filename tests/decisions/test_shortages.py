"""What a pod lacks that has no node, in a sentence with the ways out."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Metadata
from paddlecloud.controllers.shortages import without_node

NO_GPU = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
NO_LABEL = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."


def a_pod(name: str, gpus: object = None, **spec: Any) -> Pod:
    limits = {"limits": {"nvidia.com/gpu": gpus}} if gpus is not None else {}
    containers = [{"name": "paddle", "resources": limits}, {"name": "beside"}]
    return Pod(metadata=Metadata(name=name), spec={"containers": containers, **spec})


@pytest.mark.parametrize(
    "pod, message, told",
    [
        (a_pod("a", 1), NO_GPU, ["asks for a GPU", "no node has", "remove the limit", "--pretend-gpus 3"]),
        (a_pod("a", "4"), NO_GPU, ["asks for 4 GPUs", "pdc up --pretend-gpus 6"]),
        (
            a_pod("a", nodeSelector={"b": "c", "accelerator": "p100"}),
            NO_LABEL,
            ["a node with accelerator=p100,b=c", "pdc up --node-label accelerator=p100 --node-label b=c"],
        ),
        (
            a_pod("a", nodeSelector={"b": "c"}),
            NO_LABEL,
            ["kubectl label node NODE b=c", "remove its nodeSelector"],
        ),
        # An affinity is too rich to be told in one sentence.
        (a_pod("a"), NO_LABEL, ["pod a has no node: 0/1 nodes"]),
        (a_pod("a", 1), "0/1 nodes are available: 1 Insufficient cpu.", ["pod a has no node: 0/1 nodes"]),
    ],
)
def test_what_is_missing_and_what_to_do(pod: Pod, message: str, told: list[str]) -> None:
    said = without_node(pod, message, [pod, a_pod("b", 2), a_pod("c"), a_pod("d", "many")])

    assert all(part in said for part in told), said
    # Who knows Kubernetes searches for its words.
    assert message in said and "\n" not in said

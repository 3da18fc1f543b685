"""Which data sets are told to share their files."""

import pytest

from paddlecloud.api.sampleset import SampleSet
from paddlecloud.sdk.datasharing import sharers


def a_set(
    name: str, secret: str = "fs", sub_dir: str = "", engine: str = "juicefs", namespace: str = "default"
) -> SampleSet:
    csi = {"driver": "juicefs", "juiceFSMountOptions": {"sub-dir": sub_dir} if sub_dir else {}}
    spec = {"csi": csi, "secretRef": {"name": secret}} if secret else {"csi": csi}
    metadata = {"name": name, "namespace": namespace}
    return SampleSet.read({"metadata": metadata, "spec": spec, "status": {"engine": engine}})


@pytest.mark.parametrize(
    "one, other, shared",
    [
        (a_set("a"), a_set("b"), True),
        (a_set("a"), a_set("a"), False),
        (a_set("a"), a_set("b", secret="of-its-own"), False),
        (a_set("a", secret=""), a_set("b", secret=""), False),
        (a_set("a"), a_set("b", engine="local"), False),
        (a_set("a"), a_set("b", namespace="other"), False),
        (a_set("a", sub_dir="/a"), a_set("b", sub_dir="/b"), False),
        (a_set("a", sub_dir="/a"), a_set("b", sub_dir="a/"), True),
        (a_set("a", sub_dir="/a"), a_set("b", sub_dir="/a/deeper"), True),
        (a_set("a", sub_dir="/a"), a_set("b", sub_dir="/ab"), False),
        (a_set("a", sub_dir="/a"), a_set("b"), True),
    ],
)
def test_sets_share_what_both_see_of_one_file_system(one: SampleSet, other: SampleSet, shared: bool) -> None:
    assert sharers(one, [one, other]) == (["b"] if shared else [])
    assert sharers(other, [other, one]) == (["a"] if shared else [])

"""Addresses, names and signatures: everything about a source that needs no server."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from paddlecloud.cache.engine import Keys, Unfit
from paddlecloud.cache.paths import covered, exact, inside
from paddlecloud.cache.sources.client import last_words, variables
from paddlecloud.cache.sources.endpoints import place
from paddlecloud.cache.sources.folder import CLAIM, claimed
from paddlecloud.cache.sources.source import Address
from paddlecloud.controllers.dataruntimes import CLAIM_VARIABLE
from paddlecloud.errors import Failed
from paddlecloud.signing import signed


@pytest.mark.parametrize(
    "uri, url, prefix, region",
    [
        ("s3://b/p/q/", "https://b.s3.us-east-1.amazonaws.com", "p/q", "us-east-1"),
        ("s3://b.s3.eu-west-1.amazonaws.com/p", "https://b.s3.eu-west-1.amazonaws.com", "p", "eu-west-1"),
        ("s3://s3.eu-west-1.amazonaws.com/b/p", "https://s3.eu-west-1.amazonaws.com/b", "p", "eu-west-1"),
        ("s3://127.0.0.1:9000/b/p", "http://127.0.0.1:9000/b", "p", "us-east-1"),
        ("s3://localhost/b", "http://localhost/b", "", "us-east-1"),
        ("s3://store.example.com:9000/b/p", "https://store.example.com:9000/b", "p", "us-east-1"),
        ("minio://minio.kubeflow:9000/b/p", "http://minio.kubeflow:9000/b", "p", "us-east-1"),
        ("minio://[::1]:9000/b", "http://[::1]:9000/b", "", "us-east-1"),
        ("bos://b.bj.bcebos.com/p", "https://b.s3.bj.bcebos.com", "p", "bj"),
        ("bos://b.s3.hkg.bcebos.com/p", "https://b.s3.hkg.bcebos.com", "p", "hkg"),
        ("bos://b/p", "https://b.s3.bj.bcebos.com", "p", "bj"),
        (
            "oss://b.oss-cn-hangzhou.aliyuncs.com/p",
            "https://b.s3.oss-cn-hangzhou.aliyuncs.com",
            "p",
            "oss-cn-hangzhou",
        ),
        (
            "cos://b-125.cos.ap-guangzhou.myqcloud.com",
            "https://b-125.cos.ap-guangzhou.myqcloud.com",
            "",
            "ap-guangzhou",
        ),
        (
            "obs://b.obs.cn-north-4.myhuaweicloud.com",
            "https://b.obs.cn-north-4.myhuaweicloud.com",
            "",
            "cn-north-4",
        ),
        ("ks3://b.ks3-cn-beijing.ksyuncs.com/p", "https://b.ks3-cn-beijing.ksyuncs.com", "p", "cn-beijing"),
        (
            "jss://b.s3.cn-north-1.jdcloud-oss.com",
            "https://b.s3.cn-north-1.jdcloud-oss.com",
            "",
            "cn-north-1",
        ),
        ("eos://b.eos.example.cn/p", "https://b.eos.example.cn", "p", "us-east-1"),
        ("gs://b/p", "https://b.storage.googleapis.com", "p", "auto"),
    ],
)
def test_where_a_bucket_is(uri: str, url: str, prefix: str, region: str) -> None:
    found = place(uri)
    assert (found.url, found.prefix, found.region) == (url, prefix, region)
    assert place(uri, no_https=True).url == url.replace("https://", "http://")


@pytest.mark.parametrize(
    "uri", ["s3://127.0.0.1:9000", "minio://host:9000/", "s3:///key", "cos://bucket/p", "obs://b"]
)
def test_an_address_without_bucket_or_host_never_works(uri: str) -> None:
    with pytest.raises(Unfit) as raised:
        place(uri)
    assert raised.value.next_step.startswith("write ")


def test_a_signature_is_the_one_amazon_documents() -> None:
    keys = Keys("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    url = "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J"
    headers = signed("GET", url, keys, "us-east-1", datetime(2013, 5, 24, tzinfo=UTC))
    assert headers["Authorization"].endswith(
        "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    )


@pytest.mark.parametrize(
    "name, expected",
    [
        ("", ""),
        ("/", ""),
        (".", ""),
        ("a//b/", "a/b"),
        ("./a", "a"),
        ("/abs", "abs"),
        ("a..b", "a..b"),
        (" ", " "),
    ],
)
def test_a_path_of_a_user_is_below_the_root(name: str, expected: str) -> None:
    assert inside(name) == expected


@pytest.mark.parametrize("name", ["..", "a/../..", "/..", "../a", "a\0b"])
def test_a_path_that_leaves_the_root_is_refused(name: str) -> None:
    with pytest.raises(Unfit):
        inside(name)


@pytest.mark.parametrize("name", ["", "/a", "a/", "a//b", "./a", "a/../b", "..", "a\0", "x" * 256, "ü" * 128])
def test_a_name_at_the_source_that_is_no_path_is_refused(name: str) -> None:
    with pytest.raises(Unfit):
        exact(name)


@pytest.mark.parametrize(
    "path, roots, expected",
    [("a/b", ["a"], True), ("ab", ["a"], False), ("a", ["a"], True), ("a", [""], True), ("a", [], False)],
)
def test_what_a_root_covers(path: str, roots: list[str], expected: bool) -> None:
    assert covered(path, roots) is expected


def test_an_address_is_shown_without_what_could_be_secret() -> None:
    address = Address("https://user:secret@host:1/a/b?token=secret#secret")
    assert address.shown == "https://host:1/a/b"
    with pytest.raises(Unfit, match="password"):
        address.without_password()
    assert Address("hdfs://root@node:8020/data").without_password()


@pytest.mark.parametrize(
    "scheme, keys, expected",
    [
        ("hdfs", Keys("me", ""), {"HADOOP_USER_NAME": "me"}),
        ("hdfs", None, {}),
        ("ceph", Keys("", ""), {}),
    ],
)
def test_the_juicefs_client_gets_nothing_of_ours_but_what_it_needs(
    scheme: str, keys: Keys | None, expected: dict[str, str]
) -> None:
    given = variables(scheme, keys, {"PATH": "/bin", "OTHER_SECRET": "x", "AWS_ACCESS_KEY_ID": "of somebody"})
    assert given == {"PATH": "/bin", "AWS_EC2_METADATA_DISABLED": "true", **expected}


def test_keys_that_could_only_be_arguments_are_refused() -> None:
    with pytest.raises(Unfit, match="b2://"):
        variables("b2", Keys("a", "s"), {})


def test_what_the_client_says_is_told_without_keys() -> None:
    said = b"<INFO>: x [a@b.go:1]\n2026 juicefs[1] <FATAL>: list b2://acc:sec@x: refused [main@main.go:31]\n"
    assert last_words(said, Keys("acc", "sec")) == "list b2://…:…@x: refused"
    assert "without a word" in last_words(b"", None)


def test_a_claim_is_read_below_where_it_is_mounted(tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "a.txt").write_text("a")
    mounted = {CLAIM: str(tmp_path)}

    assert CLAIM == CLAIM_VARIABLE
    [entry] = claimed(Address("pvc://any/samples"), mounted).entries()
    assert entry.path == "a.txt"
    with pytest.raises(Failed, match="the claim has no folder sample"):
        claimed(Address("pvc://any/sample"), mounted)
    with pytest.raises(Unfit, match="leads out of the claim"):
        claimed(Address("pvc://any/../x"), mounted)
    with pytest.raises(Unfit, match="no claim is mounted here"):
        claimed(Address("pvc://any/samples"), {})

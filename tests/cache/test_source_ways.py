"""Which way every kind of source goes: by its scheme, its engine, and whether it has keys."""

import pytest

from paddlecloud.cache.engine import Keys, SyncWish
from paddlecloud.cache.juicefs.fetching import read_by_us
from paddlecloud.cache.sources.opening import WAYS, Way
from paddlecloud.controllers.dataengines import SCHEMES

BY_S3 = "bos s3 gs oss cos ks3 jss space obs oos scw minio scs ibmcos wasabi mss nos eos speedy"


@pytest.mark.parametrize(
    "schemes, way",
    [
        ("file", Way.FOLDER),
        ("pvc", Way.CLAIM),
        (BY_S3, Way.BUCKET),
        ("http https", Way.WEB),
        ("webdav", Way.WEBDAV),
        ("redis", Way.REDIS),
        ("hdfs wasb ufile qingstor qiniu b2 ceph swift tikv", Way.CLIENT),
    ],
)
def test_who_reads_a_source_for_the_engine_local(schemes: str, way: Way) -> None:
    assert {scheme: WAYS[scheme] for scheme in schemes.split()} == dict.fromkeys(schemes.split(), way)


def test_every_source_that_a_set_may_name_has_a_way() -> None:
    assert set(SCHEMES) <= set(WAYS)
    assert {s for s in SCHEMES if WAYS[s] is Way.BUCKET} == set(BY_S3.split())


@pytest.mark.parametrize(
    "schemes, keys, ours",
    [
        # The client has no such source.
        ("http https pvc", "with and without", True),
        # It takes their keys from variables, or there are none.
        ("s3 minio bos oss cos obs eos", "with and without", False),
        ("webdav redis gs ks3 wasabi hdfs ceph file", "without", False),
        # It would take their keys from its arguments.
        ("webdav redis gs ks3 wasabi", "with", True),
        # Only it reads these; it says itself that the keys cannot be hidden.
        ("b2 swift", "with", False),
    ],
)
def test_what_the_engine_juicefs_has_read_by_us(schemes: str, keys: str, ours: bool) -> None:
    given = (
        [Keys("a", "s")]
        if keys == "with"
        else [None, Keys("", "")]
        if keys == "without"
        else [None, Keys("a", "s")]
    )
    for scheme in schemes.split():
        assert [read_by_us(SyncWish(f"{scheme}://host/x", k)) for k in given] == [ours] * len(given), scheme

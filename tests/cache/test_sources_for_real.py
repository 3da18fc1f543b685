"""Every kind of source against a server nobody here wrote."""

import io
import shutil
import socket
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cache import sources_of_others as others
from tests.cache.runs import Quiet
from tests.cache.sources_of_others import KEYS
from tests.suites.environments import variables

from paddlecloud.cache.engine import Cancelled, Keys, Outcome, SyncWish, Unfit
from paddlecloud.cache.local.engine import LocalEngine
from paddlecloud.cache.local.summing import LARGE
from paddlecloud.cache.sources.buckets import Bucket
from paddlecloud.cache.sources.client import brought, program
from paddlecloud.cache.sources.endpoints import place
from paddlecloud.cache.sources.source import Address
from paddlecloud.errors import Failed

NAMES = {
    "a.txt": b"a",
    "sub/b c.txt": b"bb",
    'sub/deep/it\'s "ü" 数据.txt': b"ccc",
    "sub/50%25 #?*&+~[x];=.txt": b"dddd",
    "big.bin": bytes(range(256)) * 12_000,
}
SIZE = sum(map(len, NAMES.values()))
ODD = "sub/new\nline.txt"
LARGE_FILE = bytes(range(256)) * (LARGE >> 8) + b"and a part that is short"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


@pytest.fixture(scope="module")
def buckets(home: Path) -> Path:
    folder = home / "buckets"
    for name, content in {**NAMES, ODD: b"e"}.items():
        write(folder / "data" / name, content)
    write(folder / "clash" / "a", b"file")
    write(folder / "large" / "big ü.bin", LARGE_FILE)
    (folder / "empty").mkdir()
    return folder


@pytest.fixture(scope="module")
def s3(home: Path, buckets: Path) -> Iterator[str]:
    (home / "s3").mkdir()
    with others.s3(home / "s3", buckets) as host:
        yield host


@pytest.fixture
def engine(tmp_path: Path) -> LocalEngine:
    return LocalEngine(tmp_path / "data", tmp_path / "index", lambda _: KEYS)


def write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def held(engine: LocalEngine) -> dict[str, bytes]:
    return {
        f.relative_to(engine.data).as_posix(): f.read_bytes() for f in engine.data.rglob("*") if f.is_file()
    }


def sync(engine: LocalEngine, uri: str, keys: Keys | None = KEYS, **wish: object) -> Outcome:
    return engine.sync(SyncWish(uri, keys, **wish), Quiet())  # type: ignore[arg-type]


def test_a_bucket_arrives_with_every_name_it_can_have(s3: str, engine: LocalEngine) -> None:
    done = sync(engine, f"s3://{s3}/data", keys_name="mine")
    assert (done.files, done.bytes) == (6, SIZE + 1)
    assert held(engine) == {**NAMES, ODD: b"e"}
    assert sync(engine, f"s3://{s3}/data", keys_name="mine").copied == 0
    engine.clear(["sub"], Quiet())
    assert engine.warm(None, 4, Quiet()).copied == 4 and held(engine) == {**NAMES, ODD: b"e"}


def test_a_large_object_arrives_in_parts(s3: str, engine: LocalEngine) -> None:
    done = sync(engine, f"s3://{s3}/large")
    assert (done.files, done.bytes, done.copied) == (1, len(LARGE_FILE), 1)
    assert (engine.data / "big ü.bin").read_bytes() == LARGE_FILE


def test_a_part_is_only_given_of_the_listed_version(s3: str) -> None:
    bucket = Bucket(place(f"s3://{s3}/large"), KEYS)
    entry = next(bucket.entries())
    room = memoryview(bytearray(100))
    came = [bytes(piece) for piece in bucket.part(entry, 255, 600, room)]
    assert b"".join(came) == LARGE_FILE[255:600] and len(came) == 4
    with pytest.raises(Failed, match=r"big.* was changed at .* while it was read"):
        list(bucket.part(entry._replace(mark="0" * 32), 255, 600, room))


@pytest.mark.parametrize("uri", ["minio://{}/data/sub/", "s3://{}/data/sub"])
def test_a_prefix_is_a_folder(s3: str, engine: LocalEngine, uri: str) -> None:
    sync(engine, uri.format(s3))
    assert "b c.txt" in held(engine) and len(held(engine)) == 4


def test_a_single_object_is_a_file(s3: str, engine: LocalEngine) -> None:
    sync(engine, f"s3://{s3}/data/sub/b c.txt")
    assert held(engine) == {"b c.txt": b"bb"}


@pytest.mark.parametrize(
    "uri, keys, sentence",
    [
        ("s3://{}/none", KEYS, "has no bucket none"),
        (
            "s3://{}/data",
            Keys("admin", "wrong"),
            "refuses the bucket data with these keys: SignatureDoesNotMatch",
        ),
        ("s3://{}/data", Keys("nobody", "x"), "refuses the bucket data with these keys: InvalidAccessKeyId"),
        ("s3://{}/data", None, "refuses the bucket data without keys: AccessDenied"),
        ("s3://{}/data/nothing/here", KEYS, "has no files"),
        ("s3://{}/empty", KEYS, "has no files"),
        ("s3://127.0.0.1:1/data", KEYS, "127.0.0.1:1 cannot be reached: Connection refused"),
    ],
)
def test_what_is_wrong_with_a_bucket_is_a_sentence_and_may_heal(
    s3: str, engine: LocalEngine, uri: str, keys: Keys | None, sentence: str
) -> None:
    with pytest.raises(Failed, match=sentence) as raised:
        sync(engine, uri.format(s3), keys)
    assert type(raised.value) is Failed and raised.value.next_step
    assert "wrong" not in str(raised.value) and "password" not in str(raised.value)


@pytest.mark.parametrize("uri", ["s3://{}/data", "bos://data.bj.bcebos.com"])
def test_a_bucket_is_read_through_the_compiled_client_in_its_suite(s3: str, tmp_path: Path, uri: str) -> None:
    lines = [
        "import sys; from pathlib import Path",
        "from paddlecloud.cache.sources import buckets",
        "from paddlecloud.cache.engine import Keys, SyncWish",
        "from paddlecloud.cache.local.engine import LocalEngine",
        "class Quiet: report = check = lambda self, *_: None",
        "assert buckets.obstore is not None",
        "root = Path(sys.argv[2]); engine = LocalEngine(root / 'data', root / 'index')",
        "keys = Keys(*sys.stdin.read().split())",
        "print(engine.sync(SyncWish(sys.argv[1], keys, no_https=True), Quiet()).files)",
    ]
    # As above the gateway is a proxy for the host of the bucket, and checks who signed for that host.
    environment = {**variables("data"), "http_proxy": f"http://{s3}", "no_proxy": "127.0.0.1"}
    done = subprocess.run(
        [
            environment["PATH"].partition(":")[0] + "/python",
            "-c",
            "\n".join(lines),
            uri.format(s3),
            str(tmp_path),
        ],
        env=environment,
        input=f"{KEYS.access} {KEYS.secret}",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("6\n", "")
    assert held(LocalEngine(tmp_path / "data", tmp_path / "index")) == {**NAMES, ODD: b"e"}


def test_a_baidu_bucket_is_asked_for_in_the_host_and_signed_for_it(
    s3: str, engine: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The gateway stands in as a proxy that every host is reached by, and checks the signature of that host.
    monkeypatch.setenv("http_proxy", f"http://{s3}")
    assert sync(engine, "bos://data.bj.bcebos.com/sub", no_https=True).files == 4
    with pytest.raises(Failed, match=r"data\.s3\.bj\.bcebos\.com refuses the bucket data with these keys"):
        sync(engine, "bos://data.bj.bcebos.com/sub", Keys("admin", "wrong"), no_https=True)
    with pytest.raises(Failed, match=r"s3\.bj\.bcebos\.com has no bucket none"):
        sync(engine, "bos://none.bj.bcebos.com/sub", no_https=True)


def test_webdav(home: Path, buckets: Path, engine: LocalEngine) -> None:
    (home / "webdav").mkdir()
    shutil.copytree(buckets / "data", home / "dav" / "set one")
    with others.webdav(home / "webdav", home / "dav") as host:
        assert sync(engine, f"webdav://{host}/set%20one").files == 6
        assert held(engine) == {**NAMES, ODD: b"e"}
        assert sync(engine, f"webdav://{host}/set%20one").copied == 0
        with pytest.raises(Failed, match="refuses / with these keys"):
            sync(engine, f"webdav://{host}/", Keys("admin", "wrong"))
        with pytest.raises(Failed, match=r"has no /none"):
            sync(engine, f"webdav://{host}/none")
    with pytest.raises(Failed, match="cannot be reached"):
        sync(engine, f"webdav://{host}/set%20one")


def test_redis(home: Path, engine: LocalEngine) -> None:
    (home / "redis").mkdir()
    keys = Keys("", "pass-word")
    with others.redis(home / "redis", keys.secret) as host:
        for name, content in {**NAMES, ODD: b"e"}.items():
            write_key(host, keys, name, content)
        command(host, keys, b"RPUSH", b"a list", b"x")
        command(host, keys, b"SET", b"set*/k", b"v", database=b"1")
        command(host, keys, b"SET", b"setx/k", b"v", database=b"1")
        assert sync(engine, f"redis://{host}", keys).files == 6
        assert held(engine) == {**NAMES, ODD: b"e"}
        assert sync(engine, f"redis://{host}/1/set*", keys, destination="one").files == 1
        with pytest.raises(Failed, match="refuses these keys: NOAUTH"):
            sync(engine, f"redis://{host}", None)
        with pytest.raises(Failed, match="refuses these keys: WRONGPASS"):
            sync(engine, f"redis://{host}", Keys("", "other"))
    with pytest.raises(Failed, match="cannot be reached: Connection refused"):
        sync(engine, f"redis://{host}", keys)


def test_what_the_juicefs_client_brings_is_a_source(
    buckets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{others.binaries()}:/usr/bin:/bin")
    folder = brought(Address((buckets / "data").as_uri()), tmp_path / "scratch", lambda: None)
    found = {entry.path: entry for entry in folder.entries()}
    assert {path: b"".join(folder.chunks(entry)) for path, entry in found.items()} == {**NAMES, ODD: b"e"}
    # With the times of the source: the next sync knows the files again.
    assert found["a.txt"].time_ns == (buckets / "data" / "a.txt").stat().st_mtime_ns


def test_the_juicefs_client_ends_when_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{others.binaries()}:/usr/bin:/bin")

    def end() -> None:
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        brought(Address("webdav://127.0.0.1:1/x"), tmp_path / "scratch", end)
    with pytest.raises(Failed, match=r"webdav://127\.0\.0\.1:1/x cannot be read: .*refused"):
        brought(Address("webdav://127.0.0.1:1/x"), tmp_path / "again", lambda: None)


def command(host: str, keys: Keys, *words: bytes, database: bytes = b"0") -> None:
    name, _, port = host.partition(":")
    opening = [(b"AUTH", keys.secret.encode())] if keys.secret else []
    lines = [*opening, (b"SELECT", database), words]
    with socket.create_connection((name, int(port)), timeout=5) as connection:
        for line in lines:
            connection.sendall(
                b"*%d\r\n" % len(line) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in line)
            )
            assert connection.recv(100)[:1] in b"+:", line


def write_key(host: str, keys: Keys, name: str, content: bytes) -> None:
    command(host, keys, b"SET", name.encode(), content)


def test_a_file_behind_http(tmp_path: Path, engine: LocalEngine) -> None:
    write(tmp_path / "www" / "my data.bin", b"12345")
    with others.http(tmp_path / "www") as at:
        assert sync(engine, f"{at}/my%20data.bin", None).bytes == 5
        assert sync(engine, f"{at}/my%20data.bin", None).copied == 0
        with pytest.raises(Failed, match=r"has no /none\.bin"):
            sync(engine, f"{at}/none.bin", None)
    assert held(engine) == {"my data.bin": b"12345"}


def test_a_folder_behind_http_is_listed(tmp_path: Path, engine: LocalEngine) -> None:
    files = {"a.txt": b"a", "sub/b ü & 'c'.txt": b"bb", "sub/deep/100% #1?.bin": b"ccc", "empty.bin": b""}
    for name, content in files.items():
        write(tmp_path / "www" / "my set" / name, content)
    write(tmp_path / "www" / "beside.txt", b"not of the set")
    with others.http(tmp_path / "www") as at:
        done = sync(engine, f"{at}/my%20set/", None)
        assert (done.files, done.bytes) == (4, 6)
        assert sync(engine, f"{at}/my%20set/", None).copied == 0
        with pytest.raises(Unfit, match="is a folder") as told:
            sync(engine, f"{at}/my%20set", None)
        assert told.value.next_step == "write it with a slash at the end"
        with pytest.raises(Failed, match=r"has no /none/ \(404\)"):
            sync(engine, f"{at}/none/", None)
        (tmp_path / "www" / "bare").mkdir()
        with pytest.raises(Failed, match="has no files"):
            sync(engine, f"{at}/bare/", None)
    assert held(engine) == files


def test_a_folder_that_leads_back_to_itself_is_told(tmp_path: Path, engine: LocalEngine) -> None:
    write(tmp_path / "www" / "set" / "a.txt", b"a")
    (tmp_path / "www" / "set" / "round").symlink_to("../set")
    with others.http(tmp_path / "www") as at, pytest.raises(Failed, match="more than 32 deep"):
        sync(engine, f"{at}/set/", None)


@pytest.mark.parametrize("name", ["set.tar", "set.tar.gz", "set.tgz", "set.zip"])
def test_an_archive_behind_http_is_unpacked(tmp_path: Path, engine: LocalEngine, name: str) -> None:
    (tmp_path / "www").mkdir()
    pack(tmp_path / "www" / name, {"one/a.txt": b"a", "one/b ü.txt": b"bb"})
    with others.http(tmp_path / "www") as at:
        assert sync(engine, f"{at}/{name}", None).files == 2
        assert sync(engine, f"{at}/{name}", None).copied == 0
    assert held(engine) == {"one/a.txt": b"a", "one/b ü.txt": b"bb"}
    assert not (engine.own / "scratch").exists()


def pack(file: Path, content: dict[str, bytes]) -> None:
    if file.suffix == ".zip":
        with zipfile.ZipFile(file, "w") as packed:
            for name, data in content.items():
                packed.writestr(name, data)
        return
    with tarfile.open(file, "w" if file.suffix == ".tar" else "w:gz") as tar:
        for name, data in content.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(data), 1_700_000_000
            tar.addfile(member, io.BytesIO(data))


def test_a_scheme_of_the_juicefs_client_without_it_is_a_sentence(
    engine: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Unfit, match="JuiceFS client, which is not installed"):
        program()
    with pytest.raises(Unfit, match="JuiceFS client"):
        sync(engine, "hdfs://127.0.0.1:1/data", None)

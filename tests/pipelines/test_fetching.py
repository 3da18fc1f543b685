"""What importers bring from servers and buckets: whole, and without a word about the keys."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.cache.sources_of_others import KEYS as OWNER
from tests.cache.sources_of_others import s3

from paddlecloud.errors import PaddleCloudError
from paddlecloud.models.bucketstore import Bucket, BucketStore
from paddlecloud.models.opening import ACCESS, SECRET
from paddlecloud.pipelines.fetching import fetch

KEYS = {ACCESS: OWNER.access, SECRET: OWNER.secret}


class Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        wanted = "Basic " + base64.b64encode(b"me:word").decode()
        known = self.headers["Authorization"] == wanted or self.path == "/open?signature=s"
        code = 404 if self.path.startswith("/none") else 200 if known else 403
        self.send_response(code)
        self.end_headers()
        self.wfile.write(b"content")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("address", ["http://me:word@HOST/words.txt", "http://HOST/open?signature=s"])
def test_a_file_of_a_server_is_brought_with_what_lets_us_in(tmp_path: Path, address: str) -> None:
    with served() as host:
        size = fetch(address.replace("HOST", host), tmp_path / "in" / "it", {})

    assert (size, (tmp_path / "in" / "it").read_bytes()) == (7, b"content")
    assert [p.name for p in (tmp_path / "in").iterdir()] == ["it"]


@pytest.mark.parametrize(
    "address, said",
    [
        ("http://me:no@HOST/words.txt?key=secret", "/words.txt was answered with 403"),
        ("http://me:word@HOST/none?key=secret", "/none was answered with 404"),
        ("http://me:word@127.0.0.1:1/none?key=secret", "cannot be reached"),
    ],
)
def test_what_does_not_come_is_told_without_the_key_and_leaves_nothing(
    tmp_path: Path, address: str, said: str
) -> None:
    with served() as host, pytest.raises(PaddleCloudError) as refused:
        fetch(address.replace("HOST", host), tmp_path / "it", {})

    assert said in str(refused.value)
    assert "secret" not in str(refused.value) and "me:" not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_objects_of_a_bucket_are_a_file_or_a_folder(tmp_path: Path) -> None:
    (tmp_path / "buckets").mkdir()
    file = tmp_path / "file"
    file.write_bytes(b"words")
    with s3(tmp_path, tmp_path / "buckets") as host:
        store = BucketStore(Bucket(f"http://{host}", "data", "", "us-east-1"), OWNER)
        for key in ("set/a.txt", "set/more/b.txt", "settled.txt"):
            store.place(key, file)
        where = f"?endpoint=http://{host}"
        fetch(f"s3://data/set/a.txt{where}", tmp_path / "one", KEYS)
        fetch(f"minio://data/set{where}", tmp_path / "all", KEYS)
        with pytest.raises(PaddleCloudError, match="there is nothing at s3://data/nothing"):
            fetch(f"s3://data/nothing{where}", tmp_path / "none", KEYS)

    assert (tmp_path / "one").read_bytes() == b"words"
    found = sorted(str(p.relative_to(tmp_path / "all")) for p in (tmp_path / "all").rglob("*.txt"))
    assert found == ["a.txt", "more/b.txt"]

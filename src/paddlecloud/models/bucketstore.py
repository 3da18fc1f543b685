"""A store in a bucket of S3.

An object of S3 appears whole or not at all, and the digest of what is sent is signed with it, so that the
server takes no other content. Large files go in parts; an upload that was cut off goes on with those that
arrived. Two writers of one document are kept apart by whoever gave them its name, since not every server
knows conditional writes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple
from xml.etree import ElementTree

from ..errors import Conflict, Failed, NotFound
from ..signing import Keys, path, quoted
from .keys import blob_key
from .objects import Blob, Item, Moved, digest
from .s3requests import Answer, Body, Dial, Requests

PART = 16 << 20
"""Bytes of a part; what is smaller goes in one piece. Ten thousand parts are the most S3 takes."""
MOST_PARTS = 10_000


class Bucket(NamedTuple):
    endpoint: str
    name: str
    prefix: str
    region: str


class BucketStore:
    def __init__(self, bucket: Bucket, keys: Keys | None, dial: Dial | None = None) -> None:
        self.bucket = bucket
        self._requests = Requests(bucket.endpoint, bucket.region, keys, dial=dial)
        self._root = f"{bucket.prefix}/" if bucket.prefix else ""

    def __str__(self) -> str:
        return f"s3://{self.bucket.name}/{self.bucket.prefix}"

    def put(self, source: Path, moved: Moved) -> Blob:
        try:
            with source.open("rb") as file:
                seen = digest(file)
            if self._size(blob_key(seen.sha256)) == seen.size:
                moved(seen.size)
                return seen
            self._send(blob_key(seen.sha256), source, seen, moved)
        except OSError as error:
            raise Failed(f"{source} cannot be read: {error.strerror}") from error
        return seen

    def place(self, key: str, source: Path) -> str:
        """Keep a file under a name of somebody else's choice, instead of what was there; gives its URL."""
        try:
            with source.open("rb") as file:
                seen = digest(file)
            self._send(key, source, seen, lambda _: None)
        except OSError as error:
            raise Failed(f"{source} cannot be read: {error.strerror}") from error
        return self._url(key)

    def open_to_all(self, pattern: str) -> None:
        """Let anybody read what is kept under keys of this pattern, as programs without keys do."""
        resource = f"arn:aws:s3:::{self.bucket.name}/{self._root}{pattern}"
        rule = {
            "Effect": "Allow",
            "Principal": {"AWS": ["*"]},
            "Action": ["s3:GetObject"],
            "Resource": [resource],
        }
        content = json.dumps({"Version": "2012-10-17", "Statement": [rule]}).encode()
        body = Body(content, hashlib.sha256(content).hexdigest())
        self._good(self._requests.ask("PUT", f"{self._url_of_bucket()}/?policy=", body))

    def has(self, sha256: str) -> bool:
        return self._size(blob_key(sha256)) is not None

    def open(self, sha256: str) -> BinaryIO:
        found = self._requests.stream(self._url(blob_key(sha256)))
        if found is None:
            raise NotFound(f"the store {self} has no file {sha256}")
        return found

    def object(self, key: str) -> BinaryIO | None:
        """The bytes under a key of somebody else's choice; None where there is nothing."""
        return self._requests.stream(self._url(key)) if key else None

    def local(self, sha256: str) -> Path | None:
        return None

    def write(self, key: str, content: bytes) -> None:
        try:
            if self.read(key) != content:
                raise Conflict(f"{key} is in the store {self} with other content")
        except NotFound:
            self._put(key, content)

    def read(self, key: str) -> bytes:
        answer = self._requests.ask("GET", self._url(key))
        if answer.status == 404:
            raise NotFound(f"the store {self} has no {key}")
        return self._good(answer).body

    def items(self, prefix: str) -> Iterator[Item]:
        token = ""
        while True:
            wish = f"list-type=2&prefix={quoted(self._root + prefix)}"
            more = f"&continuation-token={quoted(token)}" if token else ""
            answer = self._requests.ask("GET", f"{self._url_of_bucket()}/?{wish}{more}")
            if answer.code == "NoSuchBucket":
                return
            page = self._good(answer).xml()
            for item in page.iterfind("Contents"):
                key = item.findtext("Key", "").removeprefix(self._root)
                yield Item(key, int(item.findtext("Size", "0")), time_of(item))
            token = page.findtext("NextContinuationToken", "")
            if page.findtext("IsTruncated") != "true" or not token:
                return

    def remove(self, key: str) -> None:
        answer = self._requests.ask("DELETE", self._url(key))
        if answer.status != 404:
            self._good(answer)

    def _put(self, key: str, content: bytes) -> None:
        body = Body(content, hashlib.sha256(content).hexdigest())
        answer = self._requests.ask("PUT", self._url(key), body)
        if answer.code == "NoSuchBucket":
            self._make_bucket()
            answer = self._requests.ask("PUT", self._url(key), body)
        self._good(answer)

    def _send(self, key: str, source: Path, seen: Blob, moved: Moved) -> None:
        with source.open("rb") as file:
            if seen.size > PART:
                self._put_parts(key, file, seen, moved)
                return
            content = file.read()
        unchanged(Blob(hashlib.sha256(content).hexdigest(), len(content)), seen)
        self._put(key, content)
        moved(seen.size)

    def _put_parts(self, key: str, file: BinaryIO, expected: Blob, moved: Moved) -> None:
        url = self._url(key)
        size = max(PART, -(-expected.size // MOST_PARTS))
        upload, there = self._begun(key, url)
        whole, count = hashlib.sha256(), 0
        sent: list[str] = []
        while content := file.read(size):
            number = len(sent) + 1
            whole.update(content)
            count += len(content)
            mark = hashlib.md5(content, usedforsecurity=False).hexdigest()
            if there.get(number) != mark:
                place = f"{url}?partNumber={number}&uploadId={quoted(upload)}"
                body = Body(content, hashlib.sha256(content).hexdigest())
                mark = self._good(self._requests.ask("PUT", place, body)).headers.get("etag", mark).strip('"')
            sent.append(mark)
            moved(len(content))
        unchanged(Blob(whole.hexdigest(), count), expected)
        self._good(self._requests.ask("POST", f"{url}?uploadId={quoted(upload)}", completion(sent)))

    def _begun(self, key: str, url: str) -> tuple[str, dict[int, str]]:
        """An upload of *key* that was cut off, with the parts that arrived, else a new one."""
        listing = self._requests.ask(
            "GET", f"{self._url_of_bucket()}/?prefix={quoted(self._root + key)}&uploads="
        )
        if listing.status == 200:
            for found in listing.xml().iterfind("Upload"):
                upload = found.findtext("UploadId", "")
                if found.findtext("Key") == self._root + key and upload:
                    parts = self._requests.ask("GET", f"{url}?uploadId={quoted(upload)}")
                    if parts.status == 200:
                        return upload, {
                            int(p.findtext("PartNumber", "0")): p.findtext("ETag", "").strip('"')
                            for p in parts.xml().iterfind("Part")
                        }
        answer = self._requests.ask("POST", f"{url}?uploads=")
        if answer.code == "NoSuchBucket":
            self._make_bucket()
            answer = self._requests.ask("POST", f"{url}?uploads=")
        return self._good(answer).xml().findtext("UploadId", ""), {}

    def _make_bucket(self) -> None:
        answer = self._requests.ask("PUT", self._url_of_bucket())
        if answer.code not in ("BucketAlreadyOwnedByYou", "BucketAlreadyExists"):
            self._good(answer)

    def _size(self, key: str) -> int | None:
        answer = self._requests.ask("HEAD", self._url(key))
        if answer.status == 404:
            return None
        return int(self._good(answer).headers.get("content-length", "-1"))

    def _url_of_bucket(self) -> str:
        return f"{self.bucket.endpoint}/{path(self.bucket.name)}"

    def _url(self, key: str) -> str:
        return f"{self._url_of_bucket()}/{path(self._root + key)}"

    def _good(self, answer: Answer) -> Answer:
        if answer.status in (200, 204):
            return answer
        if answer.status in (401, 403):
            said = answer.code or str(answer.status)
            raise Failed(
                f"the model store at {self.bucket.endpoint} refuses these keys ({said})",
                next_step="check access-key and secret-key in the Secret of the store",
            )
        said = answer.code or str(answer.status)
        raise Failed(f"the model store at {self.bucket.endpoint} answers {said} for {self}")


def unchanged(now: Blob, before: Blob) -> None:
    if now != before:
        raise Failed("a file changed during the upload", next_step="upload when nobody writes to it")


def completion(marks: list[str]) -> Body:
    root = ElementTree.Element("CompleteMultipartUpload")
    for number, mark in enumerate(marks, start=1):
        part = ElementTree.SubElement(root, "Part")
        ElementTree.SubElement(part, "PartNumber").text = str(number)
        ElementTree.SubElement(part, "ETag").text = f'"{mark}"'
    content = ElementTree.tostring(root)
    return Body(content, hashlib.sha256(content).hexdigest())


def time_of(item: ElementTree.Element) -> datetime:
    try:
        return datetime.fromisoformat(item.findtext("LastModified", ""))
    except ValueError:
        return datetime.now(UTC)

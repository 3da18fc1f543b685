"""A version as one archive in a bucket, at the path where the components of Paddle's pipelines look for it.

    <endpoint>/model-center/<model>/<version>/<model>.tar.gz   with   <model>/server/  and  <model>/client/

The same files give the same archive. It may be read without keys, as those components do, and nothing else of
the bucket may.
"""

from __future__ import annotations

import gzip
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from ..api.model import ModelVersion
from ..errors import WrongUse
from ..models.bucketstore import BucketStore
from ..models.folder import entries
from ..models.manifest import named
from ..models.opening import store_at
from ..serving.convert import chosen
from ..serving.layout import Target, write
from ..serving.programs import signature_of
from .client import Client
from .modelformats import PADDLE, SERVING
from .modelstore import endpoint_way, keys_of
from .pushing import pull_version
from .serviceways import Dial

ENDPOINT, BUCKET = "http://minio-service.kubeflow:9000", "model-center"
KEYS = "kubeflow/model-store"


class Place(NamedTuple):
    endpoint: str
    secret: str
    """Namespace and name of the Secret with its keys."""


class Archive(NamedTuple):
    model: str
    label: str
    """The version, as whoever asks for it calls it."""
    file: Path


def publish_version(client: Client, version: ModelVersion, label: str, place: Place) -> str:
    """Put the archive of *version* under the name *label*, and give the address it is read at."""
    namespace, slash, secret = place.secret.partition("/")
    if not slash:
        raise WrongUse(f"{place.secret!r} names no Secret", next_step="write NAMESPACE/NAME")
    keys = keys_of(client, namespace, secret)
    model = version.spec.model
    with tempfile.TemporaryDirectory() as folder:
        pulled, laid = Path(folder) / "pulled", Path(folder) / "laid"
        pull_version(client, version, pulled)
        lay_out(version, pulled, laid)
        archive = Path(folder) / f"{model}.tar.gz"
        pack(laid, model, archive)
        return place_archive(
            Archive(model, label, archive), place.endpoint, keys, lambda uri: endpoint_way(client, uri)
        )


def place_archive(
    archive: Archive,
    endpoint: str,
    keys: Mapping[str, str],
    way: Callable[[str], Dial | None] = lambda uri: None,
) -> str:
    """Put a file where anybody reads it, and give the address; *way* says how to call the store from here."""
    key = f"{named(archive.model)}/{named(archive.label)}/{archive.file.name}"
    uri = f"s3://{BUCKET}?endpoint={endpoint}"
    store = store_at(uri, keys, way(uri))
    assert isinstance(store, BucketStore), "the URI says so"
    store.place(key, archive.file)
    store.open_to_all("*.tar.gz")
    return f"{endpoint.rstrip('/')}/{BUCKET}/{key}"


def lay_out(version: ModelVersion, source: Path, to: Path) -> None:
    """As Paddle Serving has it: a folder for the server, one for its clients."""
    if version.spec.format == PADDLE:
        files = chosen(source, None, None)
        write(files, signature_of(files.program), Target(to / "server", to / "client"))
    elif version.spec.format == SERVING:
        to.mkdir()
        for side in ("server", "client"):
            found = next((p for p in (source / f"serving_{side}", source / side) if p.is_dir()), None)
            if found:
                found.rename(to / side)
    else:
        raise WrongUse(
            f"{version.name} is of format {version.spec.format}: Paddle Serving does not serve it",
            next_step=f"publish a version of format {PADDLE} or {SERVING}",
        )


def pack(folder: Path, name: str, archive: Path) -> None:
    """Without times and owners, so that equal files give equal bytes."""
    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for entry in entries(folder):
            info = tarfile.TarInfo(f"{name}/{entry.path}")
            info.size, info.mode = entry.size, 0o644
            with entry.at.open("rb") as content:
                tar.addfile(info, content)
